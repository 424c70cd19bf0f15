// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.internal.nio.ChannelExceptions;
import io.rdmacm.core.internal.nio.ChannelKeys;
import io.rdmacm.core.internal.nio.ServerSocketView;
import io.rdmacm.core.internal.nio.TimedServerSocketChannel;
import io.rdmacm.core.internal.sockets.SocketExceptions;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;

/** A {@link ServerSocketChannel} over an {@link RdmaStreamServer}, which exists as soon as the channel is bound. */
final class RdmaServerSocketChannel extends TimedServerSocketChannel {
    private static final int DEFAULT_BACKLOG = 50;

    private final @Nullable ProtocolFamily family;
    private final ChannelOptions options;
    private final ChannelKeys keys = new ChannelKeys();
    private final Object lock = new Object();
    // Written with the lock held.
    private volatile @Nullable RdmaStreamServer server;
    private @Nullable ServerSocket socket;

    /** A channel that is not bound; a family of null stands for both kinds of internet addresses. */
    RdmaServerSocketChannel(RdmaSelectorProvider provider, @Nullable ProtocolFamily family) {
        super(provider);
        this.family = family;
        this.options = new ChannelOptions(ChannelOptions.OF_SERVERS, provider.settings(), false);
    }

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        synchronized (lock) {
            ChannelExceptions.requireOpen(this);
            if (server != null) {
                throw new AlreadyBoundException();
            }
            InetSocketAddress address = Addresses.requireLocal(local, family);
            try {
                int most = backlog > 0 ? backlog : DEFAULT_BACKLOG;
                server = family == StandardProtocolFamily.INET
                        ? StreamAccess.get().listenExactly(address, most, options.fix())
                        : RdmaStreamServer.listen(address, most, options.fix());
            } catch (RdmaException e) {
                throw SocketExceptions.ofBind(e, address);
            }
        }
        keys.changed();
        return this;
    }

    @Override
    public @Nullable SocketChannel accept() throws IOException {
        return accept(isBlocking() ? Deadline.FOREVER : null);
    }

    @Override
    public @Nullable SocketChannel accept(@Nullable Duration timeout) throws IOException {
        ChannelExceptions.requireOpen(this);
        RdmaStreamServer listening = server;
        if (listening == null) {
            throw new NotYetBoundException();
        }
        RdmaStream accepted;
        try {
            if (timeout == null) {
                accepted = listening.accept();
            } else {
                ChannelExceptions.requireNotInterrupted(this);
                accepted = listening.accept(timeout);
            }
        } catch (RdmaTimeoutException e) {
            throw SocketExceptions.timedOut("Accept timed out", e);
        } catch (IOException | IllegalStateException | InterruptedException e) {
            throw ChannelExceptions.of(this, e);
        }
        return accepted == null ? null : new RdmaSocketChannel((RdmaSelectorProvider) provider(), accepted);
    }

    @Override
    public ServerSocket socket() {
        synchronized (lock) {
            if (socket == null) {
                socket = ServerSocketView.of(this);
            }
            return socket;
        }
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        ChannelExceptions.requireOpen(this);
        return localAddress();
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        RdmaStreamServer listening = server;
        return listening == null ? null : listening.localAddress();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        Objects.requireNonNull(name, "name");
        ChannelExceptions.requireOpen(this);
        options.set(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        Objects.requireNonNull(name, "name");
        ChannelExceptions.requireOpen(this);
        return options.get(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    protected void implConfigureBlocking(boolean block) {
        // Each operation asks when it begins.
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        RdmaStreamServer open;
        synchronized (lock) {
            open = server;
        }
        keys.close();
        if (open != null) {
            open.close();
        }
    }

    @Override
    public int file() {
        RdmaStreamServer listening = server;
        return listening == null ? -1 : listening.fd();
    }

    @Override
    public boolean isArmedBySelector() {
        return true;
    }

    @Override
    public int readyOps() {
        RdmaStreamServer listening = server;
        return listening != null && listening.isAcceptable() ? SelectionKey.OP_ACCEPT : 0;
    }

    @Override
    public ChannelKeys keys() {
        return keys;
    }

    @Override
    public String toString() {
        return "java.nio.channels.ServerSocketChannel over RDMA[" + (!isOpen() ? "closed" : server == null ? "unbound"
                : String.valueOf(localAddress())) + "]";
    }
}
