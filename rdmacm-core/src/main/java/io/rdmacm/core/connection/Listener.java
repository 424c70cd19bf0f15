// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for connections at an address. Connect requests wait until they are accepted or rejected; when the backlog is
 * full, further ones are rejected. All methods may be called from any number of threads; {@link #close()} wakes those
 * that wait.
 */
public final class Listener implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Listener.class);

    private final ConnectionManager manager;
    private final EventLoop loop;
    private final ConnectionSettings settings;
    private final int backlog;
    private final CmId id;
    private final InetSocketAddress address;
    private final ReentrantLock lock = new ReentrantLock();
    // for accept() and for nextRequest()
    private final Condition acceptable = lock.newCondition();
    private final Condition requested = lock.newCondition();
    // guarded by the lock
    private final ArrayDeque<ConnectionRequest> requests = new ArrayDeque<>();
    // handshakes that accept() has begun
    private final Set<Link> handshakes = new LinkedHashSet<>();
    private final ArrayDeque<Connection> established = new ArrayDeque<>();
    // why requests could not be accepted, although their peers were willing
    private final ArrayDeque<Exception> problems = new ArrayDeque<>();
    // the threads in accept() and in nextRequest()
    private int acceptors;
    private int inspectors;
    private boolean acceptingAll;
    private @Nullable RdmaException failure;
    private boolean closed;

    Listener(ConnectionManager manager, EventLoop loop, InetSocketAddress address, int backlog,
            ConnectionSettings settings) throws RdmaException {
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog must be at least 1, not " + backlog);
        }
        this.manager = manager;
        this.loop = loop;
        this.settings = settings;
        this.backlog = backlog;
        this.id = loop.open(new Requests());
        boolean listening = false;
        try {
            id.bindAddress(address);
            id.listen(backlog);
            this.address = id.localAddress();
            listening = true;
        } finally {
            if (!listening) {
                loop.close(id);
            }
        }
    }

    /** {@return the address that it listens on, with the actual port} */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Waits for the next connect request and accepts it. The handshakes of all requests that are there are carried on
     * together, and the first connection that is established is returned. A peer that gives up during the handshake, or
     * does not complete it within {@link ConnectionSettings#handshakeTimeout()}, is dropped, and the wait continues.
     *
     * @param timeout the longest time to wait; handshakes that have begun go on after it has run out
     * @return the connection, to be closed
     * @throws RdmaTimeoutException when no connection was established in time
     * @throws RdmaClosedException when another thread closed the listener or the manager
     * @throws io.rdmacm.core.DeviceRemovedException when the device was removed
     * @throws RdmaException ENOMEM or EINVAL when the device has no resources for queues and buffers of this size
     * @throws InterruptedException when this thread was interrupted
     */
    public Connection accept(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        lock.lockInterruptibly();
        acceptors++;
        try {
            while (true) {
                requireOpen();
                if (!requests.isEmpty()) {
                    loop.later(this::beginHandshakes);
                }
                Connection connection = established.poll();
                if (connection != null) {
                    return connection;
                }
                requireNoProblem();
                if (deadline.hasPassed()) {
                    throw new RdmaTimeoutException("rdma_get_request", "nobody connected to " + this + " in time");
                }
                long ignored = acceptable.awaitNanos(deadline.remainingNanos());
            }
        } finally {
            acceptors--;
            lock.unlock();
        }
    }

    /**
     * Accepts all connect requests from now on, as {@link #accept} would, without a thread that waits. The connections
     * are passed to {@link ConnectionHandler#onConnect}.
     *
     * @throws IllegalStateException when the settings of this listener have no handler
     * @throws RdmaClosedException when this listener is closed
     */
    public void acceptAll() throws RdmaException {
        if (settings.handler() == null) {
            throw new IllegalStateException("nobody would know of the connections: the settings of " + this
                    + " have no handler");
        }
        lock.lock();
        try {
            requireOpen();
            acceptingAll = true;
            loop.later(this::beginHandshakes);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the next connect request, to inspect it before it is accepted or rejected.
     *
     * @param timeout the longest time to wait; zero to take a request only if one is there
     * @return the request, to be accepted, rejected or closed
     * @throws RdmaTimeoutException when there was no request in time
     * @throws RdmaClosedException when another thread closed the listener
     * @throws io.rdmacm.core.DeviceRemovedException when the device was removed
     * @throws RdmaException when connection-manager events can no longer be read
     * @throws InterruptedException when this thread was interrupted; no request is lost
     */
    public ConnectionRequest nextRequest(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        lock.lockInterruptibly();
        inspectors++;
        try {
            while (true) {
                requireOpen();
                ConnectionRequest request = requests.poll();
                if (request != null) {
                    return request;
                }
                if (deadline.hasPassed()) {
                    throw new RdmaTimeoutException("rdma_get_request", "nobody connected to " + this + " in time");
                }
                long ignored = requested.awaitNanos(deadline.remainingNanos());
            }
        } finally {
            inspectors--;
            lock.unlock();
        }
    }

    /**
     * Stops listening and rejects the requests that wait. Accepted connections stay open. Has no effect when called
     * again.
     *
     * @throws RdmaException when C cannot destroy the id
     */
    @Override
    public void close() throws RdmaException {
        List<ConnectionRequest> waiting;
        List<Link> begun;
        List<Connection> unclaimed;
        lock.lock();
        try {
            closed = true;
            waiting = new ArrayList<>(requests);
            begun = new ArrayList<>(handshakes);
            unclaimed = new ArrayList<>(established);
            requests.clear();
            handshakes.clear();
            established.clear();
            wakeAll();
        } finally {
            lock.unlock();
        }
        for (ConnectionRequest request : waiting) {
            request.close();
        }
        for (Link link : begun) {
            link.abandon();
        }
        for (Connection connection : unclaimed) {
            connection.close();
        }
        loop.close(id);
        manager.forget(this);
    }

    private void requireOpen() throws RdmaException {
        if (closed) {
            throw new RdmaClosedException("rdma_get_request", "the " + this);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void requireNoProblem() throws RdmaException {
        switch (problems.poll()) {
            case null -> {
            }
            case RdmaException e -> throw e;
            case RuntimeException e -> throw e;
            case Exception e -> throw new IllegalStateException(e);
        }
    }

    /** Begins the handshakes of all requests that are there, in the thread of the event loop. */
    private void beginHandshakes() {
        lock.lock();
        try {
            while (!closed && (acceptors > 0 || acceptingAll) && !requests.isEmpty()) {
                ConnectionRequest request = requests.remove();
                lock.unlock();
                try {
                    begin(request);
                } finally {
                    lock.lock();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void begin(ConnectionRequest request) {
        try {
            Link link = request.begin();
            if (link != null && note(link)) {
                Runnable alarm = loop.at(Deadline.after(settings.handshakeTimeout()), () -> end(link, null, null));
                link.outcome().whenComplete((connection, reason) -> {
                    alarm.run();
                    end(link, connection, reason);
                });
            }
        } catch (RejectedException | UnreachableException | DisconnectedException | RdmaTimeoutException e) {
            LOG.debug("{} did not become a connection", request, e);
        } catch (RdmaException | RuntimeException e) {
            report(request, e);
        }
    }

    /** Hands a problem of this side to a thread in accept(). */
    private void report(ConnectionRequest request, Exception problem) {
        lock.lock();
        try {
            if (acceptors > 0 && !closed) {
                problems.add(problem);
                acceptable.signal();
            } else {
                LOG.warn("{} could not be accepted", request, problem);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Notes a handshake that has begun; abandons it if the listener was closed. */
    private boolean note(Link link) throws RdmaException {
        lock.lock();
        try {
            if (!closed) {
                handshakes.add(link);
                return true;
            }
        } finally {
            lock.unlock();
        }
        link.abandon();
        return false;
    }

    /** Takes the connection of a handshake, or drops the peer if there is none. */
    private void end(Link link, @Nullable Connection connection, @Nullable Throwable reason) {
        boolean own;
        lock.lock();
        try {
            own = handshakes.remove(link);
            if (own && connection != null) {
                manager.add(connection);
                if (!acceptingAll) {
                    established.add(connection);
                    acceptable.signal();
                }
            }
        } finally {
            lock.unlock();
        }
        if (own && connection == null) {
            LOG.debug("a peer did not become a connection", reason);
            link.giveUp();
            // Closing its id has to wait for this thread, which handles an event of it.
            Thread.startVirtualThread(() -> abandon(link));
        }
    }

    private static void abandon(Link link) {
        try {
            link.abandon();
        } catch (RdmaException | IllegalStateException e) {
            LOG.warn("what was left of a handshake could not be closed", e);
        }
    }

    private void wakeAll() {
        acceptable.signalAll();
        requested.signalAll();
    }

    @Override
    public String toString() {
        return "Listener[" + address + "]";
    }

    /** Queues the requests. Called by the thread of the event loop. */
    private final class Requests implements EventLoop.Handler {
        @Override
        public void handle(CmEvent event) throws RdmaException {
            if (event.type() == CmEventType.CONNECT_REQUEST) {
                add(event);
            } else if (event.type() == CmEventType.DEVICE_REMOVAL) {
                fail(event.failure("listening on " + address));
            }
        }

        /** Queues a request if there is room. Otherwise closing its event rejects it, because its id was not taken. */
        private void add(CmEvent event) throws RdmaException {
            List<ConnectionRequest> dead = new ArrayList<>();
            lock.lock();
            try {
                if (requests.size() >= backlog) {
                    requests.stream().filter(ConnectionRequest::isDead).forEach(dead::add);
                    requests.removeAll(dead);
                }
                if (!closed && requests.size() < backlog) {
                    requests.add(new ConnectionRequest(manager, Link.requested(manager, loop, event, settings),
                            settings));
                    if (acceptingAll || acceptors > 0 && inspectors == 0) {
                        // after this event, so that the id can be closed again
                        loop.later(Listener.this::beginHandshakes);
                    } else {
                        requested.signal();
                    }
                }
            } finally {
                lock.unlock();
            }
            for (ConnectionRequest request : dead) {
                request.close();
            }
        }

        @Override
        public void fail(RdmaException reason) {
            lock.lock();
            try {
                failure = reason;
                wakeAll();
            } finally {
                lock.unlock();
            }
        }
    }
}
