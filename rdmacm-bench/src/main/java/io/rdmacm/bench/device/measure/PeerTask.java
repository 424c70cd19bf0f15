// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.io.IOException;

/** One end of a measurement inside a {@link io.rdmacm.bench.device.Peer}. */
public interface PeerTask extends AutoCloseable {
    /** The answer of a server that has done its part. */
    String DONE = "done";

    /** {@return what the other end needs in order to connect} */
    String address() throws IOException;

    /**
     * Connects to the other end, which does the same at the same time.
     *
     * @param peer the address of the other end
     */
    void connect(String peer) throws IOException, InterruptedException;

    /** {@return the outcome of this end as a line, {@value #DONE} if it has none} */
    String run() throws IOException, InterruptedException;

    /** {@return the bytes that the working thread allocated for each operation of the last run; negative if unknown} */
    double allocated();

    @Override
    void close() throws IOException;
}
