// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Condition;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.metrics.MetricSource;
import org.jspecify.annotations.Nullable;

/**
 * Connects again when a connection has ended: to the same peer or to another address of it, with pauses that become
 * longer, until a deadline. What the program has registered stays registered.
 *
 * <pre>{@code
 * try (Reconnector peer = Reconnector.builder(manager, address, standby).build()) {
 *     while (true) {
 *         Connection connection = peer.connection(Duration.ofMinutes(1));
 *         try {
 *             exchange(connection); // from the beginning: both sides tell each other where they are
 *             return;
 *         } catch (DisconnectedException | WorkCompletionException e) {
 *             log.info("connecting again", e);
 *         }
 *     }
 * }
 * }</pre>
 *
 * <h2>What survives</h2>
 *
 * <p>The protection domain and all memory regions in it, with their keys: those of this side stay valid for the new
 * connection, and so do a server's for its peers, as long as its {@link ConnectionManager} lives. So each connection
 * must go over the same device; one that would go over another device counts as a failed attempt. The queue pair is a
 * new one, with new buffers: {@link Connection#queuePair()}, memory windows that are bound to it, and messages that
 * were received with the old connection belong to that one.
 *
 * <h2>What is not known after the end of a connection</h2>
 *
 * <ul>
 * <li>An operation that has completed is done: a message is in a buffer of the peer, though perhaps its program has not
 * read it and never will; written data are in the peer's memory.
 * <li>One that has failed, or whose end nobody waited for, may have been done, or not, or, for a write, in part. The
 * target of a read that has failed may hold anything. An atomic operation may have been done: to do it again may do it
 * twice. Read the word first.
 * <li>A message that was sent from a buffer of the connection is complete for the program before the peer has it.
 * </ul>
 *
 * <h2>What the program repeats</h2>
 *
 * <p>All that the two sides have told each other: {@link Connection#peerParameters()} are those of the new connection,
 * and a {@link io.rdmacm.verbs.work.RemoteMemory} of a peer that has started again is void. Messages that may be lost
 * are sent again, with numbers by which the peer knows those that it has. Messages that have arrived are received
 * first: {@link #connection} closes the old connection before it makes a new one.
 *
 * <p>A failure of the peer or the network is tried again: a rejection, an address that cannot be reached, a handshake
 * that ends or takes too long, a host name that nobody knows. So are rejections by the peer's program, because those
 * of a server that ends look the same. Any other failure is thrown at once: this side has no resources, its settings
 * are wrong, its device has gone.
 *
 * <p>All methods may be called from any thread.
 */
public final class Reconnector implements MetricSource, AutoCloseable {
    private static final String CONNECT = "rdma_connect";

    private final ConnectionManager manager;
    private final List<InetSocketAddress> peers;
    private final ConnectionSettings settings;
    private final Duration attemptTimeout;
    private final long leastPause;
    private final long longestPause;
    private final MixedThreadsLock lock = new MixedThreadsLock();
    private final Condition changed = lock.newCondition();
    // guarded by the lock
    private @Nullable Connection current;
    private @Nullable ProtectionDomain domain;
    private @Nullable CompletableFuture<Connection> attempt;
    private boolean connecting;
    private long established;
    private long failures;
    private boolean closed;
    // used by the thread that connects
    private int turn;

    private Reconnector(Builder builder) {
        this.manager = builder.manager;
        this.peers = builder.peers;
        this.settings = builder.settings;
        this.attemptTimeout = builder.attemptTimeout;
        this.leastPause = builder.leastPause.toNanos();
        this.longestPause = builder.longestPause.toNanos();
    }

    /**
     * Returns a builder.
     *
     * @param manager makes the connections
     * @param peers the addresses of the peer, at least one; each is tried in turn. The name of one that is
     *        {@linkplain InetSocketAddress#createUnresolved not resolved} is looked up anew for each attempt, for as
     *        long as the resolver takes
     * @return the builder
     * @throws IllegalArgumentException when there is no address
     */
    public static Builder builder(ConnectionManager manager, InetSocketAddress... peers) {
        return new Builder(manager, List.of(peers));
    }

    /**
     * Returns the connection if there is one that has not ended. Otherwise closes it, and connects to the addresses in
     * turn until one attempt succeeds. Threads that call this at the same time get the same connection.
     *
     * @param timeout the longest time to wait
     * @return the connection; closed with this object, or by the program to have a new one
     * @throws RdmaTimeoutException when no attempt has succeeded in time; its cause is the last failure
     * @throws RdmaClosedException when another thread closed this object or the manager
     * @throws RdmaException when an attempt failed for a reason that another one would not change
     * @throws InterruptedException when this thread was interrupted
     */
    public Connection connection(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        try (var _ = lock.holdInterruptibly()) {
            while (connecting) {
                requireOpen();
                if (deadline.hasPassed()) {
                    throw timeout(null);
                }
                long ignored = changed.awaitNanos(deadline.remainingNanos());
            }
            requireOpen();
            if (current != null && current.isConnected()) {
                return current;
            }
            connecting = true;
        }
        try {
            return connect(deadline);
        } finally {
            try (var _ = lock.hold()) {
                connecting = false;
                attempt = null;
                changed.signalAll();
            }
        }
    }

    /** {@return the connection, which may have ended; empty if there has been none yet} Does not wait. */
    public Optional<Connection> current() {
        try (var _ = lock.hold()) {
            return Optional.ofNullable(current);
        }
    }

    private Connection connect(Deadline deadline) throws RdmaException, InterruptedException {
        Connection old = current().orElse(null);
        if (old != null) {
            old.close();
        }
        long pause = leastPause;
        for (int tries = 1;; tries++) {
            RdmaException failure;
            try {
                return attempt(resolved(peers.get(turn)), deadline);
            } catch (RejectedException | UnreachableException | RdmaTimeoutException | DisconnectedException
                    | OtherDeviceException | UnknownPeerException e) {
                failure = e;
            }
            turn = (turn + 1) % peers.size();
            try (var _ = lock.holdInterruptibly()) {
                failures++;
                if (tries % peers.size() == 0) {
                    // The clients of a server that comes back do not come at the same moment.
                    pause(pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1), deadline);
                    pause = Math.min(longestPause, 2 * pause);
                }
                requireOpen();
            }
            if (deadline.hasPassed()) {
                throw timeout(failure);
            }
        }
    }

    private static InetSocketAddress resolved(InetSocketAddress peer) throws UnknownPeerException {
        InetSocketAddress resolved = peer.isUnresolved()
                ? new InetSocketAddress(peer.getHostString(), peer.getPort()) : peer;
        if (resolved.isUnresolved()) {
            throw new UnknownPeerException(peer);
        }
        return resolved;
    }

    /** Waits, unless this is closed. With the lock held. */
    private void pause(long nanos, Deadline deadline) throws InterruptedException {
        Deadline end = Deadline.after(Duration.ofNanos(Math.min(nanos, deadline.remainingNanos())));
        while (!closed && !end.hasPassed()) {
            long ignored = changed.awaitNanos(end.remainingNanos());
        }
    }

    private Connection attempt(InetSocketAddress peer, Deadline deadline) throws RdmaException, InterruptedException {
        CompletableFuture<Connection> future;
        try (var _ = lock.hold()) {
            requireOpen();
            future = manager.connectAsync(peer, settings, deadline.remaining(attemptTimeout));
            attempt = future;
        }
        Connection connection = null;
        boolean kept = false;
        try {
            connection = result(future);
            keep(connection, peer);
            kept = true;
            return connection;
        } finally {
            // If this thread was interrupted, it is closed as soon as it is established, or here if that was just now.
            if (connection == null && !future.cancel(false) && !future.isCompletedExceptionally()) {
                connection = future.join();
            }
            if (connection != null && !kept) {
                connection.close();
            }
        }
    }

    private void keep(Connection connection, InetSocketAddress peer) throws RdmaException {
        try (var _ = lock.hold()) {
            requireOpen();
            if (domain != null && connection.protectionDomain() != domain) {
                throw new OtherDeviceException(peer);
            }
            domain = connection.protectionDomain();
            current = connection;
            established++;
        }
    }

    private static Connection result(CompletableFuture<Connection> future) throws RdmaException, InterruptedException {
        try {
            return future.get();
        } catch (CancellationException e) {
            throw closedByAnother();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RdmaException reason -> throw reason;
                case RuntimeException reason -> throw reason;
                case null, default -> throw new IllegalStateException(e);
            }
        }
    }

    private RdmaTimeoutException timeout(@Nullable RdmaException last) {
        RdmaTimeoutException timeout = new RdmaTimeoutException(CONNECT, "no connection with " + peers + " in time"
                + (last == null ? "" : ", the last attempt failed: " + last.getMessage()));
        if (last != null) {
            timeout.initCause(last);
        }
        return timeout;
    }

    private static RdmaClosedException closedByAnother() {
        return new RdmaClosedException(CONNECT, "the reconnector");
    }

    private void requireOpen() throws RdmaException {
        if (closed) {
            throw closedByAnother();
        }
    }

    /** {@return how many connections were made, how many attempts failed, and whether there is a connection now} */
    @Override
    public Map<String, Long> metrics() {
        Map<String, Long> metrics = new LinkedHashMap<>();
        Connection last;
        try (var _ = lock.hold()) {
            last = current;
            metrics.put("connected", 0L);
            metrics.put("connections", established);
            metrics.put("failedAttempts", failures);
        }
        // Without the lock: it has a lock of its own.
        if (last != null && last.isConnected()) {
            metrics.put("connected", 1L);
        }
        return metrics;
    }

    /**
     * Closes the connection, and ends the attempts of threads that connect. Has no effect when called again.
     *
     * @throws RdmaException when C cannot free the connection; call this again
     */
    @Override
    public void close() throws RdmaException {
        Connection last;
        try (var _ = lock.hold()) {
            closed = true;
            if (attempt != null) {
                boolean ignored = attempt.cancel(false);
            }
            changed.signalAll();
            while (connecting) {
                changed.awaitUninterruptibly();
            }
            last = current;
        }
        if (last != null) {
            last.close();
        }
    }

    @Override
    public String toString() {
        return "Reconnector for " + peers;
    }

    /** The connection goes over a device in which nothing of the program is registered. */
    private static final class OtherDeviceException extends RdmaException {
        private static final long serialVersionUID = 1L;

        OtherDeviceException(InetSocketAddress peer) {
            super(CONNECT, CONNECT + ": " + peer + " is reached by another device than before, in which the memory of"
                    + " the program is not registered");
        }
    }

    /** Nobody knows the name of the peer now. */
    private static final class UnknownPeerException extends RdmaException {
        private static final long serialVersionUID = 1L;

        UnknownPeerException(InetSocketAddress peer) {
            super(CONNECT, CONNECT + ": the host name is unknown: " + peer.getHostString());
        }
    }

    /** Builds {@link Reconnector}s. */
    public static final class Builder {
        private final ConnectionManager manager;
        private final List<InetSocketAddress> peers;
        private ConnectionSettings settings = ConnectionSettings.defaults();
        private Duration attemptTimeout = Duration.ofSeconds(10);
        private Duration leastPause = Duration.ofMillis(100);
        private Duration longestPause = Duration.ofSeconds(10);

        private Builder(ConnectionManager manager, List<InetSocketAddress> peers) {
            this.manager = Objects.requireNonNull(manager, "manager");
            this.peers = peers;
            if (peers.isEmpty()) {
                throw new IllegalArgumentException("there is no address to connect to");
            }
        }

        /**
         * Sets the settings of each connection. A handler is told of each of them.
         *
         * @param value the settings; the defaults by default
         * @return this builder
         */
        public Builder settings(ConnectionSettings value) {
            settings = Objects.requireNonNull(value, "settings");
            return this;
        }

        /**
         * Sets how long one attempt may take.
         *
         * @param timeout positive; 10 seconds by default
         * @return this builder
         */
        public Builder attemptTimeout(Duration timeout) {
            attemptTimeout = requirePositive(timeout);
            return this;
        }

        /**
         * Sets how long to pause after each address was tried: the first time about so long, then twice as long each
         * time. Each pause is shortened by a random part of up to one half.
         *
         * @param first the first pause, positive; 100 ms by default
         * @param longest the longest one, at least the first; 10 seconds by default
         * @return this builder
         * @throws IllegalArgumentException when one is not positive, or the longest is shorter than the first
         */
        public Builder backoff(Duration first, Duration longest) {
            leastPause = requirePositive(first);
            longestPause = requirePositive(longest);
            if (first.compareTo(longest) > 0) {
                throw new IllegalArgumentException("the longest pause, " + longest + ", is shorter than the first, "
                        + first);
            }
            return this;
        }

        private static Duration requirePositive(Duration duration) {
            if (!duration.isPositive() || duration.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException("must be positive and at most a day: " + duration);
            }
            return duration;
        }

        /** {@return the reconnector, which connects when it is first asked for a connection; to be closed} */
        public Reconnector build() {
            return new Reconnector(this);
        }
    }
}
