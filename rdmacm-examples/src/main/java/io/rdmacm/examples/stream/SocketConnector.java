// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import io.rdmacm.examples.support.Tcp;
import jdk.net.ExtendedSocketOptions;

/** Makes TCP connections, for {@code -T s}. */
final class SocketConnector implements StreamConnector {
    private final StreamOptions options;
    private final TransferMode mode;
    private final int keepAlive;
    // null for a client
    private final ServerSocketChannel server;

    /**
     * Prepares to connect; a server listens.
     *
     * @param options the options of the program
     * @param mode how data are transferred
     * @param keepAlive the time until an idle connection is checked, in seconds; 0 for never
     */
    SocketConnector(StreamOptions options, TransferMode mode, int keepAlive) throws IOException {
        this.options = options;
        this.mode = mode;
        this.keepAlive = keepAlive;
        this.server = options.isServer() ? listen() : null;
    }

    private ServerSocketChannel listen() throws IOException {
        ServerSocketChannel listening = ServerSocketChannel.open();
        boolean made = false;
        try {
            // Connections that are accepted inherit the size.
            listening.setOption(StandardSocketOptions.SO_RCVBUF, options.bufferSize());
            listening.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listening.bind(options.local(), 1);
            made = true;
            return listening;
        } finally {
            if (!made) {
                listening.close();
            }
        }
    }

    @Override
    public StreamEnd next(int inlineSize) throws IOException, InterruptedException {
        SocketChannel channel = null;
        StreamEnd end = null;
        try {
            channel = server == null ? SocketChannel.open() : server.accept();
            channel.setOption(StandardSocketOptions.SO_SNDBUF, options.bufferSize());
            channel.setOption(StandardSocketOptions.SO_RCVBUF, options.bufferSize());
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (keepAlive > 0) {
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
                channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, keepAlive);
            }
            if (server == null) {
                channel.bind(options.local());
                channel.connect(options.peer());
            }
            end = new SocketEnd(channel, mode, options.timeout());
            return end;
        } catch (ClosedByInterruptException e) {
            throw Tcp.interrupted(e);
        } finally {
            if (end == null && channel != null) {
                channel.close();
            }
        }
    }

    @Override
    public void close() throws IOException {
        if (server != null) {
            server.close();
        }
    }
}
