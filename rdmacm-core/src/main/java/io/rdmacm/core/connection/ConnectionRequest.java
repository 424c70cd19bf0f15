// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Stack;
import io.rdmacm.verbs.internal.wait.Deadline;

/**
 * A peer's request to connect. Accept or reject it once; {@link #close()} rejects it if neither was done. The peer does
 * not wait forever: it gives up when its own timeout ends.
 *
 * <p>All methods may be called from any thread.
 */
public final class ConnectionRequest implements AutoCloseable {
    private final ConnectionManager manager;
    private final MessageLink link;
    private final ConnectionSettings settings;
    private final InetSocketAddress peerAddress;
    private final AtomicBoolean answered = new AtomicBoolean();

    ConnectionRequest(ConnectionManager manager, MessageLink link, ConnectionSettings settings) {
        this.manager = manager;
        this.link = link;
        this.settings = settings;
        this.peerAddress = link.id().peerAddress();
    }

    /** {@return the address of the peer} */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** {@return the parameters that the peer sent, with its private data} */
    public ConnectionParameters parameters() {
        return link.peerParameters();
    }

    /** {@return a copy of the private data that the peer sent, which may be padded with zeros at the end} */
    public byte[] privateData() {
        return link.peerParameters().privateData();
    }

    /**
     * Returns the protection domain that the connection will belong to: to register memory before it is accepted, whose
     * {@link io.rdmacm.verbs.MemoryRegion#remoteMemory()} can then be sent in the private data of the answer.
     *
     * @return the {@link Connection#protectionDomain()} of the connection
     * @throws RdmaException ENOMEM when the domain cannot be allocated
     * @throws IllegalStateException when the request was closed or rejected
     */
    public ProtectionDomain protectionDomain() throws RdmaException {
        return manager.device(link.id()).domain();
    }

    /**
     * Accepts the connection with the parameters in the listener's settings.
     *
     * @param timeout the longest time that the handshake may take
     * @return the connection, to be closed
     * @throws IllegalStateException when the request was already accepted or rejected
     * @throws RdmaException as {@link #accept(ConnectionParameters, Duration)}
     * @throws InterruptedException when this thread was interrupted; the connection is abandoned then
     */
    public Connection accept(Duration timeout) throws RdmaException, InterruptedException {
        return accept(settings.parameters(), timeout);
    }

    /**
     * Accepts the connection and completes the handshake.
     *
     * @param parameters with at most 196 bytes of private data
     * @param timeout the longest time that the handshake may take
     * @return the connection, to be closed
     * @throws IllegalArgumentException when the private data are longer; the request can still be answered then
     * @throws IllegalStateException when the request was already accepted or rejected
     * @throws io.rdmacm.core.DisconnectedException when the peer has given up
     * @throws io.rdmacm.core.UnreachableException when the peer did not complete the handshake
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when the handshake took too long
     * @throws io.rdmacm.verbs.error.RdmaClosedException when another thread closed the manager
     * @throws RdmaException ENOMEM or EINVAL when the device has no resources for queues and buffers of this size
     * @throws InterruptedException when this thread was interrupted; the connection is abandoned then
     */
    public Connection accept(ConnectionParameters parameters, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        AgreedSizes.requireRoom(settings, parameters, "accept", PortSpace.TCP.maxAcceptPrivateData());
        requireUnanswered();
        return manager.establish(() -> {
            begin(parameters);
            return link;
        }, deadline);
    }

    /** Accepts the connection without waiting for the peer to confirm. The request was not answered before. */
    private void begin(ConnectionParameters parameters) throws RdmaException {
        boolean accepted = false;
        try {
            link.answer(parameters);
            link.accept();
            accepted = true;
        } finally {
            if (!accepted) {
                link.abandon();
            }
        }
    }

    /**
     * Rejects the connection. Has no effect on a peer that has given up.
     *
     * @param privateData sent to the peer, at most 148 bytes
     * @throws IllegalArgumentException when it is longer; the request can still be answered then
     * @throws IllegalStateException when the request was already accepted or rejected
     * @throws RdmaException when C cannot destroy the id of the request
     */
    public void reject(byte[] privateData) throws RdmaException {
        int limit = PortSpace.TCP.maxRejectPrivateData();
        if (privateData.length > limit) {
            throw new IllegalArgumentException("reject takes at most " + limit + " bytes of private data, not "
                    + privateData.length);
        }
        requireUnanswered();
        try {
            if (!isDead()) {
                link.id().reject(privateData);
            }
        } catch (RdmaException e) {
            // The peer has given up, which no event reports.
            if (e.errno() != Rdma.EINVAL()) {
                throw e;
            }
        } finally {
            link.close();
        }
    }

    /**
     * Rejects the connection if it was neither accepted nor rejected; has no effect otherwise.
     *
     * @throws RdmaException when C cannot destroy the id of the request; call this again
     */
    @Override
    public void close() throws RdmaException {
        Stack.require();
        if (answered.compareAndSet(false, true)) {
            boolean closed = false;
            try {
                // destroying the id of an unanswered request rejects it
                link.close();
                closed = true;
            } finally {
                answered.set(closed);
            }
        }
    }

    /** Returns whether the peer has given up or the manager was closed. */
    boolean isDead() {
        return link.failure() != null || link.isDisconnected();
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
