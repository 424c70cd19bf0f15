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
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
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

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SocketChannel} over an {@link RdmaStream}, which is opened when it is needed, because its settings are fixed
 * then. Whatever may take an event of the stream ends with {@link ChannelKeys#touch}.
 */
final class RdmaSocketChannel extends SocketChannel implements Selectable {
    private static final Duration FOREVER = Deadline.FOREVER;

    private enum State { UNCONNECTED, PENDING, CONNECTED }

    private final @Nullable ProtocolFamily family;
    private final ChannelOptions options;
    private final ChannelKeys keys = new ChannelKeys();
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
        this.remote = stream.peerAddress();
        this.bound = true;
        this.state = State.CONNECTED;
    }

    @Override
    public SocketChannel bind(SocketAddress local) throws IOException {
        synchronized (lock) {
            Causes.requireOpen(this);
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
                throw Causes.ofBind(e, address);
            }
            bound = true;
            return this;
        }
    }

    /** Returns the stream, which is opened if necessary. The lock is held, and the channel is open. */
    private RdmaStream stream() throws IOException {
        if (stream == null) {
            stream = RdmaStream.open(options.fix());
        }
        return stream;
    }

    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        return connect(remote, isBlocking() ? FOREVER : null);
    }

    /** Connects: without waiting if the timeout is null. */
    boolean connect(SocketAddress peer, @Nullable Duration timeout) throws IOException {
        InetSocketAddress address = Addresses.require(peer, family);
        RdmaStream connecting;
        synchronized (lock) {
            Causes.requireOpen(this);
            if (state == State.CONNECTED) {
                throw new AlreadyConnectedException();
            }
            if (state == State.PENDING) {
                throw new ConnectionPendingException();
            }
            if (timeout != null) {
                Causes.requireNotInterrupted(this);
            }
            connecting = streamToConnect(address);
            state = State.PENDING;
            remote = address;
        }
        return finish(connecting, timeout, true);
    }

    private RdmaStream streamToConnect(InetSocketAddress address) throws IOException {
        try {
            return stream();
        } catch (IOException e) {
            close();
            throw Causes.ofConnect(e, address);
        }
    }

    @Override
    public boolean finishConnect() throws IOException {
        Causes.requireOpen(this);
        boolean waits = isBlocking();
        if (state == State.CONNECTED) {
            return true;
        }
        if (state == State.UNCONNECTED) {
            throw new NoConnectionPendingException();
        }
        if (waits) {
            Causes.requireNotInterrupted(this);
        }
        return finish(stream, waits ? FOREVER : null, false);
    }

    /** Starts or carries on with a connect; closes the channel if it fails. */
    private boolean finish(RdmaStream connecting, @Nullable Duration timeout, boolean start) throws IOException {
        boolean failed = true;
        try {
            if (start) {
                connecting.startConnect(remote);
            }
            boolean connected = timeout == null ? !start && connecting.finishConnect()
                    : waitUntilConnected(connecting, timeout);
            if (connected) {
                synchronized (lock) {
                    Causes.requireOpen(this);
                    bound = true;
                    state = State.CONNECTED;
                }
            } else if (start) {
                Thread.ofVirtual().name("rdmacm-nio-connect").start(() -> carryOn(connecting));
            }
            failed = false;
            return connected;
        } catch (RdmaException e) {
            throw isOpen() ? Causes.ofConnect(e, remote) : Causes.of(this, e);
        } catch (IllegalStateException | InterruptedException e) {
            throw Causes.of(this, e);
        } finally {
            if (failed) {
                close();
            }
            keys.renew();
        }
    }

    private static boolean waitUntilConnected(RdmaStream connecting, Duration timeout)
            throws RdmaException, InterruptedException {
        connecting.finishConnect(timeout);
        return true;
    }

    /** Carries on with a connect while the program does something else, as the kernel does for TCP. */
    private void carryOn(RdmaStream connecting) {
        try {
            connecting.await(RdmaStream.CONNECTED | RdmaStream.ENDED, FOREVER);
        } catch (RdmaException | IllegalStateException e) {
            // The program learns of it by finishConnect(), unless it has closed the channel.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            keys.renew();
        }
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
        Causes.requireOpen(this);
        if (state != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
        return stream;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        return read(target, isBlocking() ? FOREVER : null);
    }

    /** Reads: without waiting if the timeout is null. */
    int read(ByteBuffer target, @Nullable Duration timeout) throws IOException {
        Objects.requireNonNull(target, "target");
        RdmaStream connected = connected();
        if (inputEnded) {
            return -1;
        }
        try {
            if (timeout == null) {
                return connected.read(target);
            }
            Causes.requireNotInterrupted(this);
            return connected.read(target, timeout);
        } catch (RdmaTimeoutException e) {
            throw Causes.timedOut("Read timed out", e);
        } catch (IOException | IllegalStateException | InterruptedException e) {
            throw Causes.of(this, e);
        } finally {
            keys.touch();
        }
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        RdmaStream connected = connected();
        if (inputEnded) {
            return -1;
        }
        boolean waits = isBlocking();
        try {
            if (waits) {
                Causes.requireNotInterrupted(this);
            }
            long bytes = connected.read(targets, offset, length);
            while (bytes == 0 && waits && hasRemaining(targets, offset, length)) {
                connected.await(RdmaStream.READABLE, FOREVER);
                bytes = connected.read(targets, offset, length);
            }
            return bytes;
        } catch (IOException | IllegalStateException | InterruptedException e) {
            throw Causes.of(this, e);
        } finally {
            keys.touch();
        }
    }

    private static boolean hasRemaining(ByteBuffer[] buffers, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (buffers[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source, "source");
        RdmaStream connected = connectedForOutput();
        try {
            if (!isBlocking()) {
                return connected.write(source);
            }
            Causes.requireNotInterrupted(this);
            int length = source.remaining();
            connected.write(source, FOREVER);
            return length;
        } catch (IOException | IllegalStateException | InterruptedException e) {
            throw Causes.of(this, e);
        } finally {
            keys.touch();
        }
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        RdmaStream connected = connectedForOutput();
        boolean waits = isBlocking();
        try {
            if (waits) {
                Causes.requireNotInterrupted(this);
            }
            long bytes = connected.write(sources, offset, length);
            while (waits && hasRemaining(sources, offset, length)) {
                connected.await(RdmaStream.WRITABLE, FOREVER);
                bytes += connected.write(sources, offset, length);
            }
            return bytes;
        } catch (IOException | IllegalStateException | InterruptedException e) {
            throw Causes.of(this, e);
        } finally {
            keys.touch();
        }
    }

    private RdmaStream connectedForOutput() throws ClosedChannelException {
        RdmaStream connected = connected();
        if (outputEnded) {
            throw new ClosedChannelException();
        }
        return connected;
    }

    @Override
    public SocketChannel shutdownInput() throws IOException {
        synchronized (lock) {
            RdmaStream connected = connected();
            if (!inputEnded) {
                try {
                    connected.shutdownInput();
                } catch (RdmaException | IllegalStateException e) {
                    throw Causes.of(this, e);
                }
                inputEnded = true;
            }
        }
        keys.touch();
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        synchronized (lock) {
            RdmaStream connected = connected();
            if (!outputEnded) {
                try {
                    connected.shutdownOutput();
                } catch (RdmaException | IllegalStateException e) {
                    throw Causes.of(this, e);
                }
                outputEnded = true;
            }
        }
        keys.touch();
        return this;
    }

    boolean isInputEnded() {
        return inputEnded;
    }

    boolean isOutputEnded() {
        return outputEnded;
    }

    boolean isBound() {
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
        Causes.requireOpen(this);
        return localAddress();
    }

    /** Returns the local address, also of a closed channel; null if it is not bound. */
    @Nullable InetSocketAddress localAddress() {
        return bound ? stream.localAddress() : null;
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        Causes.requireOpen(this);
        return remoteAddress();
    }

    /** Returns the address of the peer, also of a closed channel; null if it is not connected. */
    @Nullable InetSocketAddress remoteAddress() {
        return state == State.CONNECTED ? remote : null;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        Objects.requireNonNull(name, "name");
        Causes.requireOpen(this);
        options.set(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        Objects.requireNonNull(name, "name");
        Causes.requireOpen(this);
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
        RdmaStream open;
        synchronized (lock) {
            open = stream;
        }
        keys.close();
        if (open != null) {
            int seconds = options.linger();
            var closing = open.closeAsync();
            if (seconds > 0 && isBlocking()) {
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
        return open == null || state == State.UNCONNECTED ? -1 : open.fd();
    }

    @Override
    public boolean isArmedBySelector() {
        return false;
    }

    @Override
    public int readyOps() {
        State now = state;
        if (now == State.UNCONNECTED || !isOpen()) {
            return 0;
        }
        int ready = stream.poll();
        if (now == State.PENDING) {
            return (ready & (RdmaStream.CONNECTED | RdmaStream.ENDED)) != 0 ? SelectionKey.OP_CONNECT : 0;
        }
        return ((ready & RdmaStream.READABLE) != 0 || inputEnded ? SelectionKey.OP_READ : 0)
                | ((ready & RdmaStream.WRITABLE) != 0 || outputEnded ? SelectionKey.OP_WRITE : 0);
    }

    @Override
    public boolean arm() throws IOException {
        RdmaStream open = stream;
        if (open == null || state == State.UNCONNECTED || !isOpen()) {
            // Nothing can happen; whoever connects it touches the keys.
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
