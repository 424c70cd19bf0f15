// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.io.IOException;
import java.io.Serializable;

/** One end of what is measured, in a process of its own. */
public interface End extends AutoCloseable {
    /** Opens an end; sent from process to process. */
    @FunctionalInterface
    interface Opener extends Serializable {
        /**
         * {@return an end}
         *
         * @param load what it will do
         * @param client whether it connects and measures
         */
        End open(Load load, boolean client) throws Exception;
    }

    /**
     * What an end does.
     *
     * @param size the bytes of each operation
     * @param warmUp how many operations precede those that count
     * @param iterations how many operations count
     */
    record Load(int size, int warmUp, int iterations) implements Serializable {
        /** {@return how many operations there are, with those that do not count} */
        public int total() {
            return warmUp + iterations;
        }
    }

    /** {@return what the other end needs in order to connect; null for nothing} */
    Serializable address() throws Exception;

    /**
     * Connects to the other end, which does the same at the same time.
     *
     * @param peer the address of the other end
     */
    void connect(Serializable peer) throws Exception;

    /** {@return what this end has measured; null for nothing} */
    Outcome run() throws Exception;

    @Override
    void close() throws IOException;
}
