// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.IntConsumer;


/**
 * The TCP connection over which the two sides of a program exchange the addresses of their queue pairs: they have no
 * connection manager.
 */
final class TcpPeer implements AutoCloseable {
    private final SocketChannel channel;
    private final Duration timeout;

    private TcpPeer(SocketChannel channel, Duration timeout) throws IOException {
        this.channel = channel;
        this.timeout = timeout;
        channel.socket().setSoTimeout((int) timeout.toMillis());
    }

    /** Connects to a server, trying all its addresses. */
    static TcpPeer dial(String host, int port, Duration timeout) throws IOException {
        String refused = "Couldn't connect to " + host + ":" + port + ": ";
        IOException failure = null;
        for (InetAddress address : addresses(host, refused)) {
            SocketChannel channel = SocketChannel.open();
            try {
                channel.socket().connect(new InetSocketAddress(address, port), (int) timeout.toMillis());
                return new TcpPeer(channel, timeout);
            } catch (IOException e) {
                channel.close();
                failure = e;
            }
        }
        if (failure instanceof ClosedByInterruptException) {
            throw failure;
        }
        throw new IOException(refused + failure.getMessage(), failure);
    }

    private static InetAddress[] addresses(String host, String refused) throws IOException {
        try {
            return InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw new IOException(refused + "there is no such host", e);
        }
    }

    /** Waits for a client, after telling which port this side listens on. */
    static TcpPeer accept(int port, Duration timeout, IntConsumer listening) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            try {
                server.bind(new InetSocketAddress(port), 1);
            } catch (IOException e) {
                throw new IOException("Couldn't listen to port " + port + ": " + e.getMessage(), e);
            }
            listening.accept(server.socket().getLocalPort());
            return new TcpPeer(server.accept(), timeout);
        }
    }

    void send(String text) throws IOException {
        channel.socket().getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Receives so many characters; names them if the peer leaves instead. */
    String receive(int length, String what) throws IOException {
        try {
            byte[] text = channel.socket().getInputStream().readNBytes(length);
            if (text.length < length) {
                throw new EOFException("the peer closed the connection before it sent " + what);
            }
            return new String(text, StandardCharsets.US_ASCII);
        } catch (SocketTimeoutException e) {
            throw new IOException("no answer from the peer within " + timeout.toSeconds() + " seconds", e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
