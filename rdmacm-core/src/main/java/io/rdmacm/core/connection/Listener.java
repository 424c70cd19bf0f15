// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.rdmacm.core.internal.engine.Acceptor;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.internal.engine.Wildcard;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.metrics.MetricSource;

/**
 * Listens for connections at an address. The backlog bounds the number of handshakes in progress and of established
 * connections that nobody has accepted, together. Requests to connect beyond it wait; they are not rejected. All
 * methods may be called from any number of threads; {@link #close()} wakes those that wait.
 */
public final class Listener implements MetricSource, AutoCloseable {
    private final ConnectionManager manager;
    private final ConnectionSettings settings;
    private final Acceptor<MessageLink> acceptor;

    Listener(ConnectionManager manager, CmLoop loop, InetSocketAddress address, int backlog,
            ConnectionSettings settings) throws RdmaException {
        this.manager = manager;
        this.settings = settings;
        this.acceptor = Acceptor.listen(loop, Wildcard.ofBothFamilies(address), new Acceptor.Settings<>("Listener",
                false, backlog, settings.handshakeTimeout(),
                request -> new MessageLink(manager, loop, settings, request)));
    }

    /** {@return the address that it listens on, with the actual port} */
    public InetSocketAddress address() {
        return acceptor.address();
    }

    /**
     * {@return the requests that wait, the handshakes in progress, the connections that nobody has taken, and how many
     * handshakes have succeeded and failed so far; without the requests that {@link #nextRequest} has handed out}
     */
    @Override
    public Map<String, Long> metrics() {
        return acceptor.metrics();
    }

    /**
     * Waits for the next connect request and accepts it. The handshakes of as many requests as the backlog allows are
     * carried on together, and the first connection that is established is returned. A peer that gives up during the
     * handshake, or does not complete it within {@link ConnectionSettings#handshakeTimeout()}, is dropped, and the wait
     * continues.
     *
     * @param timeout the longest time to wait; handshakes that have begun go on after it has run out
     * @return the connection, to be closed
     * @throws RdmaTimeoutException when no connection was established in time
     * @throws RdmaClosedException when another thread closed the listener or the manager
     * @throws io.rdmacm.core.DeviceRemovedException when the device was removed
     * @throws RdmaException ENOMEM or EINVAL when the device has no resources for queues and buffers of this size, or
     *         the settings exceed a limit of the device, which is named
     * @throws InterruptedException when this thread was interrupted
     */
    public Connection accept(Duration timeout) throws RdmaException, InterruptedException {
        return acceptor.accept(timeout).connection();
    }

    /**
     * Accepts the next connect request, as {@link #accept} does, without a thread that waits. Any number may wait at
     * the same time; with {@code orTimeout} they wait no longer than they should.
     *
     * @return completes with the connection, to be closed; fails with the exceptions of {@link #accept}. If it was
     *         cancelled or has timed out before, the next one who accepts gets the connection. Dependent actions run in
     *         threads of the library, each in its own.
     */
    public CompletableFuture<Connection> acceptAsync() {
        return acceptor.acceptAsync(MessageLink::connection);
    }

    /**
     * Accepts all connect requests from now on, as {@link #accept} would, without a thread that waits, as
     * {@link ConnectionManager#serve} does from the beginning. The connections are passed to
     * {@link ConnectionHandler#onConnect}. Requests that this side cannot accept are logged. The other methods that
     * accept throw IllegalStateException then, also in threads that wait.
     *
     * @throws IllegalStateException when the settings of this listener have no handler
     * @throws RdmaClosedException when this listener is closed
     */
    public void acceptAll() throws RdmaException {
        if (settings.handlers().isEmpty()) {
            throw new IllegalStateException("nobody would know of the connections: the settings of " + this
                    + " have no handler");
        }
        acceptor.acceptAll(link -> { });
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
        return new ConnectionRequest(manager, acceptor.nextRequest(timeout), settings);
    }

    /**
     * Stops listening, and rejects the requests that wait. Accepted connections stay open. Has no effect when called
     * again.
     *
     * @throws RdmaException when C cannot destroy the id; call this again
     */
    @Override
    public void close() throws RdmaException {
        if (acceptor.close(link -> link.connection().close())) {
            manager.forget(this);
        }
    }

    @Override
    public String toString() {
        return acceptor.toString();
    }
}
