// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;

/** The id of one connection, and what its events have reported so far. */
final class Link implements EventLoop.Handler {
    private static final Set<CmEventType> STEPS = EnumSet.of(CmEventType.ADDR_RESOLVED, CmEventType.ROUTE_RESOLVED,
            CmEventType.ESTABLISHED);
    private static final Set<CmEventType> IGNORED = EnumSet.of(CmEventType.TIMEWAIT_EXIT, CmEventType.ADDR_CHANGE);

    /** Guards the state of the whole connection. */
    final ReentrantLock lock = new ReentrantLock();
    /** Signalled whenever something changes that a thread may wait for. */
    final Condition changed = lock.newCondition();

    private final EventLoop loop;
    private final CmId id;
    private final String name;
    private final boolean request;
    private final Set<CmEventType> done = EnumSet.noneOf(CmEventType.class);
    private volatile ConnectionParameters peerParameters;
    // why the connection failed or broke; null while it has not
    private RdmaException failure;
    private boolean disconnecting;
    private boolean disconnected;

    private Link(EventLoop loop, CmId id, String name) throws RdmaException {
        this.loop = loop;
        this.request = id != null;
        this.id = request ? id : loop.open(this);
        this.name = name;
    }

    /** Opens the link of a client. */
    static Link open(EventLoop loop, String name) throws RdmaException {
        return new Link(loop, null, name);
    }

    /** Opens the link of a server, for a connect request. Called by the thread of the event loop. */
    static Link requested(EventLoop loop, CmEvent request) throws RdmaException {
        CmId id = request.id();
        Link link = new Link(loop, id, id.peerAddress().toString());
        link.peerParameters = request.connectionParameters();
        loop.register(id, link);
        return link;
    }

    CmId id() {
        return id;
    }

    /** Returns the name of the peer, for messages. */
    String name() {
        return name;
    }

    /** Waits for the event that completes a step. */
    void await(CmEventType step, Deadline deadline) throws RdmaException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!done.contains(step)) {
                if (failure != null) {
                    throw failure;
                }
                if (disconnected) {
                    throw new DisconnectedException("waiting for " + step + " of " + name);
                }
                if (changed.awaitNanos(deadline.remainingNanos()) <= 0 && !done.contains(step) && failure == null) {
                    throw new RdmaTimeoutException("rdma_get_cm_event", "waiting for " + step + " of " + name
                            + ": nothing happened in time");
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void handle(CmEvent event) throws RdmaException {
        lock.lock();
        try {
            if (STEPS.contains(event.type())) {
                done.add(event.type());
                if (event.type() == CmEventType.ESTABLISHED && peerParameters == null) {
                    peerParameters = event.connectionParameters();
                }
            } else if (event.type() == CmEventType.DISCONNECTED) {
                disconnected = true;
                if (!disconnecting) {
                    // answers the peer, and flushes posted work
                    disconnecting = true;
                    id.disconnect();
                }
            } else if (!IGNORED.contains(event.type()) && failure == null) {
                failure = event.failure("the connection with " + name);
            }
        } finally {
            changed.signalAll();
            lock.unlock();
        }
    }

    @Override
    public void fail(RdmaException reason) {
        lock.lock();
        try {
            if (failure == null) {
                failure = reason;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether the peer requested the connection. */
    boolean isRequest() {
        return request;
    }

    /** Returns the parameters that the peer sent, null before they arrive. */
    ConnectionParameters peerParameters() {
        return peerParameters;
    }

    /** Returns whether either side has disconnected. With the lock held. */
    boolean isDisconnected() {
        return disconnected || disconnecting;
    }

    /** Returns whether the disconnect was answered, or never will be. With the lock held. */
    boolean isAnswered() {
        return disconnected || failure != null;
    }

    /** Returns why the connection failed or broke, null if it has not. With the lock held. */
    RdmaException failure() {
        return failure;
    }

    /** Ends the connection and flushes posted work, once. With the lock held. */
    void disconnect() throws RdmaException {
        if (!disconnecting && done.contains(CmEventType.ESTABLISHED)) {
            disconnecting = true;
            changed.signalAll();
            id.disconnect();
        }
    }

    /** Closes the id. Call it without the lock: the thread of the event loop closes it, and may need the lock first. */
    void close() throws RdmaException {
        loop.close(id);
    }
}
