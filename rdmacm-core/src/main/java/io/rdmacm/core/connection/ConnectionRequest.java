// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.verbs.RdmaException;

/**
 * A peer that wants to connect. It is to be accepted or rejected, once; {@link #close()} rejects when neither was done.
 * Peers wait for some seconds, then they give up.
 */
public final class ConnectionRequest implements AutoCloseable {
    private final ConnectionManager manager;
    private final Link link;
    private final ConnectionSettings settings;
    private final InetSocketAddress peerAddress;
    private final AtomicBoolean answered = new AtomicBoolean();

    ConnectionRequest(ConnectionManager manager, Link link, ConnectionSettings settings) {
        this.manager = manager;
        this.link = link;
        this.settings = settings;
        this.peerAddress = link.id().peerAddress();
    }

    /** The address of the peer. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** What the peer offers, and its private data. */
    public ConnectionParameters parameters() {
        return link.peerParameters();
    }

    /** What the peer sent along; it may be longer than what the peer gave, filled with zeros. */
    public byte[] privateData() {
        return link.peerParameters().privateData();
    }

    /**
     * Accepts, with the parameters of the listener's settings.
     *
     * @param timeout how long the handshake may take
     * @return to be closed
     */
    public Connection accept(Duration timeout) throws RdmaException, InterruptedException {
        return accept(settings.parameters(), timeout);
    }

    /**
     * Accepts.
     *
     * @param parameters with at most 196 bytes of private data
     * @param timeout how long the handshake may take
     * @return to be closed
     * @throws IllegalStateException when it was accepted or rejected before
     */
    public Connection accept(ConnectionParameters parameters, Duration timeout)
            throws RdmaException, InterruptedException {
        Limit limit = Limit.of(timeout);
        requireUnanswered();
        return manager.establish(link, settings, connection -> connection.accept(parameters, limit));
    }

    /**
     * Rejects.
     *
     * @param privateData what the peer is told, at most 148 bytes
     * @throws IllegalArgumentException when it is longer; then it is not answered yet
     * @throws IllegalStateException when it was accepted or rejected before
     */
    public void reject(byte[] privateData) throws RdmaException {
        if (privateData.length > 148) {
            throw new IllegalArgumentException("reject takes at most 148 bytes of private data, not "
                    + privateData.length);
        }
        requireUnanswered();
        try {
            if (!isDead()) {
                link.id().reject(privateData);
            }
        } finally {
            link.close();
        }
    }

    /** Rejects, when it was not answered. */
    @Override
    public void close() throws RdmaException {
        if (answered.compareAndSet(false, true)) {
            // destroying an unanswered id rejects
            link.close();
        }
    }

    /** Whether the peer has given up, or the manager was closed. */
    boolean isDead() {
        link.lock.lock();
        try {
            return link.failure() != null || link.isDisconnected();
        } finally {
            link.lock.unlock();
        }
    }

    private void requireUnanswered() {
        if (!answered.compareAndSet(false, true)) {
            throw new IllegalStateException(this + " was answered already");
        }
    }

    @Override
    public String toString() {
        return "ConnectionRequest[from " + peerAddress + "]";
    }
}
