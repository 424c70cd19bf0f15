// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.rdmacm.examples.support.Tcp;

/** One end of a TCP connection, for comparison. Blocking calls of TCP have no timeout. */
final class SocketEnd implements StreamEnd {
    private final SocketChannel channel;
    private final TransferMode mode;
    private final Duration timeout;
    private final BusyWait busy;
    // null unless there is something to wait for
    private final Selector selector;

    /** Takes the channel, unless this fails. */
    SocketEnd(SocketChannel channel, TransferMode mode, Duration timeout) throws IOException {
        this.channel = channel;
        this.mode = mode;
        this.timeout = timeout;
        this.busy = new BusyWait(timeout);
        channel.configureBlocking(mode.blocking() && !mode.async());
        this.selector = mode.async() ? Selector.open() : null;
        if (selector != null) {
            channel.register(selector, 0);
        }
    }

    @Override
    public void send(ByteBuffer data) throws IOException, InterruptedException {
        busy.reset();
        while (data.hasRemaining()) {
            await(SelectionKey.OP_WRITE);
            pauseUnless(write(data) > 0);
        }
    }

    private int write(ByteBuffer data) throws IOException, InterruptedException {
        try {
            return channel.write(data);
        } catch (ClosedByInterruptException e) {
            throw Tcp.interrupted(e);
        }
    }

    @Override
    public void receive(ByteBuffer data) throws IOException, InterruptedException {
        busy.reset();
        while (data.hasRemaining()) {
            await(SelectionKey.OP_READ);
            int length = read(data);
            if (length < 0) {
                throw new EOFException("the peer has closed the connection");
            }
            pauseUnless(length > 0);
        }
    }

    private int read(ByteBuffer data) throws IOException, InterruptedException {
        try {
            return channel.read(data);
        } catch (ClosedByInterruptException e) {
            throw Tcp.interrupted(e);
        }
    }

    private void pauseUnless(boolean done) throws IOException, InterruptedException {
        if (done) {
            busy.reset();
        } else {
            busy.pause();
        }
    }

    private void await(int operation) throws IOException, InterruptedException {
        if (selector == null) {
            return;
        }
        channel.keyFor(selector).interestOps(operation);
        selector.selectedKeys().clear();
        int ready = mode.blocking() ? selector.select(timeout.toMillis()) : selector.selectNow();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (ready == 0 && mode.blocking()) {
            throw new SocketTimeoutException("the peer did nothing for " + timeout.toSeconds() + " s");
        }
    }

    @Override
    public void close() throws IOException {
        if (selector != null) {
            selector.close();
        }
        channel.close();
    }
}
