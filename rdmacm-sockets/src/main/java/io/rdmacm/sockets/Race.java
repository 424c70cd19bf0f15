// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A connect over RDMA that is in progress, and one over TCP if RDMA fails, or beside it when nothing answers for some
 * time. The first that is connected wins, and the other one is closed. A thread of {@link Connector} runs it.
 */
final class Race {
    private final InetSocketAddress remote;
    private final SocketChannel rdma;
    private final @Nullable SocketChannel tcp;
    private final Choice choice;
    private final Runnable ended;
    private final long tcpAt;

    // Of the thread that runs it.
    private boolean rdmaPending = true;
    private boolean tcpPending;
    private boolean tcpStarted;
    private @Nullable Outcome next;

    // guarded by this
    private String rdmaFailure = "";
    private @Nullable Outcome outcome;

    /**
     * Begins with a channel over RDMA that connects already.
     *
     * @param tcp the other channel, not in blocking mode; null if there is to be none
     * @param limit how long the program lets it take
     * @param ended told of the end, by any thread
     */
    Race(InetSocketAddress remote, SocketChannel rdma, @Nullable SocketChannel tcp, Choice choice, Duration limit,
            Runnable ended) {
        this.remote = remote;
        this.rdma = rdma;
        this.tcp = tcp;
        this.choice = choice;
        this.ended = ended;
        this.tcpAt = System.nanoTime() + choice.beside(limit).toNanos();
    }

    /**
     * How it has ended.
     *
     * @param winner the connected channel, null if there is none
     * @param failure why there is none
     * @param reason why TCP has won
     */
    record Outcome(@Nullable SocketChannel winner, @Nullable IOException failure, String reason) {
    }

    /** Returns how it has ended, null if it has not. */
    synchronized @Nullable Outcome outcome() {
        return outcome;
    }

    /** Returns why RDMA has failed. */
    synchronized String failure() {
        return rdmaFailure;
    }

    /** Waits for the end; returns null when the time has passed. */
    synchronized @Nullable Outcome await(Duration timeout) throws InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        while (outcome == null && !deadline.hasPassed()) {
            // Rounded up, so that it does not come round again and again in the last millisecond.
            wait(Math.min(deadline.remainingNanos() / 1_000_000 + 1, Integer.MAX_VALUE));
        }
        return outcome;
    }

    /** Ends it, unless it has ended, and closes what nobody needs any more; returns whether this was the end. */
    boolean abandon() throws IOException {
        synchronized (this) {
            if (outcome != null) {
                return false;
            }
            outcome = new Outcome(null, new AsynchronousCloseException(), "");
            notifyAll();
        }
        rdma.close();
        if (tcp != null) {
            tcp.close();
        }
        return true;
    }

    /** Begins to watch the channel over RDMA. */
    void start(Selector selector) throws IOException {
        rdma.register(selector, SelectionKey.OP_CONNECT, this);
    }

    /** Carries on with a channel; returns whether the race is decided. */
    boolean ready(SelectionKey key) {
        SocketChannel channel = (SocketChannel) key.channel();
        try {
            if (channel.finishConnect()) {
                decide(channel, channel == rdma ? "" : reason());
            }
        } catch (IOException | RuntimeException e) {
            failed(channel, e, key.selector());
        }
        return next != null;
    }

    private String reason() {
        return rdmaPending ? "no answer over RDMA" : "RDMA failed: " + failure();
    }

    /** Starts TCP if it is time to; returns whether the race is decided. */
    boolean expire(Selector selector) {
        if (tcp != null && !tcpStarted && nanosToTcp() <= 0) {
            startTcp(tcp, selector);
        }
        return next != null;
    }

    /** Returns when TCP is to start; a long time if it is not to, or has started. */
    long nanosToTcp() {
        return tcp == null || tcpStarted ? Long.MAX_VALUE : tcpAt - System.nanoTime();
    }

    private void startTcp(SocketChannel channel, Selector selector) {
        tcpStarted = true;
        tcpPending = true;
        try {
            if (channel.connect(remote)) {
                decide(channel, reason());
            } else {
                channel.register(selector, SelectionKey.OP_CONNECT, this);
            }
        } catch (IOException | RuntimeException e) {
            failed(channel, e, selector);
        }
    }

    private void failed(SocketChannel channel, Exception failure, Selector selector) {
        if (channel == rdma) {
            rdmaPending = false;
            synchronized (this) {
                rdmaFailure = String.valueOf(failure.getMessage());
            }
            if (tcp != null && !tcpStarted && outcome() == null) {
                startTcp(tcp, selector);
                return;
            }
            if (tcpPending) {
                return;
            }
        } else if (rdmaPending) {
            // Whoever listens over RDMA listens over TCP as well: to wait for the other answer is of no use.
            choice.failed(remote, reason());
        }
        next = new Outcome(null, failure instanceof IOException io ? io : new IOException(failure), "");
    }

    private void decide(SocketChannel winner, String reason) {
        next = new Outcome(winner, null, reason);
        if (winner == tcp) {
            // Where nobody listens at all, nothing is remembered: both may be there the next time.
            choice.failed(remote, reason);
        }
    }

    /** Ends it with an unexpected failure. */
    void fail(Throwable failure) {
        next = new Outcome(null, new IOException(failure), "");
    }

    /** Takes the channels from the selector, before it selects for the last time for them. */
    void release(Selector selector) {
        for (SocketChannel channel : tcp == null ? new SocketChannel[] {rdma} : new SocketChannel[] {rdma, tcp}) {
            SelectionKey key = channel.keyFor(selector);
            if (key != null) {
                key.cancel();
            }
        }
    }

    /** Announces what was decided. */
    void announce() throws IOException {
        Outcome decided = next;
        boolean late;
        synchronized (this) {
            late = outcome != null;
            if (!late) {
                outcome = decided;
                notifyAll();
            }
        }
        if (late || decided == null) {
            return;
        }
        if (decided.winner() != rdma) {
            rdma.close();
        }
        if (tcp != null && decided.winner() != tcp) {
            tcp.close();
        }
        ended.run();
    }
}
