// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** A channel as a {@link ServerSocket}. */
public final class ServerSocketView extends ServerSocket {
    private static final int DEFAULT_BACKLOG = 50;

    private final TimedServerSocketChannel channel;
    private volatile int timeout;

    /** The one of the JDK below opens nothing before it is bound, and it never is. */
    private ServerSocketView(TimedServerSocketChannel channel) throws IOException {
        this.channel = channel;
    }

    /** Returns the channel as a socket. */
    public static ServerSocket of(TimedServerSocketChannel channel) {
        try {
            return new ServerSocketView(channel);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void bind(SocketAddress endpoint) throws IOException {
        bind(endpoint, DEFAULT_BACKLOG);
    }

    @Override
    public void bind(SocketAddress endpoint, int backlog) throws IOException {
        SocketView.asSocket(() -> channel.bind(endpoint, backlog));
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress local = channel.localAddress();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = channel.localAddress();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return channel.localAddress();
    }

    @Override
    public Socket accept() throws IOException {
        int limit = timeout;
        if (limit > 0 && !channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        @Nullable SocketChannel accepted = SocketView.asSocket(() -> limit > 0
                ? channel.accept(Duration.ofMillis(limit)) : channel.accept());
        if (accepted == null) {
            throw new IllegalBlockingModeException();
        }
        return accepted.socket();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public boolean isBound() {
        return channel.localAddress() != null;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        SocketView.requireOpen(channel);
        this.timeout = SocketView.notNegative(timeout);
    }

    @Override
    public int getSoTimeout() throws SocketException {
        SocketView.requireOpen(channel);
        return timeout;
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        SocketView.option(() -> channel.setOption(StandardSocketOptions.SO_REUSEADDR, on));
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return SocketView.option(() -> channel.getOption(StandardSocketOptions.SO_REUSEADDR));
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        int positive = SocketView.positive(size);
        SocketView.option(() -> channel.setOption(StandardSocketOptions.SO_RCVBUF, positive));
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return SocketView.option(() -> channel.getOption(StandardSocketOptions.SO_RCVBUF));
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // There is nothing to choose from.
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        return isBound() ? "ServerSocket[addr=" + getInetAddress() + ",localport=" + getLocalPort() + "]"
                : "ServerSocket[unbound]";
    }
}
