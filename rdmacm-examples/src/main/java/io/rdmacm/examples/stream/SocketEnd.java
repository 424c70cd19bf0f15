// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.rdmacm.examples.support.Tcp;
import jdk.net.ExtendedSocketOptions;

/** One end of a TCP connection, for comparison. Blocking calls of TCP have no timeout. */
final class SocketEnd implements StreamEnd {
    private final SocketChannel channel;
    private final boolean async;
    private final boolean blocking;
    private final Duration timeout;
    private final BusyWait busy;
    // null unless there is something to wait for
    private final Selector selector;

    private SocketEnd(SocketChannel channel, StreamProgram program) throws IOException {
        this.channel = channel;
        this.async = program.wants(TestOption.ASYNC);
        this.blocking = program.isBlocking();
        this.timeout = program.timeout();
        this.busy = new BusyWait(timeout);
        channel.configureBlocking(blocking && !async);
        this.selector = async ? Selector.open() : null;
        if (selector != null) {
            channel.register(selector, 0);
        }
    }

    /** Starts to listen. */
    static ServerSocketChannel listen(StreamProgram program) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        boolean complete = false;
        try {
            // Connections that are accepted inherit the size.
            server.setOption(StandardSocketOptions.SO_RCVBUF, program.bufferSize());
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(program.local(), 1);
            complete = true;
            return server;
        } finally {
            if (!complete) {
                server.close();
            }
        }
    }

    /** Makes a connection: accepts one, or connects if the server is null. */
    static SocketEnd next(ServerSocketChannel server, StreamProgram program, int keepAlive)
            throws IOException, InterruptedException {
        SocketChannel channel = null;
        boolean complete = false;
        try {
            channel = server == null ? SocketChannel.open() : server.accept();
            channel.setOption(StandardSocketOptions.SO_SNDBUF, program.bufferSize());
            channel.setOption(StandardSocketOptions.SO_RCVBUF, program.bufferSize());
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (keepAlive > 0) {
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
                channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, keepAlive);
            }
            if (server == null) {
                channel.bind(program.local());
                channel.connect(program.peer());
            }
            SocketEnd end = new SocketEnd(channel, program);
            complete = true;
            return end;
        } catch (ClosedByInterruptException e) {
            throw Tcp.interrupted(e);
        } finally {
            if (!complete && channel != null) {
                channel.close();
            }
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
        int ready = blocking ? selector.select(timeout.toMillis()) : selector.selectNow();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (ready == 0 && blocking) {
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
