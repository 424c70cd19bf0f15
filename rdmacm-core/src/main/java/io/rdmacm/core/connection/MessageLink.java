// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.internal.engine.Link;
import io.rdmacm.core.internal.engine.Reasons;
import io.rdmacm.core.internal.jfr.ConnectionEvents;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.work.RemoteMemory;
import org.jspecify.annotations.Nullable;

/** The link of a connection: what its peer says, and what becomes of its handshake. */
final class MessageLink extends Link {
    private static final String HANDSHAKE = "rdma_get_cm_event";

    private final ConnectionManager manager;
    private final ConnectionSettings settings;
    // null for a server
    private final @Nullable Deadline deadline;
    private final CompletableFuture<Connection> result = new CompletableFuture<>();
    private volatile ConnectionParameters parameters;
    // set before the program is told of the request or the connection
    @SuppressWarnings("NullAway.Init")
    private volatile ConnectionParameters peerParameters;
    // what this side tells, and what the peer does if both sides tell
    private volatile @Nullable AgreedSizes sizes;
    private volatile @Nullable AgreedSizes peerSizes;
    // set with them
    private volatile int initiatorDepth;
    private volatile int responderResources;
    @SuppressWarnings("NullAway.Init")
    private volatile Connection connection;
    // a wrong argument or a closed loop, null if there is none
    private volatile @Nullable RuntimeException misuse;
    // cancels the next check of the peer; used by the thread of the loop
    private @Nullable Runnable keepAlive;
    // what Java Flight Recorder is told, null if it does not ask
    private final @Nullable Object handshake;

    /** Creates the link of a client, which {@link #connect} begins to connect. */
    MessageLink(ConnectionManager manager, CmLoop loop, ConnectionSettings settings, Deadline deadline) {
        super(loop);
        this.manager = manager;
        this.settings = settings;
        this.parameters = settings.parameters();
        this.deadline = deadline;
        this.handshake = ConnectionEvents.handshakeBegins(true);
    }

    /** Creates the link of a connect request. */
    MessageLink(ConnectionManager manager, CmLoop loop, ConnectionSettings settings, CmEvent request) {
        super(loop, request);
        this.manager = manager;
        this.settings = settings;
        this.parameters = settings.parameters();
        this.deadline = null;
        learn(request.connectionParameters());
        this.handshake = ConnectionEvents.handshakeBegins(false);
    }

    /** Starts the handshake of a client. All of it happens in the thread of the loop. An Error ends it. */
    void connect(InetSocketAddress peer) {
        try {
            loop().later(() -> start(peer));
        } catch (Error e) {
            stop();
            fail(Connection.reasonOf(e));
        }
    }

    private void start(InetSocketAddress peer) {
        if (isStopped()) {
            return;
        }
        limit(Objects.requireNonNull(deadline), HANDSHAKE);
        try {
            open();
            InetSocketAddress target = reachable(peer);
            if (settings.localAddress().isPresent()) {
                bind(id(), settings.localAddress().get());
            }
            if (settings.typeOfService() != 0) {
                id().options().typeOfService(settings.typeOfService());
            }
            resolve(target);
        } catch (RdmaException | RuntimeException | Error e) {
            fail(Reasons.of("rdma_resolve_addr", e));
        }
    }

    @Override
    protected Duration stepTime() {
        return deadline == null ? settings.handshakeTimeout() : deadline.remaining();
    }

    @Override
    protected void resolveRoute(Duration time) throws RdmaException {
        byte[] route = settings.route();
        if (route.length == 0) {
            super.resolveRoute(time);
        } else {
            id().options().infinibandPaths(route);
        }
    }

    @Override
    protected ConnectionParameters prepare() throws RdmaException {
        if (settings.ackTimeout().isPresent()) {
            id().options().ackTimeout(settings.ackTimeout().get());
        }
        try {
            connection = Connection.create(manager, this, settings);
        } catch (IllegalArgumentException | IllegalStateException e) {
            misuse = e;
            throw e;
        }
        AgreedSizes asked = peerSizes;
        // A server tells only those who ask, and what they ask.
        if (!settings.agreedSizes() || peerParameters != null && asked == null) {
            return parameters;
        }
        // iWARP has no immediate values, and reads into memory that is open to remote writes only.
        boolean large = settings.largeMessages() > 0 && (asked == null || asked.hasLarge())
                && connection.receiveSize() >= RemoteMemory.BYTES
                && id().context().transportType() != TransportType.IWARP;
        AgreedSizes told = new AgreedSizes(connection.receiveSize(), large ? settings.largeMessageSize() : 0,
                large ? settings.largeMessages() : 0);
        sizes = told;
        return told.before(parameters);
    }

    private void learn(ConnectionParameters told) {
        AgreedSizes agreed = settings.agreedSizes() ? AgreedSizes.in(told) : null;
        peerSizes = agreed;
        peerParameters = agreed == null ? told : agreed.cutFrom(told);
    }

    /** Returns what the peer receives, null unless both sides tell. */
    @Nullable AgreedSizes peerSizes() {
        return peerSizes;
    }

    /** Returns whether the peer was told that this side takes large messages. */
    boolean takesLargeMessages() {
        AgreedSizes told = sizes;
        return told != null && told.hasLarge();
    }

    /** Sets what the peer of a request is told. */
    void answer(ConnectionParameters answer) {
        parameters = answer;
    }

    @Override
    protected void confirmed(CmEvent event) {
        if (peerParameters == null) {
            learn(event.connectionParameters());
        }
        // iWARP need not tell the peer's.
        ConnectionParameters peers = id().context().transportType() == TransportType.IWARP ? parameters
                : peerParameters;
        initiatorDepth = Math.min(parameters.initiatorDepth(), peers.initiatorDepth());
        responderResources = Math.min(parameters.responderResources(), peers.responderResources());
    }

    @Override
    protected void announced() {
        // The handler may close the connection, or ask the manager to close.
        manager.add(connection);
        connection.established();
        record(null);
        result.complete(connection);
        if (!settings.keepAlive().isZero()) {
            keepAliveLater();
        }
    }

    /** Checks that the peer can be reached, again and again. Called by the thread of the loop. */
    private void keepAliveLater() {
        keepAlive = loop().at(Deadline.after(settings.keepAlive()), () -> {
            if (!isDisconnected() && failure() == null && connection.keepAlive()) {
                keepAliveLater();
            }
        });
    }

    @Override
    protected void changed() {
        RdmaException reason = failure();
        if (reason != null && !result.isDone()) {
            // A mistake of the program, which was found only now, is thrown as what it is.
            Throwable thrown = misuse != null ? misuse : reason;
            record(thrown);
            result.completeExceptionally(thrown);
        }
        super.changed();
        Connection current = connection;
        if (current != null) {
            current.linkChanged();
        }
    }

    @Override
    protected void disconnects() {
        if (isEstablished()) {
            connection.recordDisconnect(isDisconnectedByPeer());
        }
    }

    private void record(@Nullable Throwable reason) {
        if (handshake != null) {
            Connection current = connection;
            ConnectionEvents.handshakeEnds(handshake, current == null ? null : current.localAddress(), name(), reason);
        }
    }

    /** Returns the parameters that the peer sent, null before they arrive. */
    ConnectionParameters peerParameters() {
        return peerParameters;
    }

    /** Returns how many reads and atomic operations both sides allow this one to have in flight. */
    int initiatorDepth() {
        return initiatorDepth;
    }

    /** Returns how many reads and atomic operations both sides allow the peer to have in flight. */
    int responderResources() {
        return responderResources;
    }

    /** Returns the connection, null before its queues are created. */
    Connection connection() {
        return connection;
    }

    /** Returns how the handshake ends. What depends on it runs in the thread of the loop, and must not wait. */
    CompletableFuture<Connection> result() {
        return result;
    }

    /** Waits for the end of the handshake. */
    Connection await(Deadline limit) throws RdmaException, InterruptedException {
        try {
            return result.get(limit.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw timeout(HANDSHAKE);
        } catch (ExecutionException e) {
            throw cause(e);
        }
    }

    @SuppressWarnings("NullAway") // an ExecutionException of a future has a cause
    private static RdmaException cause(ExecutionException e) {
        return switch (e.getCause()) {
            case RdmaException reason -> reason;
            case RuntimeException reason -> throw reason;
            default -> throw new IllegalStateException(e);
        };
    }

    /** Frees what a handshake has left that nobody waits for any more. */
    void abandon() throws RdmaException {
        stop();
        record(timeout(HANDSHAKE));
        // After this, the thread of the loop is in no step of the handshake, and will begin none.
        loop().run(() -> {
        });
        Connection current = connection;
        if (current == null) {
            close();
        } else {
            current.close(Deadline.after(Duration.ZERO));
        }
    }

    @Override
    protected void free() throws RdmaException {
        if (keepAlive != null) {
            keepAlive.run();
        }
        Connection current = connection;
        if (current != null) {
            current.discard();
        }
    }
}
