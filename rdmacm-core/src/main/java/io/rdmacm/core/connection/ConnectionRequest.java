// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;

/**
 * A peer's request to connect, to be accepted or rejected once; {@link #close()} rejects it if neither was done. A peer
 * gives up after some seconds.
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

    /** Returns the address of the peer. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** Returns the parameters and private data that the peer sent. */
    public ConnectionParameters parameters() {
        return link.peerParameters();
    }

    /** Returns the peer's private data, which may be longer than what the peer gave, padded with zeros. */
    public byte[] privateData() {
        return link.peerParameters().privateData();
    }

    /**
     * Accepts the connection with the parameters of the listener's settings.
     *
     * @param timeout the longest time that the handshake may take
     * @return the connection, to be closed
     * @throws IllegalStateException when the request was already accepted or rejected
     */
    public Connection accept(Duration timeout) throws RdmaException, InterruptedException {
        return accept(settings.parameters(), timeout);
    }

    /**
     * Accepts the connection.
     *
     * @param parameters with at most 196 bytes of private data
     * @param timeout the longest time that the handshake may take
     * @return the connection, to be closed
     * @throws IllegalStateException when the request was already accepted or rejected
     */
    public Connection accept(ConnectionParameters parameters, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        requireUnanswered();
        return manager.establish(link, settings, connection -> connection.accept(parameters, deadline));
    }

    /**
     * Rejects the connection.
     *
     * @param privateData sent to the peer, at most 148 bytes
     * @throws IllegalArgumentException when it is longer; the request can still be answered then
     * @throws IllegalStateException when the request was already accepted or rejected
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

    /** Rejects the connection if it was neither accepted nor rejected. */
    @Override
    public void close() throws RdmaException {
        if (answered.compareAndSet(false, true)) {
            // destroying the id of an unanswered request rejects it
            link.close();
        }
    }

    /** Returns whether the peer has given up or the manager was closed. */
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
            throw new IllegalStateException(this + " was already answered");
        }
    }

    @Override
    public String toString() {
        return "ConnectionRequest[from " + peerAddress + "]";
    }
}
