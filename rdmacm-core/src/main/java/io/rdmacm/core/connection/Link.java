// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.internal.jfr.ConnectionEvents;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The id of one connection: its handshake, which the thread of the event loop carries on from event to event, and how
 * it ends.
 */
final class Link implements EventLoop.Handler {
    private static final Logger LOG = LoggerFactory.getLogger(Link.class);

    private final ConnectionManager manager;
    private final EventLoop loop;
    private final ConnectionSettings settings;
    // null until the handshake of a client has begun
    @SuppressWarnings("NullAway.Init")
    private volatile CmId id;
    private final String name;
    private final @Nullable Deadline deadline;
    // Ends the handshake of a client when it takes too long; null for a server. Used by the thread of the event loop.
    private @Nullable Runnable alarm;
    private final CompletableFuture<Connection> outcome = new CompletableFuture<>();
    // set before the program is told of the request or the connection
    @SuppressWarnings("NullAway.Init")
    private volatile ConnectionParameters peerParameters;
    @SuppressWarnings("NullAway.Init")
    private volatile Connection connection;
    // set when nobody waits for the handshake any more
    private volatile boolean abandoned;
    private volatile boolean established;
    // used by the thread of the event loop
    private boolean announced;
    // why the connection failed or broke; null while it has not
    private volatile @Nullable RdmaException failure;
    private volatile boolean disconnecting;
    private volatile boolean disconnected;
    // what Java Flight Recorder is told, null if it does not ask
    private final Object handshake;

    private Link(ConnectionManager manager, EventLoop loop, ConnectionSettings settings, String name,
            @Nullable Deadline deadline) {
        this.manager = manager;
        this.loop = loop;
        this.settings = settings;
        this.name = name;
        this.deadline = deadline;
        this.handshake = ConnectionEvents.handshakeBegins(deadline != null);
        if (handshake != null) {
            outcome.whenComplete((made, reason) -> recordHandshake(reason));
        }
    }

    private void recordHandshake(@Nullable Throwable reason) {
        Connection made = connection;
        ConnectionEvents.handshakeEnds(handshake, made == null ? null : made.localAddress(), name, reason);
    }

    /** Starts the handshake of a client. All of it happens in the thread of the event loop. */
    static Link connect(ConnectionManager manager, EventLoop loop, InetSocketAddress peer, ConnectionSettings settings,
            Deadline deadline) {
        Link link = new Link(manager, loop, settings, peer.toString(), deadline);
        loop.later(() -> link.resolveAddress(peer));
        return link;
    }

    @SuppressWarnings("NullAway") // only a client resolves, and it has a deadline
    private void resolveAddress(InetSocketAddress peer) {
        if (abandoned) {
            return;
        }
        alarm = loop.at(deadline, () -> outcome.completeExceptionally(timeout()));
        try {
            id = loop.open(this);
            id.resolveAddress(peer, deadline.remainingForKernel());
        } catch (RdmaException | RuntimeException e) {
            outcome.completeExceptionally(e);
        }
    }

    /** Creates the link of a server, for a connect request. Called by the thread of the event loop. */
    static Link requested(ConnectionManager manager, EventLoop loop, CmEvent request, ConnectionSettings settings)
            throws RdmaException {
        CmId id = request.id();
        Link link = new Link(manager, loop, settings, id.peerAddress().toString(), null);
        link.id = id;
        link.peerParameters = request.connectionParameters();
        loop.register(id, link);
        return link;
    }

    CmId id() {
        return id;
    }

    /** Returns the parameters that the peer sent, null before they arrive. */
    ConnectionParameters peerParameters() {
        return peerParameters;
    }

    /** Returns how the handshake ends. What depends on it runs in the thread of the event loop, and must not wait. */
    CompletableFuture<Connection> outcome() {
        return outcome;
    }

    /** Waits for the end of the handshake. */
    Connection await(Deadline limit) throws RdmaException, InterruptedException {
        try {
            return outcome.get(limit.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw timeout();
        } catch (ExecutionException e) {
            throw cause(e);
        }
    }

    /** Returns what to throw when the handshake takes too long. */
    RdmaTimeoutException timeout() {
        return new RdmaTimeoutException("rdma_get_cm_event", "the handshake with " + name
                + " was not completed in time");
    }

    @SuppressWarnings("NullAway") // an ExecutionException of a future has a cause
    private static RdmaException cause(ExecutionException e) {
        return switch (e.getCause()) {
            case RdmaException reason -> reason;
            case RuntimeException reason -> throw reason;
            case Error reason -> throw reason;
            default -> throw new IllegalStateException(e);
        };
    }

    /** Accepts a request: creates the connection and sends the answer. Does not wait for the peer to confirm. */
    void accept(ConnectionParameters parameters) throws RdmaException {
        Connection made;
        try {
            made = Connection.create(manager, this, settings);
        } catch (RdmaException e) {
            // EINVAL may mean that the peer has given up, which no event reports. A reject then fails too.
            if (e.errno() == Rdma.EINVAL() && !canReject()) {
                throw gone(e);
            }
            throw e;
        }
        connection = made;
        try {
            id.accept(parameters);
        } catch (RdmaException | IllegalStateException e) {
            if (e instanceof IllegalStateException && !id.state().isOver()) {
                throw e;
            }
            // The peer has given up: the id refuses if the event that says so was already handled, otherwise C does.
            throw gone(e);
        }
        made.accepted();
    }

    private boolean canReject() {
        try {
            id.reject();
            return true;
        } catch (RdmaException | IllegalStateException e) {
            return false;
        }
    }

    private RdmaException gone(Exception cause) {
        RdmaException gone = new DisconnectedException("accepting " + name);
        gone.initCause(cause);
        return gone;
    }

    @Override
    public void handle(CmEvent event) throws RdmaException {
        try {
            announce();
            switch (event.type()) {
                case ADDR_RESOLVED -> resolveRoute();
                case ROUTE_RESOLVED -> connect();
                case ESTABLISHED -> establish(event);
                case DISCONNECTED -> answerDisconnect();
                case TIMEWAIT_EXIT, ADDR_CHANGE, USER -> {
                    return;
                }
                default -> fail(event.failure("the connection with " + name));
            }
        } catch (RdmaException | RuntimeException e) {
            LOG.debug("the handshake with {} has failed", name, e);
            outcome.completeExceptionally(e);
        }
        if (outcome.isDone()) {
            cancelAlarm();
        }
        Connection changed = connection;
        if (changed != null) {
            changed.linkChanged();
        }
    }

    @SuppressWarnings("NullAway") // only a client resolves, and it has a deadline
    private void resolveRoute() throws RdmaException {
        if (!abandoned) {
            id.resolveRoute(deadline.remainingForKernel());
        }
    }

    private void connect() throws RdmaException {
        if (!abandoned) {
            connection = Connection.create(manager, this, settings);
            id.connect(settings.parameters());
        }
    }

    private void establish(CmEvent event) {
        if (abandoned) {
            // Too late: the connection is being closed, and no handler is told of it.
            return;
        }
        if (peerParameters == null) {
            peerParameters = event.connectionParameters();
        }
        established = true;
        if (deadline != null) {
            connection.accepted();
        }
        // When many connections are established at once, those who wait for them are woken together.
        loop.whenIdle(this::announce);
    }

    /** Tells who waits for it that the connection is established, before anything else happens to it. */
    private void announce() {
        if (established && !announced && !abandoned) {
            announced = true;
            connection.established();
            outcome.complete(connection);
            cancelAlarm();
        }
    }

    private void cancelAlarm() {
        if (alarm != null) {
            alarm.run();
            alarm = null;
        }
    }

    /** Answers the peer, which flushes posted work. */
    private void answerDisconnect() throws RdmaException {
        disconnected = true;
        outcome.completeExceptionally(new DisconnectedException("the handshake with " + name));
        disconnect();
    }

    @Override
    public void fail(RdmaException reason) {
        if (failure == null) {
            failure = reason;
        }
        outcome.completeExceptionally(reason);
        Connection changed = connection;
        if (changed != null) {
            changed.linkChanged();
        }
    }

    /** Returns whether either side has disconnected. */
    boolean isDisconnected() {
        return disconnected || disconnecting;
    }

    /** Returns whether the disconnect was answered, or never will be. */
    boolean isAnswered() {
        return disconnected || failure != null;
    }

    /** Returns why the connection failed or broke, null if it has not. */
    @Nullable RdmaException failure() {
        return failure;
    }

    /** Ends the connection and flushes posted work, once. */
    void disconnect() throws RdmaException {
        synchronized (this) {
            if (disconnecting || !established && !disconnected) {
                return;
            }
            disconnecting = true;
        }
        if (established) {
            connection.recordDisconnect(disconnected);
        }
        id.disconnect();
    }

    /** Ends the handshake, in the thread of the event loop. It is to be abandoned afterwards. */
    void giveUp() {
        abandoned = true;
    }

    /** Frees what a handshake has left that nobody waits for any more. */
    void abandon() throws RdmaException {
        abandoned = true;
        if (handshake != null) {
            recordHandshake(timeout());
        }
        // After this, the thread of the event loop is in no step of the handshake, and will begin none.
        loop.run(() -> {
        });
        Connection made = connection;
        if (made == null) {
            close();
        } else {
            made.close(Deadline.after(Duration.ZERO));
        }
    }

    /** Closes the id, in the thread of the event loop, and returns when that is done. */
    void close() throws RdmaException {
        if (id != null) {
            loop.close(id);
        }
    }
}
