// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.io.IOException;

/** One end of messages over something else than this library, such as TCP. For one thread. */
public interface MessageEnd extends AutoCloseable {
    /** {@return what the other end needs in order to connect} */
    byte[] address() throws IOException;

    /**
     * Connects to the other end, which does the same at the same time. Returns when messages can be sent in both
     * directions.
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
     * Waits for messages, and posts another receive for each where receives are posted.
     *
     * @param count how many
     * @param bytes the size of each
     */
    void receive(int count, int bytes) throws IOException;

    @Override
    void close() throws IOException;
}
