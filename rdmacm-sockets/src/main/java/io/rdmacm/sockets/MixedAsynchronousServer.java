// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.AcceptPendingException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.rdmacm.core.internal.nio.TimedServerSocketChannel;
import io.rdmacm.core.internal.nio.TimedSocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous server over TCP, and over RDMA as well when it is bound where clients may come from that way. What it
 * accepts over TCP are channels of the JDK.
 */
final class MixedAsynchronousServer extends AsynchronousServerSocketChannel {
    private final Shared shared;
    private final MixedGroup group;
    private final AsynchronousServerSocketChannel tcp;
    private final Options options = new Options(Map.of());
    private final Object lock = new Object();
    // Written with the lock held.
    private volatile @Nullable TimedServerSocketChannel rdma;
    private volatile boolean closed;
    // Guarded by the lock: what was accepted and not asked for yet, one of each kind at most; who has asked; and who
    // accepts.
    private final Deque<AsynchronousSocketChannel> accepted = new ArrayDeque<>();
    private @Nullable CompletableFuture<AsynchronousSocketChannel> pending;
    private boolean tcpAccepts;
    private boolean rdmaAccepts;

    MixedAsynchronousServer(Shared shared, AsynchronousChannelProvider jdk, MixedGroup group) throws IOException {
        super(group.provider());
        this.shared = shared;
        this.group = group;
        this.tcp = jdk.openAsynchronousServerSocketChannel(group.tcp());
    }

    @Override
    public AsynchronousServerSocketChannel bind(@Nullable SocketAddress local, int backlog) throws IOException {
        synchronized (lock) {
            if (rdma != null) {
                throw new AlreadyBoundException();
            }
            Choice.Decision decision = closed || tcp.getLocalAddress() != null
                    ? new Choice.Decision(Choice.Way.TCP, "") : shared.choice().toListen(local);
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
                    TimedServerSocketChannel opened =
                            (TimedServerSocketChannel) shared.rdma().openServerSocketChannel();
                    options.applyTo(opened);
                    return opened;
                }
            });
            rdma = listening.rdma();
            if (rdma != null) {
                group.add(this);
            }
            shared.connections().add(Connections.Kind.LISTEN, rdma != null, getLocalAddress(), null,
                    listening.reason());
        }
        return this;
    }

    @Override
    public <A> void accept(A attachment, CompletionHandler<AsynchronousSocketChannel, ? super A> handler) {
        Objects.requireNonNull(handler, "handler");
        if (rdma != null) {
            accept().whenComplete((channel, failure) -> group.complete(handler, attachment, channel, failure));
            return;
        }
        tcp.accept(attachment, new CompletionHandler<AsynchronousSocketChannel, A>() {
            @Override
            public void completed(AsynchronousSocketChannel channel, A given) {
                if (group.isShutdown()) {
                    handler.failed(refuse(channel), given);
                    return;
                }
                count(channel, false);
                handler.completed(channel, given);
            }

            @Override
            public void failed(Throwable failure, A given) {
                handler.failed(failure, given);
            }
        });
    }

    @Override
    public CompletableFuture<AsynchronousSocketChannel> accept() {
        CompletableFuture<AsynchronousSocketChannel> result = new CompletableFuture<>();
        TimedServerSocketChannel overRdma = rdma;
        if (overRdma == null) {
            accept(result, completing());
            return result;
        }
        AsynchronousSocketChannel ready;
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.failedFuture(new ClosedChannelException());
            }
            if (pending != null) {
                throw new AcceptPendingException();
            }
            ready = accepted.poll();
            if (ready == null) {
                pending = result;
            }
        }
        if (ready != null) {
            hand(ready, result);
        } else {
            acceptBoth(overRdma);
        }
        return result;
    }

    private CompletionHandler<AsynchronousSocketChannel, CompletableFuture<AsynchronousSocketChannel>>
            completing() {
        return new CompletionHandler<>() {
            @Override
            public void completed(AsynchronousSocketChannel channel,
                    CompletableFuture<AsynchronousSocketChannel> future) {
                hand(channel, future);
            }

            @Override
            public void failed(Throwable failure, CompletableFuture<AsynchronousSocketChannel> future) {
                future.completeExceptionally(failure);
            }
        };
    }

    /** Has both servers accept one client each, unless they are at it. */
    private void acceptBoth(TimedServerSocketChannel overRdma) {
        boolean startTcp;
        boolean startRdma;
        synchronized (lock) {
            startTcp = !tcpAccepts && isTcpBound();
            tcpAccepts |= startTcp;
            startRdma = !rdmaAccepts;
            rdmaAccepts = true;
        }
        if (startTcp) {
            tcp.accept(null, new CompletionHandler<AsynchronousSocketChannel, @Nullable Void>() {
                @Override
                public void completed(AsynchronousSocketChannel channel, @Nullable Void nothing) {
                    count(channel, false);
                    arrived(channel, false, null);
                }

                @Override
                public void failed(Throwable failure, @Nullable Void nothing) {
                    arrived(null, false, failure);
                }
            });
        }
        if (startRdma) {
            Thread.ofVirtual().name("rdmacm-sockets").start(() -> acceptRdma(overRdma));
        }
    }

    private boolean isTcpBound() {
        try {
            return tcp.getLocalAddress() != null;
        } catch (IOException e) {
            return false;
        }
    }

    private void acceptRdma(TimedServerSocketChannel overRdma) {
        try {
            TimedSocketChannel channel = Listening.accept(overRdma, isTcpBound());
            if (channel == null) {
                // It is closed, and so nobody is to ask it again.
                return;
            }
            MixedAsynchronousSocket socket = new MixedAsynchronousSocket(shared, group, channel);
            count(socket, true);
            arrived(socket, true, null);
        } catch (IOException | RuntimeException e) {
            arrived(null, true, e);
        }
    }

    /** A server has accepted a client, or failed to. */
    private void arrived(@Nullable AsynchronousSocketChannel channel, boolean overRdma, @Nullable Throwable failure) {
        CompletableFuture<AsynchronousSocketChannel> waiting;
        boolean late;
        synchronized (lock) {
            if (overRdma) {
                rdmaAccepts = false;
            } else {
                tcpAccepts = false;
            }
            waiting = pending;
            pending = null;
            late = closed;
            if (waiting == null && channel != null && !late) {
                accepted.add(channel);
            }
        }
        if (waiting == null && channel != null && late) {
            closeQuietly(channel);
        } else if (waiting != null && channel != null) {
            hand(channel, waiting);
        } else if (waiting != null) {
            waiting.completeExceptionally(late ? new AsynchronousCloseException()
                    : Objects.requireNonNull(failure));
        }
    }

    /** Completes an accept, or closes the channel if that was cancelled or the group is shut down. */
    private void hand(AsynchronousSocketChannel channel, CompletableFuture<AsynchronousSocketChannel> waiting) {
        if (group.isShutdown()) {
            waiting.completeExceptionally(refuse(channel));
        } else if (!waiting.complete(channel)) {
            closeQuietly(channel);
        }
    }

    private static IOException refuse(AsynchronousSocketChannel channel) {
        closeQuietly(channel);
        return new IOException(new ShutdownChannelGroupException());
    }

    private static void closeQuietly(AsynchronousSocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // Nobody knows of it.
            return;
        }
    }

    private void count(AsynchronousSocketChannel channel, boolean overRdma) {
        try {
            shared.connections().add(Connections.Kind.ACCEPT, overRdma, channel.getLocalAddress(),
                    channel.getRemoteAddress(), "");
        } catch (IOException e) {
            // It was closed already.
            return;
        }
    }

    @Override
    public <T> AsynchronousServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        tcp.setOption(name, value);
        options.put(name, value);
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
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        SocketAddress local = tcp.getLocalAddress();
        TimedServerSocketChannel overRdma = rdma;
        return local != null || overRdma == null ? local : overRdma.getLocalAddress();
    }

    @Override
    public boolean isOpen() {
        return !closed && tcp.isOpen();
    }

    @Override
    public void close() throws IOException {
        CompletableFuture<AsynchronousSocketChannel> waiting;
        AsynchronousSocketChannel[] unwanted;
        synchronized (lock) {
            closed = true;
            waiting = pending;
            pending = null;
            unwanted = accepted.toArray(AsynchronousSocketChannel[]::new);
            accepted.clear();
        }
        TimedServerSocketChannel overRdma = rdma;
        if (overRdma != null) {
            overRdma.close();
        }
        tcp.close();
        for (AsynchronousSocketChannel channel : unwanted) {
            closeQuietly(channel);
        }
        if (waiting != null) {
            waiting.completeExceptionally(new AsynchronousCloseException());
        }
        // Last, because it may be the end of the group.
        group.remove(this);
    }

    @Override
    public String toString() {
        return rdma == null ? tcp.toString() : tcp + " and RDMA";
    }
}
