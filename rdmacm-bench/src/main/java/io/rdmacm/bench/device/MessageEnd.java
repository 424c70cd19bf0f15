// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

/** One end of messages over another library, in a class that is compiled against it. For one thread. */
public interface MessageEnd extends AutoCloseable {
    /** {@return what the other end needs in order to connect} */
    byte[] address() throws IOException;

    /**
     * Connects to the other end, which does the same at the same time, and posts receives. Returns when messages can
     * be sent in both directions.
     *
     * @param peer the address of the other end
     */
    void connect(byte[] peer) throws IOException;

    /**
     * Sends messages, several at a time, and waits until all have been sent.
     *
     * @param count how many
     * @param bytes the size of each
     */
    void send(int count, int bytes) throws IOException;

    /**
     * Waits for messages, and posts another receive for each.
     *
     * @param count how many
     */
    void receive(int count) throws IOException;

    @Override
    void close() throws IOException;
}
