// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * One end of what is measured, in a process of its own. It owns what it opens. An end that fails need not be closed:
 * its process is ended.
 */
public abstract class End {
    /** What this end does. */
    protected final Load load;
    /** Whether this end connects and measures. */
    protected final boolean client;
    private final Deque<AutoCloseable> owned = new ArrayDeque<>();

    /** Creates an end. */
    protected End(Load load, boolean client) {
        this.load = load;
        this.client = client;
    }

    /** Opens an end; sent from process to process. */
    @FunctionalInterface
    public interface Opener extends Serializable {
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
    public record Load(int size, int warmUp, int iterations) implements Serializable {
        /** {@return how many operations there are, with those that do not count} */
        public int total() {
            return warmUp + iterations;
        }
    }

    /** {@return something that is closed with this end, before what it has owned longer} */
    protected final <T extends AutoCloseable> T own(T resource) {
        owned.push(resource);
        return resource;
    }

    /** {@return what the other end needs in order to connect; null for nothing} */
    public abstract Serializable address() throws Exception;

    /**
     * Connects to the other end, which does the same at the same time.
     *
     * @param peer the address of the other end
     */
    public abstract void connect(Serializable peer) throws Exception;

    /** {@return what this end has measured; null for nothing} */
    public abstract Outcome run() throws Exception;

    /** Closes what this end owns. */
    public final void close() throws Exception {
        while (!owned.isEmpty()) {
            owned.pop().close();
        }
    }
}
