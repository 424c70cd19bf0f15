// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.nio.ByteBuffer;

/** One end of a connection, over RDMA or over TCP. For one thread. */
interface StreamEnd extends AutoCloseable {
    /** Sends the rest of a buffer. */
    void send(ByteBuffer data) throws IOException, InterruptedException;

    /** Receives until a buffer is full. */
    void receive(ByteBuffer data) throws IOException, InterruptedException;

    /**
     * Waits until the peer has ended the connection, if it matters who does so first: a C program that waits with poll
     * takes a hang-up for a failure, also when there are data that it has not read.
     */
    default void awaitPeer() throws IOException, InterruptedException {
    }

    @Override
    void close() throws IOException;
}
