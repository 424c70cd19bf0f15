// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.FileChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.core.internal.nio.ChannelExceptions;
import io.rdmacm.core.internal.nio.ChannelKeys;
import io.rdmacm.core.internal.nio.Selectable;
import io.rdmacm.core.internal.nio.SocketView;
import io.rdmacm.core.internal.nio.TimedSocketChannel;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A channel that becomes one over RDMA or one of the JDK when it connects. Before that it is one of the JDK, which
 * keeps its options and its address; while it connects over RDMA it is neither.
 */
final class MixedSocketChannel extends TimedSocketChannel implements FileTransfers.Channel {
    private static final Duration FOREVER = Deadline.FOREVER;

    private final Shared shared;
    private final @Nullable ProtocolFamily family;
    private final ChannelKeys keys = new ChannelKeys();
    private final Selectable reported;
    private final SocketChannel tcp;
    private final ReentrantLock connectLock = new ReentrantLock();
    private final Options options;
    // Written with the connect lock held.
    private volatile SocketChannel actual;
    private volatile Selectable source;
    private volatile @Nullable Race race;
    private volatile @Nullable InetSocketAddress remote;
    private volatile String reason = "";
    private volatile boolean counted;
    private volatile boolean inputEnded;
    private volatile boolean outputEnded;
    private @Nullable Socket socket;

    /** A channel that is not connected; a family of null stands for both kinds of internet addresses. */
    MixedSocketChannel(Shared shared, @Nullable ProtocolFamily family) throws IOException {
        super(shared.provider());
        this.shared = shared;
        this.family = family;
        this.options = new Options(shared.tcpOptions());
        this.tcp = family == null ? shared.jdk().openSocketChannel() : shared.jdk().openSocketChannel(family);
        this.reported = new JdkChannel(tcp, keys);
        this.actual = tcp;
        this.source = reported;
    }

    /** A channel that was accepted over RDMA. */
    MixedSocketChannel(Shared shared, TimedSocketChannel accepted) {
        super(shared.provider());
        this.shared = shared;
        this.family = null;
        this.options = new Options(shared.tcpOptions());
        this.tcp = accepted;
        this.reported = accepted;
        this.actual = accepted;
        this.source = accepted;
        this.remote = accepted.remoteAddress();
        this.counted = true;
        accepted.share(keys);
    }

    @Override
    public SocketChannel bind(SocketAddress local) throws IOException {
        connectLock.lock();
        try {
            ChannelExceptions.requireOpen(this);
            if (race != null) {
                throw new ConnectionPendingException();
            }
            actual.bind(local);
            return this;
        } finally {
            connectLock.unlock();
        }
    }

    @Override
    public boolean connect(SocketAddress address) throws IOException {
        connectLock.lock();
        try {
            return connect(address, isBlocking() ? FOREVER : null, false);
        } finally {
            connectLock.unlock();
        }
    }

    @Override
    public void connect(SocketAddress address, Duration timeout) throws IOException {
        connectLock.lock();
        try {
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            boolean ignored = connect(address, timeout, true);
        } finally {
            connectLock.unlock();
        }
    }

    /** Connects: without waiting if the timeout is null. The lock is held. */
    private boolean connect(SocketAddress address, @Nullable Duration timeout, boolean asSocket) throws IOException {
        ChannelExceptions.requireOpen(this);
        if (race != null) {
            throw new ConnectionPendingException();
        }
        if (actual.isConnected()) {
            throw new AlreadyConnectedException();
        }
        if (!tcp.isConnectionPending()) {
            Choice.Decision decision = shared.choice().toConnect(address);
            reason = decision.reason();
            if (!decision.isTcp() && beginRace((InetSocketAddress) address, decision,
                    timeout == null ? FOREVER : timeout)) {
                return timeout != null && finish(timeout);
            }
        }
        boolean connected = attempt(() -> asSocket ? connectAsSocket(address, Objects.requireNonNull(timeout))
                : tcp.connect(address));
        if (connected) {
            count();
        }
        return connected;
    }

    private boolean connectAsSocket(SocketAddress address, Duration timeout) throws IOException {
        tcp.socket().connect(address, milliseconds(timeout));
        return true;
    }

    /** Returns a timeout as sockets have it, 0 for none. */
    private static int milliseconds(Duration timeout) {
        return timeout.equals(FOREVER) ? 0 : Math.clamp(timeout.toMillis(), 1, Integer.MAX_VALUE);
    }

    /** Begins to connect over RDMA; returns false if that has failed at once and TCP is the way. */
    private boolean beginRace(InetSocketAddress address, Choice.Decision decision, Duration limit)
            throws IOException {
        TimedSocketChannel rdma = (TimedSocketChannel) (family == null ? shared.rdma().openSocketChannel()
                : shared.rdma().openSocketChannel(family));
        boolean begun = false;
        try {
            options.applyTo(rdma);
            rdma.configureBlocking(false);
            InetSocketAddress local = (InetSocketAddress) tcp.getLocalAddress();
            if (local != null) {
                rdma.bind(local);
            }
            boolean ignored = rdma.connect(address);
            tcp.configureBlocking(false);
            Race started = new Race(address, rdma, decision.isRdmaOnly() ? null : tcp, shared.choice(),
                    limit, keys::changed);
            // Nothing can be done until it has ended.
            race = started;
            source = new Racing(started);
            keys.release();
            remote = address;
            shared.connector().begin(started);
            begun = true;
            if (!isOpen()) {
                // It may have been closed before there was a race.
                started.abandon();
            }
            return true;
        } catch (IOException | RuntimeException | LinkageError e) {
            // Whatever it is: over TCP, the program has never heard of it.
            if (decision.isRdmaOnly() || !isOpen()) {
                close();
                throw e;
            }
            reason = "RDMA failed: " + e.getMessage();
            shared.choice().failed(address, reason);
            return false;
        } finally {
            if (!begun) {
                rdma.close();
                race = null;
                source = reported;
                restoreMode();
            }
        }
    }

    private void restoreMode() throws IOException {
        synchronized (blockingLock()) {
            if (tcp.isOpen()) {
                tcp.configureBlocking(isBlocking());
            }
        }
        keys.changed();
    }

    @Override
    public boolean finishConnect() throws IOException {
        connectLock.lock();
        try {
            ChannelExceptions.requireOpen(this);
            if (race != null) {
                return finish(isBlocking() ? FOREVER : Duration.ZERO);
            }
            if (actual != tcp) {
                return true;
            }
            if (!tcp.isConnected() && !tcp.isConnectionPending()) {
                throw new NoConnectionPendingException();
            }
            boolean connected = attempt(tcp::finishConnect);
            if (connected) {
                count();
            }
            return connected;
        } finally {
            connectLock.unlock();
        }
    }

    /** Waits for the end of the race, and becomes what has won it. The lock is held. */
    private boolean finish(Duration timeout) throws IOException {
        Race running = Objects.requireNonNull(race);
        Race.@Nullable Outcome outcome = running.outcome();
        try {
            if (outcome == null && !timeout.isZero()) {
                outcome = running.await(timeout);
                if (outcome == null) {
                    close();
                    throw new SocketTimeoutException("Connect timed out");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw new ClosedByInterruptException();
        }
        if (outcome == null) {
            return false;
        }
        if (!isOpen()) {
            throw new AsynchronousCloseException();
        }
        if (outcome.failure() != null) {
            close();
            throw outcome.failure();
        }
        become(Objects.requireNonNull(outcome.winner()), outcome.reason());
        return true;
    }

    private void become(SocketChannel winner, String why) throws IOException {
        synchronized (blockingLock()) {
            winner.configureBlocking(isBlocking());
            if (winner instanceof TimedSocketChannel rdma) {
                rdma.share(keys);
                // Those that were set while it connected.
                options.applyTo(rdma);
            }
            actual = winner;
            source = winner == tcp ? reported : (Selectable) winner;
            race = null;
        }
        if (!isOpen()) {
            winner.close();
            throw new AsynchronousCloseException();
        }
        reason = winner == tcp ? why : reason;
        keys.changed();
        count();
    }

    private void count() throws IOException {
        if (!counted) {
            counted = true;
            shared.connections().add(Connections.Kind.CONNECT, actual != tcp, localAddress(), remoteAddress(),
                    reason);
        }
    }

    @Override
    public boolean isConnected() {
        return isOpen() && race == null && actual.isConnected();
    }

    @Override
    public boolean isConnectionPending() {
        return isOpen() && (race != null || actual.isConnectionPending());
    }

    /** Returns the connected channel, or one that says that it is not. */
    private SocketChannel connected() throws ClosedChannelException {
        ChannelExceptions.requireOpen(this);
        if (race != null) {
            throw new NotYetConnectedException();
        }
        return actual;
    }

    /** An operation of the channel below. If that one was closed by it, so is this one. */
    private interface Operation<T extends @Nullable Object> {
        T run() throws IOException;
    }

    private <T extends @Nullable Object> T attempt(Operation<T> operation) throws IOException {
        SocketChannel below = actual;
        try {
            return operation.run();
        } finally {
            if (!below.isOpen() && below == actual) {
                close();
            }
        }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        SocketChannel below = connected();
        try {
            return below.read(target);
        } catch (ClosedChannelException e) {
            throw closed(below, e);
        }
    }

    private ClosedChannelException closed(SocketChannel below, ClosedChannelException failure) throws IOException {
        // By an interrupt; or only its output was shut down.
        if (!below.isOpen()) {
            close();
        }
        return failure;
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        SocketChannel below = connected();
        try {
            return below.read(targets, offset, length);
        } catch (ClosedChannelException e) {
            throw closed(below, e);
        }
    }

    @Override
    public int write(ByteBuffer data) throws IOException {
        SocketChannel below = connected();
        try {
            return below.write(data);
        } catch (ClosedChannelException e) {
            throw closed(below, e);
        }
    }

    @Override
    public long write(ByteBuffer[] data, int offset, int length) throws IOException {
        SocketChannel below = connected();
        try {
            return below.write(data, offset, length);
        } catch (ClosedChannelException e) {
            throw closed(below, e);
        }
    }

    @Override
    public long send(FileChannel file, long position, long count) throws IOException {
        SocketChannel below = connected();
        try {
            return below instanceof TimedSocketChannel ? FileTransfers.send(file, position, count, below)
                    : file.transferTo(position, count, below);
        } catch (ClosedChannelException e) {
            throw closed(below, e);
        }
    }

    @Override
    public long receive(FileChannel file, long position, long count) throws IOException {
        SocketChannel below = connected();
        try {
            return below instanceof TimedSocketChannel ? FileTransfers.receive(file, position, count, below)
                    : file.transferFrom(below, position, count);
        } catch (ClosedChannelException e) {
            throw closed(below, e);
        }
    }

    @Override
    public int readWithin(ByteBuffer target, Duration timeout) throws IOException {
        SocketChannel below = connected();
        return attempt(() -> {
            if (below instanceof TimedSocketChannel rdma) {
                return rdma.readWithin(target, timeout);
            }
            below.socket().setSoTimeout(milliseconds(timeout));
            int length = input(below).read(target.array(), target.arrayOffset() + target.position(),
                    target.remaining());
            target.position(target.position() + Math.max(length, 0));
            return length;
        });
    }

    @Override
    public void writeAll(ByteBuffer data) throws IOException {
        SocketChannel below = connected();
        attempt(() -> {
            if (below instanceof TimedSocketChannel rdma) {
                rdma.writeAll(data);
            } else {
                below.socket().getOutputStream().write(data.array(), data.arrayOffset() + data.position(),
                        data.remaining());
                data.position(data.limit());
            }
            return null;
        });
    }

    @Override
    public int available() throws IOException {
        SocketChannel below = connected();
        return below instanceof TimedSocketChannel rdma ? rdma.available() : input(below).available();
    }

    /** Returns the input of a channel of the JDK, whose socket has none to give after a shutdown. */
    private InputStream input(SocketChannel below) throws IOException {
        try {
            return below.socket().getInputStream();
        } catch (SocketException e) {
            if (inputEnded && below.isOpen()) {
                return InputStream.nullInputStream();
            }
            throw e;
        }
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        SocketChannel below = connected();
        if (below instanceof TimedSocketChannel rdma) {
            rdma.sendUrgentData(data);
        } else {
            below.socket().sendUrgentData(data);
        }
    }

    @Override
    public SocketChannel shutdownInput() throws IOException {
        SocketChannel below = connected();
        // Before, so that a thread that is woken in a read sees it.
        inputEnded = below.isConnected();
        below.shutdownInput();
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        SocketChannel below = connected();
        outputEnded = below.isConnected();
        below.shutdownOutput();
        return this;
    }

    @Override
    public boolean isInputEnded() {
        return inputEnded;
    }

    @Override
    public boolean isOutputEnded() {
        return outputEnded;
    }

    @Override
    public boolean isBound() {
        return localAddress() != null;
    }

    @Override
    public Socket socket() {
        synchronized (keys) {
            if (socket == null) {
                socket = SocketView.of(this);
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
        SocketChannel below = actual;
        if (below instanceof TimedSocketChannel rdma) {
            return rdma.localAddress();
        }
        return (InetSocketAddress) below.socket().getLocalSocketAddress();
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        ChannelExceptions.requireOpen(this);
        return remoteAddress();
    }

    @Override
    public @Nullable InetSocketAddress remoteAddress() {
        if (race != null) {
            return null;
        }
        SocketChannel below = actual;
        return below instanceof TimedSocketChannel rdma ? rdma.remoteAddress()
                : (InetSocketAddress) below.socket().getRemoteSocketAddress();
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        ChannelExceptions.requireOpen(this);
        options.set(actual, name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        ChannelExceptions.requireOpen(this);
        return options.get(actual, name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return tcp instanceof TimedSocketChannel ? shared.tcpOptions().keySet() : tcp.supportedOptions();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        // Those that race are not in blocking mode whatever the program wants.
        if (race == null) {
            actual.configureBlocking(block);
        }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        keys.close();
        Race running = race;
        if (running != null && running.abandon()) {
            shared.connector().forget(running);
        }
        tcp.close();
        actual.close();
        if (running != null) {
            Race.Outcome outcome = running.outcome();
            if (outcome != null && outcome.winner() != null) {
                outcome.winner().close();
            }
        }
    }

    @Override
    public Selectable current() {
        return source;
    }

    @Override
    public int file() throws IOException {
        return source.file();
    }

    @Override
    public int readyOps() {
        return source.readyOps();
    }

    @Override
    public ChannelKeys keys() {
        return keys;
    }

    @Override
    public String toString() {
        return race != null ? "java.nio.channels.SocketChannel[connection-pending remote=" + remote + "]"
                : actual.toString();
    }

    /** A channel of which nobody knows yet what it will be. */
    private record Racing(Race race) implements Selectable {
        @Override
        public int file() {
            return -1;
        }

        @Override
        public int readyOps() {
            Race.Outcome outcome = race.outcome();
            return outcome == null ? 0 : outcome.failure() == null ? SelectionKey.OP_CONNECT
                    : SelectionKey.OP_CONNECT | SelectionKey.OP_READ | SelectionKey.OP_WRITE;
        }

        @Override
        public ChannelKeys keys() {
            throw new IllegalStateException("they are those of the channel");
        }
    }
}
