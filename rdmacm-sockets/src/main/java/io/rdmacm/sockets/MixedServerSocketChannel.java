// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.core.internal.nio.ChannelExceptions;
import io.rdmacm.core.internal.nio.ChannelKeys;
import io.rdmacm.core.internal.nio.Selectable;
import io.rdmacm.core.internal.nio.ServerSocketView;
import io.rdmacm.core.internal.nio.TimedServerSocketChannel;
import io.rdmacm.core.internal.nio.TimedSocketChannel;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventFile;
import org.jspecify.annotations.Nullable;

/**
 * A server that listens over TCP, and over RDMA as well when it is bound where clients may come from that way. What it
 * accepts over TCP are channels of the JDK.
 */
final class MixedServerSocketChannel extends TimedServerSocketChannel {
    private final Shared shared;
    private final @Nullable ProtocolFamily family;
    private final ServerSocketChannel tcp;
    private final ChannelKeys keys = new ChannelKeys();
    private final Selectable reported;
    // Held by a thread that waits for a client of a server that serves both.
    private final ReentrantLock acceptLock = new ReentrantLock();
    private final Options options = new Options(Map.of());
    private final Object lock = new Object();
    // Written with the lock held.
    private volatile @Nullable Both both;
    private @Nullable Selector waiting;
    private @Nullable ServerSocket socket;
    private boolean rdmaLast;

    MixedServerSocketChannel(Shared shared, @Nullable ProtocolFamily family) throws IOException {
        super(shared.provider());
        this.shared = shared;
        this.family = family;
        this.tcp = family == null ? shared.jdk().openServerSocketChannel()
                : shared.jdk().openServerSocketChannel(family);
        this.reported = new JdkChannel(tcp, keys);
    }

    @Override
    public ServerSocketChannel bind(@Nullable SocketAddress local, int backlog) throws IOException {
        synchronized (lock) {
            ChannelExceptions.requireOpen(this);
            if (both != null) {
                throw new AlreadyBoundException();
            }
            Choice.Decision decision = tcp.getLocalAddress() != null ? new Choice.Decision(Choice.Way.TCP, "")
                    : shared.choice().toListen(local);
            Listening listening = Listening.bind(local, backlog, decision, new Listening.Sockets() {
                @Override
                public void bind(@Nullable SocketAddress address) throws IOException {
                    tcp.bind(address, backlog);
                }

                @Override
                public @Nullable SocketAddress bound() throws IOException {
                    return tcp.getLocalAddress();
                }

                @Override
                public TimedServerSocketChannel open() throws IOException {
                    return openRdma();
                }
            });
            TimedServerSocketChannel rdma = listening.rdma();
            if (rdma != null) {
                serve(rdma);
            }
            shared.connections().add(Connections.Kind.LISTEN, rdma != null, localAddress(), null,
                    listening.reason());
        }
        keys.changed();
        return this;
    }

    private void serve(TimedServerSocketChannel rdma) throws IOException {
        boolean done = false;
        try {
            rdma.configureBlocking(false);
            tcp.configureBlocking(false);
            Both opened = new Both(rdma, EventFile.open(rdma.file()), keys);
            if (tcp.getLocalAddress() != null) {
                opened.files.watch(reported.file());
            }
            both = opened;
            keys.release();
            done = true;
        } finally {
            if (!done) {
                rdma.close();
            }
        }
    }

    private TimedServerSocketChannel openRdma() throws IOException {
        TimedServerSocketChannel rdma = (TimedServerSocketChannel) (family == null
                ? shared.rdma().openServerSocketChannel() : shared.rdma().openServerSocketChannel(family));
        options.applyTo(rdma);
        return rdma;
    }

    @Override
    public @Nullable SocketChannel accept() throws IOException {
        return accept(isBlocking() ? Deadline.FOREVER : null);
    }

    @Override
    public @Nullable SocketChannel accept(@Nullable Duration timeout) throws IOException {
        ChannelExceptions.requireOpen(this);
        Both serving = both;
        if (serving != null) {
            return timeout == null ? take(serving) : await(serving, timeout);
        }
        try {
            if (timeout == null || timeout.equals(Deadline.FOREVER)) {
                return accepted(tcp.accept());
            }
            tcp.socket().setSoTimeout(Math.clamp(timeout.toMillis(), 1, Integer.MAX_VALUE));
            return accepted(tcp.socket().accept().getChannel());
        } catch (ClosedChannelException e) {
            close();
            throw e;
        }
    }

    private @Nullable SocketChannel accepted(@Nullable SocketChannel channel) throws IOException {
        if (channel != null) {
            shared.connections().add(Connections.Kind.ACCEPT, false, channel.socket().getLocalSocketAddress(),
                    channel.socket().getRemoteSocketAddress(), "");
        }
        return channel;
    }

    /** Takes a client, in turn from both; null if there is none. */
    private @Nullable SocketChannel take(Both serving) throws IOException {
        boolean rdmaFirst = !rdmaLast;
        SocketChannel taken = takeFrom(serving, rdmaFirst);
        return taken != null ? taken : takeFrom(serving, !rdmaFirst);
    }

    private @Nullable SocketChannel takeFrom(Both serving, boolean rdma) throws IOException {
        try {
            if (!rdma) {
                SocketChannel channel = tcp.isOpen() && tcp.getLocalAddress() != null ? tcp.accept() : null;
                rdmaLast &= channel == null;
                return accepted(channel);
            }
            TimedSocketChannel channel = Listening.accept(serving.rdma, tcp.socket().isBound());
            if (channel == null) {
                return null;
            }
            rdmaLast = true;
            MixedSocketChannel mixed = new MixedSocketChannel(shared, channel);
            shared.connections().add(Connections.Kind.ACCEPT, true, mixed.localAddress(), mixed.remoteAddress(), "");
            return mixed;
        } catch (ClosedChannelException e) {
            throw isOpen() ? e : new AsynchronousCloseException();
        }
    }

    /** Waits for a client of either kind. */
    private SocketChannel await(Both serving, Duration timeout) throws IOException {
        Deadline deadline = Deadline.after(timeout);
        acceptLock.lock();
        try {
            while (true) {
                requireNotInterrupted();
                SocketChannel taken = take(serving);
                if (taken != null) {
                    return taken;
                }
                if (deadline.hasPassed()) {
                    throw new SocketTimeoutException("Accept timed out");
                }
                Selector selector = selector(serving);
                selector.select(timeout.equals(Deadline.FOREVER) ? 0
                        : TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos()) + 1);
                selector.selectedKeys().clear();
            }
        } catch (ClosedSelectorException e) {
            throw new AsynchronousCloseException();
        } finally {
            acceptLock.unlock();
        }
    }

    private void requireNotInterrupted() throws IOException {
        if (!isOpen()) {
            throw new AsynchronousCloseException();
        }
        if (Thread.currentThread().isInterrupted()) {
            close();
            throw new ClosedByInterruptException();
        }
    }

    private Selector selector(Both serving) throws IOException {
        synchronized (lock) {
            if (!isOpen()) {
                // Perhaps the close has been here already: nobody would close the selector.
                throw new AsynchronousCloseException();
            }
            if (waiting == null) {
                Selector opened = shared.provider().openSelector();
                waiting = opened;
                if (serving.rdma.isOpen()) {
                    serving.rdma.register(opened, SelectionKey.OP_ACCEPT);
                }
                if (tcp.getLocalAddress() != null) {
                    tcp.register(opened, SelectionKey.OP_ACCEPT);
                }
            }
            return waiting;
        }
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
        InetSocketAddress local = (InetSocketAddress) tcp.socket().getLocalSocketAddress();
        Both serving = both;
        return local != null || serving == null ? local : serving.rdma.localAddress();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        tcp.setOption(name, value);
        options.put(name, value);
        Both serving = both;
        if (serving != null) {
            Options.hint(serving.rdma, name, value);
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return tcp.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return tcp.supportedOptions();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        synchronized (lock) {
            if (both == null) {
                tcp.configureBlocking(block);
            }
        }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        keys.close();
        synchronized (lock) {
            tcp.close();
            Both serving = both;
            if (serving != null) {
                serving.rdma.close();
                serving.close();
            }
            if (waiting != null) {
                waiting.close();
            }
        }
    }

    @Override
    public Selectable current() {
        return Objects.requireNonNullElse(both, reported);
    }

    @Override
    public int file() throws IOException {
        return current().file();
    }

    @Override
    public int readyOps() {
        return current().readyOps();
    }

    @Override
    public ChannelKeys keys() {
        return keys;
    }

    @Override
    public String toString() {
        return both == null ? tcp.toString() : tcp + " and RDMA";
    }

    /** Both servers, behind one file. */
    private static final class Both implements Selectable {
        private final TimedServerSocketChannel rdma;
        private final EventFile files;
        private final ChannelKeys keys;
        // guarded by this
        private boolean closed;

        Both(TimedServerSocketChannel rdma, EventFile files, ChannelKeys keys) {
            this.rdma = rdma;
            this.files = files;
            this.keys = keys;
        }

        @Override
        public int file() {
            return files.fd();
        }

        @Override
        public boolean isArmedBySelector() {
            return true;
        }

        @Override
        public synchronized int readyOps() {
            try {
                return !closed && files.await(0) > 0 ? SelectionKey.OP_ACCEPT : 0;
            } catch (IOException e) {
                // To accept says what is wrong.
                return SelectionKey.OP_ACCEPT;
            }
        }

        @Override
        public ChannelKeys keys() {
            return keys;
        }

        synchronized void close() throws IOException {
            closed = true;
            files.close();
        }
    }
}
