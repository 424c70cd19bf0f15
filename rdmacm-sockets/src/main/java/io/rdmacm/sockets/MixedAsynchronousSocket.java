// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.InterruptedByTimeoutException;
import java.nio.channels.ReadPendingException;
import java.nio.channels.WritePendingException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.rdmacm.core.internal.nio.TimedSocketChannel;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous channel that becomes one over RDMA when it connects, or stays one of the JDK. Each operation over
 * RDMA waits in a virtual thread. There is no race here: what does not answer over RDMA in time is reached over TCP.
 */
final class MixedAsynchronousSocket extends AsynchronousSocketChannel {
    private final Shared shared;
    private final MixedGroup group;
    // Null if it was accepted over RDMA.
    private final @Nullable AsynchronousSocketChannel tcp;
    private final Options options;
    private final Side input = new Side(ReadPendingException::new, "Reading");
    private final Side output = new Side(WritePendingException::new, "Writing");
    private final Object lock = new Object();
    // Written with the lock held.
    private @Nullable TimedSocketChannel connecting;
    // From then on, the channel of the JDK says what is wrong.
    private boolean overTcp;
    private volatile @Nullable TimedSocketChannel rdma;
    private volatile boolean closed;

    /** A channel that is not connected. */
    MixedAsynchronousSocket(Shared shared, AsynchronousChannelProvider jdk, MixedGroup group) throws IOException {
        super(group.provider());
        this.shared = shared;
        this.group = group;
        this.options = new Options(shared.tcpOptions());
        this.tcp = jdk.openAsynchronousSocketChannel(group.tcp());
    }

    /** A channel that was accepted over RDMA. */
    MixedAsynchronousSocket(Shared shared, MixedGroup group, TimedSocketChannel accepted) {
        super(group.provider());
        this.shared = shared;
        this.group = group;
        this.options = new Options(shared.tcpOptions());
        this.tcp = null;
        this.rdma = accepted;
        group.add(this);
    }

    /** What is done in a thread that may wait. */
    private interface Operation<T extends @Nullable Object> {
        T run() throws IOException;
    }

    /** One direction of a connection over RDMA: of one operation at a time. */
    private static final class Side {
        private final Supplier<? extends RuntimeException> pending;
        private final String name;
        private final AtomicBoolean busy = new AtomicBoolean();
        private volatile boolean given;

        Side(Supplier<? extends RuntimeException> pending, String name) {
            this.pending = pending;
            this.name = name;
        }

        void begin() {
            if (given) {
                throw new IllegalStateException(name + " not allowed due to timeout or cancellation");
            }
            if (!busy.compareAndSet(false, true)) {
                throw pending.get();
            }
        }

        void end() {
            busy.set(false);
        }

        /** Nobody waits for the operation any more, and nobody knows how far it has come. */
        void giveUp() {
            given = true;
        }
    }

    private <T extends @Nullable Object> CompletableFuture<T> begin(Side side, long timeout, TimeUnit unit,
            Operation<T> operation) {
        side.begin();
        boolean begunClosed = closed;
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofVirtual().name("rdmacm-sockets").start(() -> {
            try {
                T value = operation.run();
                side.end();
                result.complete(value);
            } catch (ClosedChannelException e) {
                side.end();
                // It may have been closed before this thread came to run.
                result.completeExceptionally(closed && !begunClosed ? new AsynchronousCloseException() : e);
            } catch (Throwable e) {
                side.end();
                result.completeExceptionally(e);
            }
        });
        if (timeout > 0) {
            CompletableFuture<@Nullable Void> alarm = new CompletableFuture<@Nullable Void>()
                    .completeOnTimeout(null, timeout, unit);
            alarm.thenRun(() -> {
                side.giveUp();
                result.completeExceptionally(new InterruptedByTimeoutException());
            });
            result.whenComplete((_, _) -> alarm.cancel(false));
        }
        result.whenComplete((_, _) -> {
            if (result.isCancelled()) {
                side.giveUp();
            }
        });
        return result;
    }

    private <T extends @Nullable Object, A> void report(CompletableFuture<T> future, A attachment,
            CompletionHandler<T, ? super A> handler) {
        future.whenComplete((value, failure) -> group.complete(handler, attachment, value, failure));
    }

    /** Returns what completes a future. */
    private static <T extends @Nullable Object> CompletionHandler<T, CompletableFuture<T>> completing() {
        return new CompletionHandler<>() {
            @Override
            public void completed(T result, CompletableFuture<T> future) {
                future.complete(result);
            }

            @Override
            public void failed(Throwable failure, CompletableFuture<T> future) {
                future.completeExceptionally(failure);
            }
        };
    }

    private AsynchronousSocketChannel tcp() {
        return Objects.requireNonNull(tcp);
    }

    @Override
    public AsynchronousSocketChannel bind(SocketAddress local) throws IOException {
        synchronized (lock) {
            if (connecting != null) {
                throw new ConnectionPendingException();
            }
        }
        if (rdma != null) {
            boolean ignored = requireOpen(rdma).bind(local).isOpen();
        } else {
            tcp().bind(local);
        }
        return this;
    }

    private TimedSocketChannel requireOpen(TimedSocketChannel channel) throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
        return channel;
    }

    @Override
    public Future<Void> connect(SocketAddress remote) {
        CompletableFuture<Void> future = new CompletableFuture<>();
        connect(remote, future, completing());
        return future;
    }

    @Override
    public <A> void connect(SocketAddress remote, A attachment, CompletionHandler<Void, ? super A> handler) {
        Objects.requireNonNull(handler, "handler");
        Choice.Decision decision = shared.choice().toConnect(remote);
        synchronized (lock) {
            if (connecting != null) {
                throw new ConnectionPendingException();
            }
            if (rdma != null) {
                throw new AlreadyConnectedException();
            }
            if (!decision.isTcp() && !closed && !overTcp) {
                TimedSocketChannel channel = (TimedSocketChannel) shared.rdma().openSocketChannel();
                connecting = channel;
                Thread.ofVirtual().name("rdmacm-sockets").start(
                        () -> connect(channel, (InetSocketAddress) remote, decision, attachment, handler));
                return;
            }
            overTcp = true;
        }
        connectTcp(remote, decision.reason(), attachment, handler);
    }

    private <A> void connectTcp(SocketAddress remote, String reason, A attachment,
            CompletionHandler<Void, ? super A> handler) {
        tcp().connect(remote, attachment, new CompletionHandler<Void, A>() {
            @Override
            public void completed(Void result, A given) {
                count(false, reason);
                handler.completed(result, given);
            }

            @Override
            public void failed(Throwable failure, A given) {
                handler.failed(failure, given);
            }
        });
    }

    private void count(boolean overRdma, String reason) {
        try {
            shared.connections().add(Connections.Kind.CONNECT, overRdma, getLocalAddress(), getRemoteAddress(), reason);
        } catch (IOException e) {
            // It was closed already.
            return;
        }
    }

    /** Connects over RDMA, and over TCP if that fails. */
    private <A> void connect(TimedSocketChannel channel, InetSocketAddress remote, Choice.Decision decision,
            A attachment, CompletionHandler<Void, ? super A> handler) {
        Throwable failure = tryRdma(channel, remote, decision);
        if (failure == null) {
            count(true, decision.reason());
        } else if (!closed && !decision.isRdmaOnly()) {
            String reason = "RDMA failed: " + failure.getMessage();
            shared.choice().failed(remote, reason);
            try {
                connectTcp(remote, reason, attachment, handler);
                return;
            } catch (RuntimeException e) {
                failure = e;
            }
        }
        if (failure != null) {
            failure = closed ? new AsynchronousCloseException() : failure;
            closeQuietly();
        }
        complete(attachment, handler, failure);
    }

    @SuppressWarnings("NullAway") // the result of a connect is null
    private <A> void complete(A attachment, CompletionHandler<Void, ? super A> handler, @Nullable Throwable failure) {
        group.complete(handler, attachment, null, failure);
    }

    private @Nullable Throwable tryRdma(TimedSocketChannel channel, InetSocketAddress remote,
            Choice.Decision decision) {
        try {
            options.applyTo(channel);
            SocketAddress local = tcp().getLocalAddress();
            if (local != null) {
                channel.bind(local);
            }
            channel.connect(remote, decision.isRdmaOnly() ? Deadline.FOREVER
                    : shared.choice().beside(Deadline.FOREVER));
            synchronized (lock) {
                if (closed) {
                    throw new AsynchronousCloseException();
                }
                rdma = channel;
                connecting = null;
                group.add(this);
            }
            tcp().close();
            return null;
        } catch (IOException | RuntimeException | LinkageError e) {
            synchronized (lock) {
                connecting = null;
                overTcp = true;
            }
            try {
                channel.close();
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            return e;
        }
    }

    private void closeQuietly() {
        try {
            close();
        } catch (IOException e) {
            // The failure that led to it is what counts.
            return;
        }
    }

    @Override
    public <A> void read(ByteBuffer target, long timeout, TimeUnit unit, A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        TimedSocketChannel channel = rdma;
        if (channel == null) {
            tcp().read(target, timeout, unit, attachment, handler);
        } else {
            Objects.requireNonNull(handler, "handler");
            report(read(channel, target, timeout, unit), attachment, handler);
        }
    }

    @Override
    public Future<Integer> read(ByteBuffer target) {
        TimedSocketChannel channel = rdma;
        return channel == null ? tcp().read(target) : read(channel, target, 0, TimeUnit.NANOSECONDS);
    }

    private CompletableFuture<Integer> read(TimedSocketChannel channel, ByteBuffer target, long timeout,
            TimeUnit unit) {
        requireWritable(target);
        return begin(input, timeout, unit, () -> target.hasRemaining() ? channel.read(target) : 0);
    }

    private static void requireWritable(ByteBuffer target) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    @Override
    public <A> void read(ByteBuffer[] targets, int offset, int length, long timeout, TimeUnit unit, A attachment,
            CompletionHandler<Long, ? super A> handler) {
        TimedSocketChannel channel = rdma;
        if (channel == null) {
            tcp().read(targets, offset, length, timeout, unit, attachment, handler);
            return;
        }
        Objects.requireNonNull(handler, "handler");
        ByteBuffer[] own = part(targets, offset, length);
        for (ByteBuffer target : own) {
            requireWritable(target);
        }
        report(begin(input, timeout, unit, () -> hasRemaining(own) ? channel.read(own) : 0L), attachment, handler);
    }

    @Override
    public <A> void write(ByteBuffer source, long timeout, TimeUnit unit, A attachment,
            CompletionHandler<Integer, ? super A> handler) {
        TimedSocketChannel channel = rdma;
        if (channel == null) {
            tcp().write(source, timeout, unit, attachment, handler);
        } else {
            Objects.requireNonNull(handler, "handler");
            Objects.requireNonNull(source, "source");
            report(begin(output, timeout, unit, () -> channel.write(source)), attachment, handler);
        }
    }

    @Override
    public Future<Integer> write(ByteBuffer source) {
        TimedSocketChannel channel = rdma;
        Objects.requireNonNull(source, "source");
        return channel == null ? tcp().write(source)
                : begin(output, 0, TimeUnit.NANOSECONDS, () -> channel.write(source));
    }

    @Override
    public <A> void write(ByteBuffer[] sources, int offset, int length, long timeout, TimeUnit unit, A attachment,
            CompletionHandler<Long, ? super A> handler) {
        TimedSocketChannel channel = rdma;
        if (channel == null) {
            tcp().write(sources, offset, length, timeout, unit, attachment, handler);
            return;
        }
        Objects.requireNonNull(handler, "handler");
        ByteBuffer[] own = part(sources, offset, length);
        report(begin(output, timeout, unit, () -> channel.write(own)), attachment, handler);
    }

    /** Returns those that are to be filled or written: the program may change the array meanwhile. */
    private static ByteBuffer[] part(ByteBuffer[] buffers, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, buffers.length);
        return Arrays.copyOfRange(buffers, offset, offset + length);
    }

    private static boolean hasRemaining(ByteBuffer[] buffers) {
        for (ByteBuffer buffer : buffers) {
            if (buffer.hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public AsynchronousSocketChannel shutdownInput() throws IOException {
        TimedSocketChannel channel = rdma;
        if (channel == null) {
            tcp().shutdownInput();
        } else {
            channel.shutdownInput();
        }
        return this;
    }

    @Override
    public AsynchronousSocketChannel shutdownOutput() throws IOException {
        TimedSocketChannel channel = rdma;
        if (channel == null) {
            tcp().shutdownOutput();
        } else {
            channel.shutdownOutput();
        }
        return this;
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        TimedSocketChannel channel = rdma;
        return channel == null ? tcp().getLocalAddress() : channel.getLocalAddress();
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        TimedSocketChannel channel = rdma;
        return channel == null ? tcp().getRemoteAddress() : channel.getRemoteAddress();
    }

    @Override
    public <T> AsynchronousSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        TimedSocketChannel channel = rdma;
        if (channel == null) {
            tcp().setOption(name, value);
            options.put(name, value);
        } else {
            options.set(requireOpen(channel), name, value);
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        TimedSocketChannel channel = rdma;
        return channel == null ? tcp().getOption(name) : options.get(requireOpen(channel), name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return tcp == null ? shared.tcpOptions().keySet() : tcp.supportedOptions();
    }

    @Override
    public boolean isOpen() {
        return !closed && (rdma != null || tcp().isOpen());
    }

    @Override
    public void close() throws IOException {
        TimedSocketChannel channel;
        synchronized (lock) {
            closed = true;
            channel = rdma == null ? connecting : rdma;
        }
        if (channel != null) {
            channel.close();
        }
        if (tcp != null) {
            tcp.close();
        }
        // Last, because it may be the end of the group.
        group.remove(this);
    }

    @Override
    public String toString() {
        TimedSocketChannel channel = rdma;
        return channel == null ? tcp().toString() : channel.toString();
    }
}
