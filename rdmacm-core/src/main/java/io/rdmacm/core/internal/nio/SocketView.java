// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;

/** A channel as a {@link Socket}. Its streams need a channel in blocking mode. */
public final class SocketView extends Socket {
    private final TimedSocketChannel channel;
    private volatile int timeout;
    private volatile boolean urgentInline;

    private SocketView(TimedSocketChannel channel) throws SocketException {
        // Without an implementation: every method that would use one is overridden.
        super((SocketImpl) null);
        this.channel = channel;
    }

    /** Returns the channel as a socket. */
    public static Socket of(TimedSocketChannel channel) {
        try {
            return new SocketView(channel);
        } catch (SocketException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Something that a channel does. */
    @FunctionalInterface
    interface Call<T extends @Nullable Object> {
        T run() throws IOException;
    }

    /** Makes the unchecked exceptions of channels those of sockets; the checked ones stay as they are. */
    static <T extends @Nullable Object> T asSocket(Call<T> call) throws IOException {
        try {
            return call.run();
        } catch (NotYetConnectedException e) {
            throw because(e, "Socket is not connected");
        } catch (NotYetBoundException e) {
            throw because(e, "Socket is not bound yet");
        } catch (AlreadyBoundException e) {
            throw because(e, "Already bound");
        } catch (AlreadyConnectedException e) {
            throw because(e, "Already connected");
        } catch (UnsupportedAddressTypeException e) {
            throw because(e, "Unsupported address type");
        } catch (UnresolvedAddressException e) {
            throw because(e, "Unresolved address");
        }
    }

    private static SocketException because(Exception cause, @Nullable String message) {
        return new SocketException(message, cause);
    }

    /** Gets or sets an option. */
    static <T> T option(Call<T> call) throws SocketException {
        try {
            return asSocket(call);
        } catch (SocketException e) {
            throw e;
        } catch (ClosedChannelException e) {
            throw because(e, "Socket is closed");
        } catch (IOException e) {
            throw because(e, e.getMessage());
        }
    }

    private <T> void set(SocketOption<T> option, T value) throws SocketException {
        option(() -> channel.setOption(option, value));
    }

    private <T> T get(SocketOption<T> option) throws SocketException {
        return option(() -> channel.getOption(option));
    }

    static void requireOpen(Channel channel) throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    @Override
    public void connect(SocketAddress endpoint) throws IOException {
        connect(endpoint, 0);
    }

    @Override
    public void connect(SocketAddress endpoint, int timeout) throws IOException {
        if (endpoint == null) {
            throw new IllegalArgumentException("no address");
        }
        Duration limit = limit(notNegative(timeout));
        if (endpoint instanceof InetSocketAddress internet && internet.isUnresolved()) {
            requireOpen(channel);
            if (channel.isConnected()) {
                throw new SocketException("Already connected");
            }
            close();
            throw new UnknownHostException(internet.getHostString());
        }
        asSocket(() -> {
            channel.connect(endpoint, limit);
            return null;
        });
    }

    /** Returns a timeout. */
    static int notNegative(int timeout) {
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout is negative: " + timeout);
        }
        return timeout;
    }

    private static Duration limit(int milliseconds) {
        return milliseconds == 0 ? Deadline.FOREVER : Duration.ofMillis(milliseconds);
    }

    @Override
    public void bind(SocketAddress local) throws IOException {
        asSocket(() -> channel.bind(local));
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress remote = channel.remoteAddress();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        InetSocketAddress local = channel.isOpen() ? channel.localAddress() : null;
        return (local == null ? new InetSocketAddress(0) : local).getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = channel.remoteAddress();
        return remote == null ? 0 : remote.getPort();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = channel.localAddress();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return channel.remoteAddress();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return channel.localAddress();
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    @Override
    public InputStream getInputStream() throws IOException {
        requireConnected();
        if (channel.isInputEnded()) {
            throw new SocketException("Socket input is shutdown");
        }
        return new Input();
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        requireConnected();
        if (channel.isOutputEnded()) {
            throw new SocketException("Socket output is shutdown");
        }
        return new Output();
    }

    private void requireConnected() throws SocketException {
        requireOpen(channel);
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        set(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return get(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int linger) throws SocketException {
        if (on && linger < 0) {
            throw new IllegalArgumentException("linger is negative: " + linger);
        }
        set(StandardSocketOptions.SO_LINGER, on ? linger : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        channel.sendUrgentData(data);
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        // Only remembered: no urgent data can arrive.
        requireOpen(channel);
        urgentInline = on;
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        requireOpen(channel);
        return urgentInline;
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        requireOpen(channel);
        this.timeout = notNegative(timeout);
    }

    @Override
    public int getSoTimeout() throws SocketException {
        requireOpen(channel);
        return timeout;
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        set(StandardSocketOptions.SO_SNDBUF, positive(size));
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        set(StandardSocketOptions.SO_RCVBUF, positive(size));
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_RCVBUF);
    }

    /** Returns the size of a buffer. */
    static int positive(int size) {
        if (size <= 0) {
            throw new IllegalArgumentException("the size must be positive, not " + size);
        }
        return size;
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return get(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int trafficClass) throws SocketException {
        set(StandardSocketOptions.IP_TOS, trafficClass);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return get(StandardSocketOptions.IP_TOS);
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public void shutdownInput() throws IOException {
        asSocket(channel::shutdownInput);
    }

    @Override
    public void shutdownOutput() throws IOException {
        asSocket(channel::shutdownOutput);
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected();
    }

    @Override
    public boolean isBound() {
        return channel.isBound();
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public boolean isInputShutdown() {
        return channel.isInputEnded();
    }

    @Override
    public boolean isOutputShutdown() {
        return channel.isOutputEnded();
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // There is nothing to choose from.
    }

    @Override
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
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
        return channel.isConnected()
                ? "Socket[addr=" + getInetAddress() + ",port=" + getPort() + ",localport=" + getLocalPort() + "]"
                : "Socket[unconnected]";
    }

    private final class Input extends InputStream {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, bytes.length);
            if (length == 0) {
                return 0;
            }
            return asSocket(() -> channel.readWithin(ByteBuffer.wrap(bytes, offset, length), limit(timeout)));
        }

        @Override
        public int available() throws IOException {
            return asSocket(channel::available);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private final class Output extends OutputStream {
        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value});
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, bytes.length);
            if (length > 0) {
                asSocket(() -> {
                    channel.writeAll(ByteBuffer.wrap(bytes, offset, length));
                    return null;
                });
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
