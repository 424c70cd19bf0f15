// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.nio.channels.AsynchronousChannel;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.CompletionHandler;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A group of asynchronous channels: one of the JDK, for those over TCP, which is shut down when no channel over RDMA is
 * left; and threads for the handlers of those over RDMA.
 */
final class MixedGroup extends AsynchronousChannelGroup {
    private final @Nullable AsynchronousChannelGroup tcp;
    private final Supplier<ExecutorService> opener;
    // guarded by this
    private final Set<AsynchronousChannel> overRdma = new HashSet<>();
    private @Nullable ExecutorService executor;
    private boolean shutdown;

    /**
     * A group.
     *
     * @param tcp that of the JDK, null for its default one
     * @param opener makes the threads for handlers, when there is one
     */
    MixedGroup(AsynchronousChannelProvider provider, @Nullable AsynchronousChannelGroup tcp,
            Supplier<ExecutorService> opener) {
        super(provider);
        this.tcp = tcp;
        this.opener = opener;
    }

    /** Returns the group of the JDK for a new channel. */
    synchronized @Nullable AsynchronousChannelGroup tcp() {
        if (shutdown) {
            throw new ShutdownChannelGroupException();
        }
        return tcp;
    }

    /** A channel is over RDMA now. */
    synchronized void add(AsynchronousChannel channel) {
        overRdma.add(channel);
    }

    /** A channel over RDMA was closed. */
    synchronized void remove(AsynchronousChannel channel) {
        if (overRdma.remove(channel)) {
            endIfEmpty();
        }
    }

    /** Calls the handler of an operation over RDMA. */
    <T extends @Nullable Object, A> void complete(CompletionHandler<T, ? super A> handler, A attachment, T result,
            @Nullable Throwable failure) {
        Runnable call = () -> {
            if (failure == null) {
                handler.completed(result, attachment);
            } else {
                handler.failed(failure, attachment);
            }
        };
        try {
            executor().execute(call);
        } catch (RejectedExecutionException e) {
            // The program has ended its threads: no handler may wait for ever.
            Thread.ofVirtual().start(call);
        }
    }

    private synchronized ExecutorService executor() {
        if (executor == null) {
            executor = opener.get();
        }
        return executor;
    }

    private void endIfEmpty() {
        if (shutdown && overRdma.isEmpty()) {
            Objects.requireNonNull(tcp).shutdown();
            if (executor != null) {
                executor.shutdown();
            }
            notifyAll();
        }
    }

    @Override
    public synchronized boolean isShutdown() {
        return shutdown;
    }

    @Override
    public synchronized void shutdown() {
        shutdown = true;
        endIfEmpty();
    }

    @Override
    public void shutdownNow() throws IOException {
        shutdown();
        List<AsynchronousChannel> open;
        synchronized (this) {
            open = List.copyOf(overRdma);
        }
        for (AsynchronousChannel channel : open) {
            channel.close();
        }
        Objects.requireNonNull(tcp).shutdownNow();
    }

    @Override
    public synchronized boolean isTerminated() {
        return shutdown && overRdma.isEmpty() && Objects.requireNonNull(tcp).isTerminated()
                && (executor == null || executor.isTerminated());
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        Deadline deadline = Deadline.after(Duration.ofNanos(unit.toNanos(timeout)));
        ExecutorService handlers;
        synchronized (this) {
            while (!shutdown || !overRdma.isEmpty()) {
                if (deadline.hasPassed()) {
                    return false;
                }
                TimeUnit.NANOSECONDS.timedWait(this, deadline.remainingNanos());
            }
            handlers = executor;
        }
        return Objects.requireNonNull(tcp).awaitTermination(deadline.remainingNanos(), TimeUnit.NANOSECONDS)
                && (handlers == null || handlers.awaitTermination(deadline.remainingNanos(), TimeUnit.NANOSECONDS));
    }
}
