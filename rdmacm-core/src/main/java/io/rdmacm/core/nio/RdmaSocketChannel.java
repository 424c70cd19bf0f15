// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.internal.engine.BackgroundTask;
import io.rdmacm.core.internal.nio.ChannelExceptions;
import io.rdmacm.core.internal.nio.ChannelKeys;
import io.rdmacm.core.internal.nio.SocketView;
import io.rdmacm.core.internal.nio.TimedSocketChannel;
import io.rdmacm.core.internal.sockets.SocketExceptions;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SocketChannel} over an {@link RdmaStream}, which is opened when it is needed, because its settings are fixed
 * then. Whatever may take an event of the stream ends with {@link ChannelKeys#recheck}.
 */
final class RdmaSocketChannel extends TimedSocketChannel {
    private static final StreamAccess STREAMS = StreamAccess.get();
    private static final Duration FOREVER = Deadline.FOREVER;
    private static final int END = -1;

    private enum State { UNCONNECTED, PENDING, CONNECTED }

    private final @Nullable ProtocolFamily family;
    private final ChannelOptions options;
    private volatile ChannelKeys keys = new ChannelKeys();
    // Held for the whole of an operation that may wait, and both by connects and binds.
    private final MixedThreadsLock readLock = new MixedThreadsLock();
    private final MixedThreadsLock writeLock = new MixedThreadsLock();
    private final Object lock = new Object();
    // The fields below are written with the lock held.
    private volatile State state;
    @SuppressWarnings("NullAway.Init") // set when it is bound or connects
    private volatile RdmaStream stream;
    @SuppressWarnings("NullAway.Init") // set when it connects
    private volatile InetSocketAddress remote;
    private volatile boolean bound;
    private volatile boolean inputEnded;
    private volatile boolean outputEnded;
    private volatile boolean uninterruptible;
    private @Nullable Socket socket;

    /** A channel that is not connected; a family of null stands for both kinds of internet addresses. */
    RdmaSocketChannel(RdmaSelectorProvider provider, @Nullable ProtocolFamily family) {
        super(provider);
        this.family = family;
        this.options = new ChannelOptions(ChannelOptions.OF_SOCKETS, provider.settings(), false);
        this.state = State.UNCONNECTED;
    }

    /** A channel that was accepted. */
    @SuppressWarnings("NullAway") // an accepted stream has an address
    RdmaSocketChannel(RdmaSelectorProvider provider, RdmaStream stream) {
        super(provider);
        this.family = null;
        this.options = new ChannelOptions(ChannelOptions.OF_SOCKETS, stream.settings(), true);
        this.stream = stream;
        STREAMS.attach(stream, () -> keys.changed());
        this.remote = stream.peerAddress();
        this.bound = true;
        this.state = State.CONNECTED;
    }

    @Override
    public SocketChannel bind(SocketAddress local) throws IOException {
        lockBoth();
        try {
            synchronized (lock) {
                ChannelExceptions.requireOpen(this);
                if (state == State.PENDING) {
                    throw new ConnectionPendingException();
                }
                if (bound || state == State.CONNECTED) {
                    throw new AlreadyBoundException();
                }
                InetSocketAddress address = Addresses.requireLocal(local, family);
                try {
                    stream().bind(address);
                } catch (RdmaException e) {
                    throw SocketExceptions.ofBind(e, address);
                }
                bound = true;
                return this;
            }
        } finally {
            unlockBoth();
        }
    }

    /** Returns the stream, which is opened if necessary. The lock is held, and the channel is open. */
    private RdmaStream stream() throws RdmaException {
        if (stream == null) {
            stream = RdmaStream.open(options.fix());
            STREAMS.attach(stream, () -> keys.changed());
        }
        return stream;
    }

    private void lockBoth() {
        readLock.lock();
        writeLock.lock();
    }

    private void unlockBoth() {
        writeLock.unlock();
        readLock.unlock();
    }

    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        InetSocketAddress address = Addresses.require(remote, family);
        lockBoth();
        try {
            return connect(address, isBlocking() ? FOREVER : null);
        } finally {
            unlockBoth();
        }
    }

    @Override
    public void connect(SocketAddress remote, Duration timeout) throws IOException {
        InetSocketAddress address = Addresses.require(remote, family);
        lockBoth();
        try {
            requireBlocking();
            boolean ignored = connect(address, timeout);
        } finally {
            unlockBoth();
        }
    }

    private void requireBlocking() {
        if (!isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    /** Connects: without waiting if the timeout is null. */
    private boolean connect(InetSocketAddress address, @Nullable Duration timeout) throws IOException {
        ChannelExceptions.requireOpen(this);
        if (state == State.CONNECTED) {
            throw new AlreadyConnectedException();
        }
        if (state == State.PENDING) {
            throw new ConnectionPendingException();
        }
        if (timeout != null) {
            ChannelExceptions.requireNotInterrupted(this);
        }
        RdmaStream connecting;
        try {
            synchronized (lock) {
                ChannelExceptions.requireOpen(this);
                connecting = stream();
                state = State.PENDING;
                remote = address;
            }
        } catch (RdmaException e) {
            // Without the lock, which a close takes while it holds one of the JDK's.
            close();
            throw SocketExceptions.ofConnect(e, address);
        }
        return finish(connecting, timeout, true);
    }

    @Override
    public boolean finishConnect() throws IOException {
        lockBoth();
        try {
            ChannelExceptions.requireOpen(this);
            boolean waits = isBlocking();
            if (state == State.CONNECTED) {
                return true;
            }
            if (state == State.UNCONNECTED) {
                throw new NoConnectionPendingException();
            }
            if (waits) {
                ChannelExceptions.requireNotInterrupted(this);
            }
            return finish(stream, waits ? FOREVER : null, false);
        } finally {
            unlockBoth();
        }
    }

    /** Starts or carries on with a connect; closes the channel if it fails. */
    private boolean finish(RdmaStream connecting, @Nullable Duration timeout, boolean start) throws IOException {
        boolean failed = true;
        Deadline deadline = Deadline.after(timeout == null ? FOREVER : timeout);
        try {
            if (start) {
                connecting.startConnect(remote);
            }
            boolean connected = timeout == null ? !start && connecting.finishConnect()
                    : waitUntilConnected(connecting, timeout);
            if (connected) {
                synchronized (lock) {
                    ChannelExceptions.requireOpen(this);
                    remote = Objects.requireNonNull(connecting.peerAddress());
                    bound = true;
                    state = State.CONNECTED;
                }
            }
            failed = false;
            return connected;
        } catch (RdmaTimeoutException e) {
            throw !isOpen() ? ChannelExceptions.of(this, e) : deadline.hasPassed()
                    ? SocketExceptions.timedOut("Connect timed out", e) : SocketExceptions.ofConnect(e, remote);
        } catch (RdmaException e) {
            throw isOpen() ? SocketExceptions.ofConnect(e, remote) : ChannelExceptions.of(this, e);
        } catch (IllegalStateException | InterruptedException e) {
            throw ChannelExceptions.of(this, e);
        } finally {
            if (failed) {
                close();
            }
            keys.changed();
        }
    }

    private static boolean waitUntilConnected(RdmaStream connecting, Duration timeout)
            throws RdmaException, InterruptedException {
        connecting.finishConnect(timeout);
        return true;
    }

    @Override
    public boolean isConnected() {
        return state == State.CONNECTED && isOpen();
    }

    @Override
    public boolean isConnectionPending() {
        return state == State.PENDING && isOpen();
    }

    private RdmaStream connected() throws ClosedChannelException {
        ChannelExceptions.requireOpen(this);
        if (state != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
        return stream;
    }

    /**
     * Begins an operation. In blocking mode, others of its kind wait until it is done, however often it waits for the
     * peer: what one thread writes stays together. Otherwise the stream sees to that, because nothing waits. Returns
     * whether the channel is in blocking mode.
     */
    private boolean begin(MixedThreadsLock side) {
        boolean waits = isBlocking();
        if (waits) {
            side.lock();
        }
        return waits;
    }

    private static void end(MixedThreadsLock side, boolean waits) {
        if (waits) {
            side.unlock();
        }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        Objects.requireNonNull(target, "target");
        boolean waits = begin(readLock);
        try {
            return read(target, waits ? FOREVER : null);
        } finally {
            end(readLock, waits);
        }
    }

    @Override
    public int readWithin(ByteBuffer target, Duration timeout) throws IOException {
        readLock.lock();
        try {
            RdmaStream ignored = connected();
            requireBlocking();
            return read(target, timeout);
        } finally {
            readLock.unlock();
        }
    }

    /** Reads: without waiting if the timeout is null. */
    private int read(ByteBuffer target, @Nullable Duration timeout) throws IOException {
        RdmaStream connected = connected();
        try {
            if (timeout != null && isInterruptible()) {
                ChannelExceptions.requireNotInterrupted(this);
            }
            if (inputEnded) {
                return END;
            }
            return timeout == null ? connected.read(target) : await(() -> connected.read(target, timeout));
        } catch (DisconnectedException e) {
            return END;
        } catch (RdmaTimeoutException e) {
            throw SocketExceptions.timedOut("Read timed out", e);
        } catch (IOException | IllegalStateException | InterruptedException e) {
            throw ChannelExceptions.of(this, e);
        } finally {
            keys.recheck();
        }
    }

    /** An operation of the stream that waits, and can go on after an interrupt. */
    private interface Waiting {
        int run() throws RdmaException, InterruptedException;
    }

    private boolean isInterruptible() {
        return !uninterruptible || Thread.currentThread().isVirtual();
    }

    /** Waits; the thread of a socket without a channel learns afterwards that it was interrupted. */
    private int await(Waiting operation) throws RdmaException, InterruptedException {
        if (isInterruptible()) {
            return operation.run();
        }
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return operation.run();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void ignoreInterrupts() {
        uninterruptible = true;
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        boolean waits = begin(readLock);
        try {
            RdmaStream connected = connected();
            try {
                if (waits) {
                    ChannelExceptions.requireNotInterrupted(this);
                }
                if (inputEnded) {
                    return END;
                }
                return waits ? connected.read(targets, offset, length, FOREVER)
                        : connected.read(targets, offset, length);
            } catch (DisconnectedException e) {
                return END;
            } catch (IOException | IllegalStateException | InterruptedException e) {
                throw ChannelExceptions.of(this, e);
            } finally {
                keys.recheck();
            }
        } finally {
            end(readLock, waits);
        }
    }

    @Override
    public int available() throws IOException {
        RdmaStream connected = connected();
        try {
            return inputEnded ? 0 : connected.available();
        } catch (IOException | IllegalStateException e) {
            throw ChannelExceptions.of(this, e);
        } finally {
            keys.recheck();
        }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source, "source");
        boolean waits = begin(writeLock);
        try {
            return write(source, waits);
        } finally {
            end(writeLock, waits);
        }
    }

    @Override
    public void writeAll(ByteBuffer source) throws IOException {
        writeLock.lock();
        try {
            RdmaStream ignored = connected();
            requireBlocking();
            int length = write(source, true);
        } finally {
            writeLock.unlock();
        }
    }

    private int write(ByteBuffer source, boolean waits) throws IOException {
        RdmaStream connected = connectedForOutput();
        try {
            if (waits && isInterruptible()) {
                ChannelExceptions.requireNotInterrupted(this);
            }
            int length = source.remaining();
            if (length == 0 || !waits) {
                // The stream would say that the peer has closed, where those of the JDK say nothing.
                return length == 0 ? 0 : connected.write(source);
            }
            return await(() -> {
                connected.write(source, FOREVER);
                return length;
            });
        } catch (IOException | IllegalStateException | InterruptedException e) {
            throw writeFailure(e);
        } finally {
            keys.recheck();
        }
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        boolean waits = begin(writeLock);
        try {
            RdmaStream connected = connectedForOutput();
            try {
                if (waits) {
                    ChannelExceptions.requireNotInterrupted(this);
                }
                long bytes = 0;
                for (int i = offset; i < offset + length; i++) {
                    bytes += sources[i].remaining();
                }
                if (bytes == 0 || !waits) {
                    return bytes == 0 ? 0 : connected.write(sources, offset, length);
                }
                connected.write(sources, offset, length, FOREVER);
                return bytes;
            } catch (IOException | IllegalStateException | InterruptedException e) {
                throw writeFailure(e);
            } finally {
                keys.recheck();
            }
        } finally {
            end(writeLock, waits);
        }
    }

    private RdmaStream connectedForOutput() throws ClosedChannelException {
        RdmaStream connected = connected();
        if (outputEnded) {
            throw new ClosedChannelException();
        }
        return connected;
    }

    private IOException writeFailure(Exception failure) throws IOException {
        // Another thread has ended the output since the write began.
        return isOpen() && outputEnded && !(failure instanceof InterruptedException)
                ? new AsynchronousCloseException() : ChannelExceptions.of(this, failure);
    }

    @Override
    public SocketChannel shutdownInput() throws IOException {
        synchronized (lock) {
            RdmaStream connected = connected();
            if (!inputEnded) {
                // Before, so that a thread that is woken in a read sees it.
                inputEnded = true;
                try {
                    connected.shutdownInput();
                } catch (RdmaException | IllegalStateException e) {
                    throw ChannelExceptions.of(this, e);
                }
            }
        }
        keys.recheck();
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        synchronized (lock) {
            RdmaStream connected = connected();
            if (!outputEnded) {
                // Before, so that a thread that is woken in a write knows why.
                outputEnded = true;
                try {
                    connected.shutdownOutput();
                } catch (RdmaException | IllegalStateException e) {
                    throw ChannelExceptions.of(this, e);
                }
            }
        }
        keys.recheck();
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
        return bound;
    }

    @Override
    public Socket socket() {
        synchronized (lock) {
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
        return bound ? stream.localAddress() : null;
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        ChannelExceptions.requireOpen(this);
        return remoteAddress();
    }

    @Override
    public @Nullable InetSocketAddress remoteAddress() {
        return state == State.CONNECTED ? remote : null;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        Objects.requireNonNull(name, "name");
        synchronized (lock) {
            ChannelExceptions.requireOpen(this);
            options.set(name, value);
            if (stream != null) {
                stream.keepAlive(options.keepAlive());
            }
        }
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
        // Operations ask when they begin; those that wait go on as they began.
        lockBoth();
        unlockBoth();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        RdmaStream open;
        synchronized (lock) {
            open = stream;
        }
        keys.close();
        if (open != null) {
            int seconds = options.linger();
            var closing = open.closeAsync();
            if (seconds > 0 && isBlocking() && !BackgroundTask.isCurrentThread()) {
                try {
                    closing.get(seconds, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                } catch (TimeoutException e) {
                    // It goes on in the background.
                    return;
                } catch (ExecutionException e) {
                    Throwable cause = Objects.requireNonNull(e.getCause());
                    throw new SocketException(cause.getMessage(), cause);
                }
            }
        }
    }

    @Override
    public int file() throws IOException {
        RdmaStream open = stream;
        return open == null || state == State.UNCONNECTED ? -1 : STREAMS.file(open);
    }

    @Override
    public int readyOps() {
        State now = state;
        if (!isOpen()) {
            return 0;
        }
        if (now == State.UNCONNECTED) {
            // As with TCP: no operation would wait, each would throw NotYetConnectedException.
            return validOps();
        }
        int ready = stream.poll();
        if (now == State.PENDING) {
            return (ready & RdmaStream.ENDED) != 0 ? validOps()
                    : (ready & RdmaStream.CONNECTED) != 0 ? SelectionKey.OP_CONNECT : 0;
        }
        return ((ready & RdmaStream.READABLE) != 0 || inputEnded ? SelectionKey.OP_READ : 0)
                | ((ready & RdmaStream.WRITABLE) != 0 || outputEnded ? SelectionKey.OP_WRITE : 0);
    }

    @Override
    public boolean arm() throws IOException {
        RdmaStream open = stream;
        if (open == null || state == State.UNCONNECTED || !isOpen()) {
            // Nothing can happen; whoever connects it tells the keys.
            return true;
        }
        try {
            return open.arm();
        } catch (RdmaException | IllegalStateException e) {
            if (isOpen()) {
                throw e;
            }
            return true;
        }
    }

    @Override
    public ChannelKeys keys() {
        return keys;
    }

    @Override
    public void share(ChannelKeys shared) {
        keys = shared;
    }

    @Override
    public String toString() {
        String what = !isOpen() ? "closed" : switch (state) {
            case UNCONNECTED -> "unconnected";
            case PENDING -> "connection-pending";
            case CONNECTED -> "connected";
        };
        return "java.nio.channels.SocketChannel over RDMA[" + what + (inputEnded ? " ishut" : "")
                + (outputEnded ? " oshut" : "") + (bound ? " local=" + localAddress() : "")
                + (remoteAddress() == null ? "" : " remote=" + remoteAddress()) + "]";
    }
}
