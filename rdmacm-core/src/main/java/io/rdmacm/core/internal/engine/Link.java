// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.RnrTimer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of one id, from the first step of a connect or from a request to its close. The thread of the loop carries
 * the handshake on from event to event; a subclass creates the queues and learns what the peer says.
 */
public abstract class Link implements CmLoop.Handler {
    private static final Logger LOG = LoggerFactory.getLogger(Link.class);
    // With the state, which the connection manager has just set, no query of it is needed.
    private static final QueuePairAttributes RNR_TIMER = QueuePairAttributes.builder()
            .currentState(QueuePairState.RTS).minRnrTimer(RnrTimer.atLeast(Duration.ofNanos(640_000))).build();
    // RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH
    private static final int AS_MANY_AS_POSSIBLE = 255;
    private static final Runnable NOTHING = () -> {
    };

    private final CmLoop loop;
    private final boolean client;
    // null until the handshake of a client has begun
    @SuppressWarnings("NullAway.Init")
    private volatile CmId id;
    private volatile String name;
    private volatile @Nullable InetSocketAddress peer;
    private volatile Runnable changed = NOTHING;
    private volatile Runnable handshakeEnded = NOTHING;
    private volatile boolean accepting;
    // ends the handshake when it takes too long; used by the thread of the loop
    private @Nullable Runnable alarm;
    // set when nobody waits for the handshake any more
    private volatile boolean stopped;
    // the handshake is complete, which nobody may have been told of yet
    private volatile boolean confirmed;
    private volatile boolean established;
    // why the connection failed or broke; null while it has not
    private volatile @Nullable RdmaException failure;
    private volatile boolean disconnecting;
    private volatile boolean disconnected;
    // set before either of the two above
    private volatile boolean byPeer;

    /** Creates the link of a client. */
    protected Link(CmLoop loop) {
        this.loop = loop;
        this.client = true;
        this.name = "nobody";
    }

    /** Creates the link of a server for a connect request, which is being handled. */
    protected Link(CmLoop loop, CmEvent request) {
        this.loop = loop;
        this.client = false;
        this.id = request.id();
        this.peer = id.peerAddress();
        this.name = this.peer.toString();
    }

    /** Creates the queue pair of the id, in the thread of the loop. Returns what the peer is told. */
    protected abstract ConnectionParameters prepare() throws RdmaException;

    /** The peer has completed the handshake, in the thread of the loop. */
    protected abstract void confirmed(CmEvent event) throws RdmaException;

    /** Called by the thread of the loop, without a lock, before {@link #changed} when the connection is established. */
    protected void announced() {
    }

    /** Frees the queues. Called in the thread of the loop, or when the id has been closed. */
    protected abstract void free() throws RdmaException;

    /** Called by the thread of the loop, without a lock, whenever something has changed. */
    protected void changed() {
        changed.run();
    }

    /** Returns the time for the next step of a connect. */
    protected abstract Duration stepTime();

    /** Returns whether {@link #prepare} failed because of what the peer did. */
    protected boolean isPeers(RdmaException reason) {
        return Reasons.isPeers(reason);
    }

    /**
     * Sets what is called after anything has changed, by the thread of the loop and without a lock. It is not told of
     * what has changed before.
     */
    public final void onChange(Runnable listener) {
        changed = listener;
    }

    /**
     * Sets what is called when the handshake is complete or never will be, maybe more than once, by the thread of the
     * loop.
     */
    protected final void onHandshakeEnd(Runnable listener) {
        handshakeEnded = listener;
    }

    /** Returns whether a request is being or was accepted. */
    protected final boolean isAccepting() {
        return accepting;
    }

    /** Returns the id. */
    public final CmId id() {
        return id;
    }

    /** Returns the loop. */
    protected final CmLoop loop() {
        return loop;
    }

    /** Returns the address of the peer, as the program gave it; null before a client knows it. */
    public @Nullable InetSocketAddress peerAddress() {
        return peer;
    }

    /** Returns who the peer is, for messages. */
    protected final String name() {
        return name;
    }

    /** Opens the id of a client. */
    protected final void open() throws RdmaException {
        id = loop.open(this);
    }

    /** Opens another id for a client that has not started its handshake, in place of the first one. */
    protected final void reopen() throws RdmaException {
        loop.drop(id);
        open();
    }

    /** Hands the events of the id of a request to this link. */
    protected final void register() {
        loop.register(id, this);
    }

    /**
     * Binds an id to a local address.
     *
     * @throws RdmaException ENODEV when the address belongs to no RDMA device, which the kernel may accept
     */
    public static void bind(CmId id, InetSocketAddress local) throws RdmaException {
        id.bindAddress(local);
        if (!Wildcard.isAny(local) && !hasDevice(id)) {
            throw Failures.of("rdma_bind_addr", Rdma.ENODEV(), local + " belongs to no RDMA device");
        }
    }

    private static boolean hasDevice(CmId id) {
        try {
            return id.context().isOpen();
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /**
     * Returns where to connect to. A wildcard address stands for this host, as it does for the JDK; RDMA has no
     * loopback interface, so it becomes the first address that belongs to a device.
     *
     * @throws RdmaException ENODEV when there is none
     */
    protected final InetSocketAddress reachable(InetSocketAddress peer) throws RdmaException {
        if (!Wildcard.isAny(peer)) {
            return peer;
        }
        List<InetAddress> addresses = Wildcard.ofThisHost(peer);
        RdmaException none = Failures.of("rdma_resolve_addr", Rdma.ENODEV(), peer
                + ", which stands for this host: none of its addresses " + addresses + " is one of an RDMA device");
        for (InetAddress address : addresses) {
            CmId probe = loop.open(this);
            try {
                bind(probe, new InetSocketAddress(address, 0));
                return new InetSocketAddress(address, peer.getPort());
            } catch (RdmaException e) {
                none.addSuppressed(e);
            } finally {
                loop.drop(probe);
            }
        }
        throw none;
    }

    /** Starts the handshake of a client. */
    protected final void resolve(InetSocketAddress target) throws RdmaException {
        peer = target;
        name = target.toString();
        id.resolveAddress(target, kernelTime());
    }

    /** Ends the handshake if it is not complete in time. Called by the thread of the loop. */
    protected final void limit(Deadline deadline, String what) {
        cancelAlarm();
        alarm = loop.at(deadline, () -> {
            alarm = null;
            if (!confirmed) {
                fail(timeout(what));
            }
        });
    }

    /** Returns what to throw when the handshake takes too long. */
    protected final RdmaTimeoutException timeout(String what) {
        return new RdmaTimeoutException(what, "the handshake with " + name + " was not completed in time");
    }

    private Duration kernelTime() {
        return Deadline.after(stepTime()).remainingForKernel();
    }

    /**
     * Accepts the request: creates the queues and sends the answer. Does not wait for the peer to confirm. If it
     * throws, the request was rejected, and the link is to be discarded.
     *
     * @throws DisconnectedException when the peer has given up
     * @throws RdmaException when this side has no resources, or its parameters are wrong
     */
    public final void accept() throws RdmaException {
        accepting = true;
        ConnectionParameters parameters = null;
        try {
            parameters = prepare();
            id.accept(parameters);
            shortenRnrTimer();
        } catch (RdmaException | IllegalStateException e) {
            boolean over = id.state().isOver();
            // That the peer has given up is reported by no event. A reject then fails too.
            if (!canReject() && (over || isVague(e))) {
                throw gone(e);
            }
            if (e instanceof RdmaException reason) {
                throw explained(reason, parameters);
            }
            throw e;
        } catch (Error e) {
            canReject();
            throw Reasons.of("rdma_accept", e);
        }
    }

    /** Returns whether a failure may mean that the peer has given up, because it names no resource. */
    private static boolean isVague(Exception e) {
        return !(e instanceof RdmaException reason) || reason.errno() == Rdma.EINVAL()
                || reason.errno() == Rdma.ENOTCONN() || reason.errno() == Rdma.ECONNRESET();
    }

    private boolean canReject() {
        try {
            id.reject();
            return true;
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("the request of {} cannot be rejected", name, e);
            return false;
        }
    }

    private DisconnectedException gone(Exception cause) {
        DisconnectedException gone = disconnected("accepting " + name, DisconnectedException.Reason.PEER_GAVE_UP);
        gone.initCause(cause);
        return gone;
    }

    /** Names the limit of the device that parameters exceed, of which C says EINVAL only. */
    private RdmaException explained(RdmaException reason, @Nullable ConnectionParameters parameters) {
        if (reason.errno() != Rdma.EINVAL() || parameters == null) {
            return reason;
        }
        try {
            DeviceAttributes limits = id.context().queryDevice();
            String excess = excess("responderResources", parameters.responderResources(),
                    limits.maxQueuePairReadAtomic())
                    + excess("initiatorDepth", parameters.initiatorDepth(), limits.maxQueuePairInitiatorReadAtomic());
            if (excess.isEmpty()) {
                return reason;
            }
            RdmaException explained = Failures.of(reason.function(), Rdma.EINVAL(), id.context().deviceName() + excess);
            explained.initCause(reason);
            return explained;
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("the limits of the device are not known", e);
            return reason;
        }
    }

    private static String excess(String what, int wanted, int limit) {
        return wanted <= limit || wanted == AS_MANY_AS_POSSIBLE ? ""
                : " allows " + what + " of at most " + limit + ", not " + wanted;
    }

    @Override
    public final void handle(CmEvent event) {
        if (confirmed && !established) {
            announce();
        }
        try {
            switch (event.type()) {
                case ADDR_RESOLVED -> resolveRoute();
                case ROUTE_RESOLVED -> loop.whenFree(this::beginConnect);
                case ESTABLISHED -> confirm(event);
                case DISCONNECTED -> end();
                case TIMEWAIT_EXIT, ADDR_CHANGE, USER -> {
                    return;
                }
                default -> {
                    fail(event.failure((established ? "the connection with " : "connecting with ") + name));
                    return;
                }
            }
        } catch (RdmaException | RuntimeException | Error e) {
            fail(Reasons.of("rdma_get_cm_event", e));
            return;
        }
        changed();
    }

    private void resolveRoute() throws RdmaException {
        if (!stopped) {
            resolveRoute(kernelTime());
        }
    }

    /** Resolves the route to the peer, or sets it. */
    protected void resolveRoute(Duration time) throws RdmaException {
        id.resolveRoute(time);
    }

    /**
     * Creates the queues and asks the peer. When many connects begin at once, the answer to the first would otherwise
     * wait until all have their queues, maybe until its time is over.
     */
    private void beginConnect() {
        try {
            connect();
            changed();
        } catch (RdmaException | RuntimeException | Error e) {
            fail(Reasons.of("rdma_get_cm_event", e));
        }
    }

    private void connect() throws RdmaException {
        if (stopped || failure != null) {
            return;
        }
        ConnectionParameters parameters = prepare();
        try {
            id.connect(parameters);
        } catch (RdmaException e) {
            throw explained(e, parameters);
        }
        limit(Deadline.after(stepTime()), "rdma_connect");
    }

    private void confirm(CmEvent event) throws RdmaException {
        if (stopped || failure != null) {
            // Too late: the link is being closed.
            return;
        }
        confirmed = true;
        confirmed(event);
        if (client) {
            shortenRnrTimer();
        }
        cancelAlarm();
        // When many connections are established at once, those who wait for them are woken together.
        loop.whenIdle(this::announce);
    }

    /** Tells who waits for it that the connection is established, before anything else happens to it. */
    private void announce() {
        if (!established && !stopped && failure == null) {
            established = true;
            LOG.debug("{} {}", client ? "connected to" : "accepted", name);
            try {
                announced();
                handshakeEnded.run();
                changed();
            } catch (RuntimeException | Error e) {
                // Whoever waits for the connection would wait for ever.
                fail(Reasons.of("rdma_get_cm_event", e));
            }
        }
    }

    /**
     * Shortens the time after which the peer sends again when this side had no free buffer. The connection manager
     * leaves it at the longest possible, 655 ms. iWARP has no such timer: a message that finds no buffer is the end.
     */
    private void shortenRnrTimer() {
        try {
            if (id.context().transportType() != TransportType.IWARP) {
                id.queuePair().orElseThrow().modify(RNR_TIMER);
            }
        } catch (RdmaException | RuntimeException e) {
            // A queue pair in error, after the peer has already ended the connection, accepts no attributes.
            LOG.debug("the RNR timer of {} could not be set", this, e);
        }
    }

    private void cancelAlarm() {
        if (alarm != null) {
            alarm.run();
            alarm = null;
        }
    }

    /** The peer has disconnected, or answered a disconnect. */
    private void end() throws RdmaException {
        synchronized (this) {
            byPeer |= !disconnecting;
            disconnected = true;
        }
        if (byPeer) {
            LOG.debug("{} has disconnected", name);
        }
        if (!established) {
            fail(disconnected("the handshake with " + name, byPeer ? DisconnectedException.Reason.PEER_GAVE_UP
                    : DisconnectedException.Reason.DISCONNECTED_HERE));
        }
        // The answer, which flushes what was posted.
        disconnect();
    }

    @Override
    public final void fail(RdmaException reason) {
        if (failure == null) {
            failure = reason;
            LOG.debug("the connection with {} has ended: {}", name, reason.getMessage());
        }
        if (loop.isCurrent()) {
            cancelAlarm();
        }
        if (confirmed) {
            // The peer is told if that is possible, and what was posted is flushed.
            disconnectQuietly();
        }
        handshakeEnded.run();
        changed();
    }

    /** Returns whether the handshake is complete, also after the end. */
    public final boolean isEstablished() {
        return established;
    }

    /** Returns whether either side has disconnected. */
    public final boolean isDisconnected() {
        return disconnected || disconnecting;
    }

    /** Returns whether the disconnect was answered, or never will be. */
    public final boolean isAnswered() {
        return disconnected || failure != null;
    }

    /** Returns whether the peer was the first to disconnect. */
    public final boolean isDisconnectedByPeer() {
        return byPeer;
    }

    /** Returns what to throw after a disconnect. */
    public final DisconnectedException disconnected(String waitedFor) {
        return disconnected(waitedFor, byPeer ? DisconnectedException.Reason.PEER_DISCONNECTED
                : DisconnectedException.Reason.DISCONNECTED_HERE);
    }

    /** Returns what to throw after an end of the given kind. */
    public final DisconnectedException disconnected(String waitedFor, DisconnectedException.Reason reason) {
        return new DisconnectedException(waitedFor, reason, peer);
    }

    /** Returns why the connection failed or broke, null if it has not. */
    public final @Nullable RdmaException failure() {
        return failure;
    }

    /** Ends the connection and flushes posted work, once. */
    public final void disconnect() throws RdmaException {
        synchronized (this) {
            if (disconnecting || !confirmed && !disconnected) {
                return;
            }
            disconnecting = true;
        }
        disconnects();
        if (!disconnected) {
            LOG.debug("disconnecting from {}", name);
        }
        id.disconnect();
    }

    /**
     * Posted work was flushed over iWARP, where the event comes later: if this side has not disconnected, the peer has.
     */
    public final void flushed() {
        synchronized (this) {
            byPeer |= !disconnecting;
        }
        disconnectQuietly();
    }

    /** This side disconnects now, maybe in answer to the peer. */
    protected void disconnects() {
    }

    /** Like {@link #disconnect}; a failure is of no interest, because the peer may have ended it meanwhile. */
    public final void disconnectQuietly() {
        try {
            disconnect();
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("{} could not be disconnected", name, e);
        }
    }

    /** Begins no further step of a handshake. The link is to be closed. */
    public final void stop() {
        stopped = true;
    }

    /** Returns whether nobody waits for the handshake any more. */
    protected final boolean isStopped() {
        return stopped;
    }

    /**
     * Closes the id, in the thread of the loop, and returns when that is done. If the handshake was not complete, the
     * queues are freed as well.
     */
    public void close() throws RdmaException {
        stopped = true;
        loop.run(this::discard);
    }

    /** Frees everything. Called by the thread of the loop, not while an event of the id is handled. */
    protected void discard() throws RdmaException {
        stopped = true;
        cancelAlarm();
        handshakeEnded.run();
        free();
        if (id != null) {
            loop.close(id);
        }
    }

    @Override
    public String toString() {
        return "the connection with " + name;
    }
}
