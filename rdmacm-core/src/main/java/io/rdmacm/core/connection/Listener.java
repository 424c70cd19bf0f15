// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
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
    private final Condition changed = lock.newCondition();
    // guarded by the lock
    private final ArrayDeque<ConnectionRequest> requests = new ArrayDeque<>();
    private RdmaException failure;
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
     * Waits for the next connect request and accepts it. A peer that gives up during the handshake, or does not
     * complete it within {@link ConnectionSettings#handshakeTimeout()}, is dropped, and the wait continues.
     *
     * @param timeout the longest time to wait
     * @return the connection, to be closed
     * @throws RdmaTimeoutException when no peer connected in time
     * @throws RdmaClosedException when another thread closed the listener or the manager
     * @throws io.rdmacm.core.DeviceRemovedException when the device was removed
     * @throws RdmaException ENOMEM or EINVAL when the device has no resources for queues and buffers of this size; when
     *         the time ran out during a handshake, the exception of that peer
     * @throws InterruptedException when this thread was interrupted
     */
    public Connection accept(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        while (true) {
            ConnectionRequest request = nextRequest(deadline.remaining());
            try {
                return request.accept(deadline.remaining(settings.handshakeTimeout()));
            } catch (RejectedException | UnreachableException | DisconnectedException | RdmaTimeoutException e) {
                LOG.debug("{} did not become a connection", request, e);
                if (deadline.hasPassed()) {
                    throw e;
                }
            }
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
        try {
            while (true) {
                if (closed) {
                    throw new RdmaClosedException("rdma_get_request", "the " + this);
                }
                if (failure != null) {
                    throw failure;
                }
                ConnectionRequest request = requests.poll();
                if (request != null) {
                    return request;
                }
                if (deadline.hasPassed()) {
                    throw new RdmaTimeoutException("rdma_get_request", "nobody connected to " + this + " in time");
                }
                long ignored = changed.awaitNanos(deadline.remainingNanos());
            }
        } finally {
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
        lock.lock();
        try {
            closed = true;
            waiting = new ArrayList<>(requests);
            requests.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        for (ConnectionRequest request : waiting) {
            request.close();
        }
        loop.close(id);
        manager.forget(this);
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
                    requests.add(new ConnectionRequest(manager, Link.requested(loop, event), settings));
                    changed.signal();
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
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }
}
