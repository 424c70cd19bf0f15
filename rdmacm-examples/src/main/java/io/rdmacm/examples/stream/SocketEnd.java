// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import jdk.net.ExtendedSocketOptions;

/** One end of a TCP connection, for comparison. Blocking calls of TCP have no timeout. */
final class SocketEnd extends StreamEnd {
    private final SocketChannel channel;
    private final boolean blocking;
    private final Duration timeout;
    // null unless there is something to wait for
    private final Selector selector;

    private SocketEnd(SocketChannel channel, StreamProgram program) throws IOException {
        super(program);
        boolean async = program.wants(TestOption.ASYNC);
        this.channel = channel;
        this.blocking = program.isBlocking();
        this.timeout = program.timeout();
        channel.configureBlocking(blocking && !async);
        this.selector = async ? Selector.open() : null;
        if (selector != null) {
            channel.register(selector, 0);
        }
    }

    /** Starts to listen. */
    static void listen(ServerSocketChannel server, StreamProgram program) throws IOException {
        // Connections that are accepted inherit the size.
        server.setOption(StandardSocketOptions.SO_RCVBUF, program.bufferSize);
        server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        server.bind(program.local, 1);
    }

    /** Makes a connection: accepts one, or connects if the server is null. */
    static SocketEnd next(ServerSocketChannel server, StreamProgram program, int keepAlive) throws IOException {
        SocketChannel channel = server == null ? SocketChannel.open() : server.accept();
        try {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, program.bufferSize);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, program.bufferSize);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (keepAlive > 0) {
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
                channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, keepAlive);
            }
            if (server == null) {
                channel.bind(program.local);
                channel.connect(program.peer);
            }
            return new SocketEnd(channel, program);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    @Override
    int write(ByteBuffer data) throws IOException {
        return channel.write(data);
    }

    @Override
    int read(ByteBuffer data) throws IOException {
        return channel.read(data);
    }

    @Override
    void await(int operation) throws IOException, InterruptedException {
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
