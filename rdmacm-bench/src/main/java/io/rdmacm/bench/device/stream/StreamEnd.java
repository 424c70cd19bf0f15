// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;

import io.rdmacm.bench.device.measure.Allocation;

/** One end of a stream of bytes that is measured. */
public interface StreamEnd extends AutoCloseable {
    /** {@return what the other end needs in order to connect} */
    byte[] address() throws IOException;

    /**
     * Connects to the other end, which does the same at the same time.
     *
     * @param peer the address of the other end
     */
    void connect(byte[] peer) throws IOException;

    /**
     * Sends some messages and then receives as many, or on a server the other way round, again and again.
     *
     * @param times how often
     * @param count how many messages in each direction
     * @param size the size of each in bytes
     * @param allocation counts what the thread at work allocates for each message
     */
    void exchange(int times, int count, int size, Allocation allocation) throws IOException;

    @Override
    void close() throws IOException;
}
