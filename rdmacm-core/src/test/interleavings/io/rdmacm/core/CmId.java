// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Interleavings;

/** Stands in for the class of this name, in plain Java, and for the peer of an id of a server. */
public final class CmId {
    private static final InetSocketAddress SOMEWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7);
    // those that are open; guarded by itself
    private static final Set<CmId> OPEN = new HashSet<>();

    private static volatile CmId opened;

    final EventChannel channel;
    // All below is guarded by the lock of the channel.
    int openEvents;
    private boolean accepted;
    private boolean rejected;
    private boolean disconnected;
    private boolean closed;
    // what the peer does
    private boolean gone;

    private CmId(EventChannel channel, boolean closed) {
        this.channel = channel;
        this.closed = closed;
        if (!closed) {
            synchronized (OPEN) {
                OPEN.add(this);
            }
        }
    }

    /** Opens an id. */
    public static CmId open(EventChannel channel, PortSpace space) {
        CmId id = new CmId(channel, false);
        opened = id;
        return id;
    }

    /** Returns the id that was opened last. */
    public static CmId last() {
        return opened;
    }

    /** Returns how many ids are open, and forgets them. */
    public static int forgetAll() {
        synchronized (OPEN) {
            int open = OPEN.size();
            OPEN.clear();
            return open;
        }
    }

    /** Returns somewhere. */
    public InetSocketAddress localAddress() {
        return SOMEWHERE;
    }

    /** Returns somewhere. */
    public InetSocketAddress peerAddress() {
        return SOMEWHERE;
    }

    /** Does nothing: there is one address. */
    public void bindAddress(SocketAddress address) {
        Interleavings.point();
    }

    /** Does nothing: peers connect to the id. */
    public void listen(int backlog) {
        Interleavings.point();
    }

    /** For clients only. */
    public void resolveAddress(SocketAddress peer, Duration timeout) {
        throw new UnsupportedOperationException();
    }

    /** For clients only. */
    public void resolveRoute(Duration timeout) {
        throw new UnsupportedOperationException();
    }

    /** For clients only. */
    public void connect(ConnectionParameters parameters) {
        throw new UnsupportedOperationException();
    }

    /** Returns none. */
    public Optional<QueuePair> queuePair() {
        return Optional.empty();
    }

    /** There is none. */
    public VerbsContext context() {
        throw new IllegalStateException("no device");
    }

    /** There are none. */
    public CmIdOptions options() {
        throw new UnsupportedOperationException();
    }

    /** Returns a state that does not tell whether the peer has given up, as that of a request. */
    public CmIdState state() {
        return CmIdState.REQUESTED;
    }

    /** Accepts a request. EINVAL if the peer has given up. */
    public void accept(ConnectionParameters parameters) throws RdmaException {
        Interleavings.point();
        answer(false);
    }

    /** Rejects a request. EINVAL if the peer has given up. */
    public void reject() throws RdmaException {
        Interleavings.point();
        answer(true);
    }

    private void answer(boolean reject) throws RdmaException {
        channel.lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the id is closed");
            }
            if (gone || rejected || accepted && !reject) {
                throw new RdmaException("rdma_accept", Rdma.EINVAL(), "EINVAL", "the peer has given up");
            }
            accepted = !reject;
            rejected = reject;
            channel.changed.signalAll();
        } finally {
            channel.lock.unlock();
        }
    }

    /** Disconnects. */
    public void disconnect() {
        Interleavings.point();
        channel.lock.lock();
        try {
            disconnected = true;
            channel.changed.signalAll();
        } finally {
            channel.lock.unlock();
        }
    }

    /** Closes the id, none of whose events may be open. */
    public void close() {
        Interleavings.point();
        channel.lock.lock();
        try {
            if (openEvents > 0) {
                throw new AssertionError("closed while an event is open: C would wait for ever");
            }
            closed = true;
            channel.forget(this);
            channel.changed.signalAll();
        } finally {
            channel.lock.unlock();
        }
        synchronized (OPEN) {
            OPEN.remove(this);
        }
    }

    // What a peer does.

    /** Sends a request to connect to this id, and returns what serves it; what is closed if nobody listens any more. */
    public CmId request() {
        Interleavings.point();
        channel.lock.lock();
        try {
            CmId id = new CmId(channel, closed);
            if (!closed) {
                channel.add(new CmEvent(CmEventType.CONNECT_REQUEST, id, this));
            }
            return id;
        } finally {
            channel.lock.unlock();
        }
    }

    /** Returns a request to connect to this id that does not come through the channel. */
    public CmEvent newRequest() {
        return new CmEvent(CmEventType.CONNECT_REQUEST, new CmId(channel, false), this);
    }

    /** Returns whether this id is closed. */
    public boolean isClosed() {
        channel.lock.lock();
        try {
            return closed;
        } finally {
            channel.lock.unlock();
        }
    }

    /** Waits until the request was answered; returns whether it was accepted. */
    public boolean awaitAnswer() throws InterruptedException {
        channel.lock.lock();
        try {
            while (!accepted && !rejected && !closed) {
                channel.changed.await();
            }
            return accepted && !rejected && !closed;
        } finally {
            channel.lock.unlock();
        }
    }

    /** Waits until the server has closed its side. */
    public void awaitClose() throws InterruptedException {
        channel.lock.lock();
        try {
            while (!closed) {
                channel.changed.await();
            }
        } finally {
            channel.lock.unlock();
        }
    }

    /** Confirms the answer of the server. */
    public void confirm() {
        event(CmEventType.ESTABLISHED);
    }

    /** Ends the connection, as the peer. */
    public void disconnectByPeer() {
        event(CmEventType.DISCONNECTED);
    }

    /** Says that the peer cannot be reached any more. */
    public void lose() {
        event(CmEventType.UNREACHABLE);
    }

    private void event(CmEventType type) {
        Interleavings.point();
        channel.lock.lock();
        try {
            if (!closed) {
                channel.add(new CmEvent(type, this, null));
            }
        } finally {
            channel.lock.unlock();
        }
    }

    /** Gives up in silence. */
    public void giveUp() {
        channel.lock.lock();
        try {
            gone = true;
        } finally {
            channel.lock.unlock();
        }
    }
}
