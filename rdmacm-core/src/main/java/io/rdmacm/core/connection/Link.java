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
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.RdmaTimeoutException;

/** The id of one connection, and what its events have told. */
final class Link implements EventLoop.Handler {
    private static final Set<CmEventType> STEPS = EnumSet.of(CmEventType.ADDR_RESOLVED, CmEventType.ROUTE_RESOLVED,
            CmEventType.ESTABLISHED);
    private static final Set<CmEventType> IGNORED = EnumSet.of(CmEventType.TIMEWAIT_EXIT, CmEventType.ADDR_CHANGE);

    /** Guards all of a connection. */
    final ReentrantLock lock = new ReentrantLock();
    /** Signalled whenever something has changed that somebody may wait for. */
    final Condition changed = lock.newCondition();

    private final EventLoop loop;
    private final CmId id;
    private final String name;
    private final boolean request;
    private final Set<CmEventType> done = EnumSet.noneOf(CmEventType.class);
    private volatile ConnectionParameters peerParameters;
    // Why the connection is not, or no longer, possible.
    private RdmaException failure;
    private boolean disconnecting;
    private boolean disconnected;

    private Link(EventLoop loop, CmId id, String name) throws RdmaException {
        this.loop = loop;
        this.request = id != null;
        this.id = request ? id : loop.open(this);
        this.name = name;
    }

    /** A client's. */
    static Link open(EventLoop loop, String name) throws RdmaException {
        return new Link(loop, null, name);
    }

    /** A server's, by the thread of the loop. */
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

    /** The peer, for messages. */
    String name() {
        return name;
    }

    /** Waits for the answer to what was asked of the id. */
    void await(CmEventType step, Limit limit) throws RdmaException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!done.contains(step)) {
                if (failure != null) {
                    throw failure;
                }
                if (disconnected) {
                    throw new DisconnectedException("waiting for " + step + " of " + name);
                }
                if (changed.awaitNanos(limit.leftNanos()) <= 0 && !done.contains(step) && failure == null) {
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
                    // Answers the peer, and flushes what is posted here.
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

    /** Whether the peer asked for the connection. */
    boolean isRequest() {
        return request;
    }

    /** What the peer said when connecting; null before that. */
    ConnectionParameters peerParameters() {
        return peerParameters;
    }

    /** With the lock held: whether the peer, or this side, has ended the connection. */
    boolean isDisconnected() {
        return disconnected || disconnecting;
    }

    /** With the lock held: whether the peer knows. */
    boolean isAnswered() {
        return disconnected || failure != null;
    }

    /** With the lock held: why the connection cannot go on; null when it can. */
    RdmaException failure() {
        return failure;
    }

    /** With the lock held: ends the connection, and flushes what is posted; once. */
    void disconnect() throws RdmaException {
        if (!disconnecting && done.contains(CmEventType.ESTABLISHED)) {
            disconnecting = true;
            changed.signalAll();
            id.disconnect();
        }
    }

    /** Without the lock. */
    void close() throws RdmaException {
        loop.close(id);
    }
}
