// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;

/** One end of a connection, over RDMA or over TCP. For one thread. */
abstract class StreamEnd implements AutoCloseable {
    private final BusyWait busy;

    StreamEnd(StreamProgram program) {
        this.busy = new BusyWait(program.timeout());
    }

    /** Waits until an operation of {@link SelectionKey} is possible, if the options say so. */
    abstract void await(int operation) throws IOException, InterruptedException;

    /** Writes what there is room for, or everything if the end blocks. */
    abstract int write(ByteBuffer data) throws IOException, InterruptedException;

    /** Reads what has arrived, or waits for something if the end blocks; -1 at the end of the stream. */
    abstract int read(ByteBuffer data) throws IOException, InterruptedException;

    /** Sends the rest of a buffer. */
    final void send(ByteBuffer data) throws IOException, InterruptedException {
        busy.reset();
        while (data.hasRemaining()) {
            await(SelectionKey.OP_WRITE);
            busy.pauseUnless(write(data) > 0);
        }
    }

    /** Receives until a buffer is full. */
    final void receive(ByteBuffer data) throws IOException, InterruptedException {
        busy.reset();
        while (data.hasRemaining()) {
            await(SelectionKey.OP_READ);
            int length = read(data);
            if (length < 0) {
                throw new EOFException("the peer has closed the connection");
            }
            busy.pauseUnless(length > 0);
        }
    }

    /**
     * Waits until the peer has ended the connection, if it matters who does so first: a C program that waits with poll
     * takes a hang-up for a failure, also when there are data that it has not read.
     */
    void awaitPeer() throws IOException, InterruptedException {
        // does not matter over TCP
    }

    @Override
    public abstract void close() throws IOException;
}
