// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.verbs.CFunction;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairType;
import io.rdmacm.verbs.RdmaClosedException;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.RdmaTimeoutException;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.internal.Deadline;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.VerbsAccess;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The synchronous side of librdmacm: a connection-manager id without a channel (rdma_create_id(3) with a null channel,
 * rdma_create_ep(3)), and the helpers of {@code rdma_verbs.h}. Each call returns when what it asks for is done.
 *
 * <p>What C makes by itself is made here too: completion queues and their channels for sends and receives, a protection
 * domain. All of that, and the regions that were registered here, end with the endpoint.
 *
 * <p>Other than in C, every call that waits takes a Duration, ends by an interrupt, is woken by {@link #close()} of
 * another thread, and ends when the connection does: whoever waits watches the events of the connection, and as soon as
 * the end of it is read, work that is still posted is flushed. What an event says comes as an exception: a rejection
 * with its private data, an unreachable peer, a disconnect. After a failed or interrupted step of connecting, the
 * endpoint is good for {@link #close()} only.
 *
 * <p>All methods may be called from any thread. Those that move data are in {@link EndpointTransfers}.
 */
public final class Endpoint extends EndpointTransfers {
    private static final Logger LOG = LoggerFactory.getLogger(Endpoint.class);

    private final EventChannel channel;
    private final CmId id;
    // For what getRequest gives; null when their queue pairs are made by their users.
    private final EndpointAttributes acceptedAttributes;
    private final ReentrantLock disconnecting = new ReentrantLock();
    private final EndpointResources resources;
    private volatile ConnectionParameters peerParameters;
    private volatile DatagramParameters datagramParameters;

    private Endpoint(EventChannel channel, CmId id, EndpointAttributes acceptedAttributes) {
        super(Lifetime.begin(Endpoint.class), VerbsAccess.get().addressOf(id), rdma_cm_id.sizeof());
        this.channel = channel;
        this.id = id;
        this.acceptedAttributes = acceptedAttributes;
        this.resources = new EndpointResources(id, life());
        String text = id.toString();
        life().describe(() -> text);
        id.whenEnded(this::ended);
    }

    /**
     * A new endpoint, neither bound nor connected ({@code rdma_create_id} without a channel).
     *
     * @param portSpace what its port is a port of
     */
    @CFunction("rdma_create_id")
    public static Endpoint open(PortSpace portSpace) throws RdmaException {
        return open(portSpace, null);
    }

    /**
     * An endpoint that is ready to connect: address and route resolved, queue pair made ({@code rdma_create_ep}).
     *
     * @param peer the peer
     * @param portSpace what the port is a port of
     * @param attributes of the queue pair; null to make it later
     * @param timeout how long all of that may take
     */
    @CFunction("rdma_create_ep")
    public static Endpoint createActive(SocketAddress peer, PortSpace portSpace, EndpointAttributes attributes,
            Duration timeout) throws RdmaException, InterruptedException {
        return createActive(null, peer, portSpace, attributes, timeout);
    }

    /**
     * As {@link #createActive(SocketAddress, PortSpace, EndpointAttributes, Duration)}, from a given address of
     * this machine.
     *
     * @param local null to let the kernel choose
     * @param peer the peer
     * @param portSpace what the port is a port of
     * @param attributes of the queue pair; null to make it later
     * @param timeout how long all of that may take
     */
    @CFunction("rdma_create_ep")
    public static Endpoint createActive(SocketAddress local, SocketAddress peer, PortSpace portSpace,
            EndpointAttributes attributes, Duration timeout) throws RdmaException, InterruptedException {
        return createActive(local, peer, portSpace, new byte[0], attributes, timeout);
    }

    /**
     * An endpoint that is ready to listen ({@code rdma_create_ep} with {@code RAI_PASSIVE}).
     *
     * @param local with the port 0 for any port; the wildcard address for all devices
     * @param portSpace what the port is a port of
     * @param attributes of the queue pairs of the endpoints that {@link #getRequest} gives; null to make them later
     */
    @CFunction("rdma_create_ep")
    public static Endpoint createPassive(SocketAddress local, PortSpace portSpace, EndpointAttributes attributes)
            throws RdmaException {
        Endpoint endpoint = open(portSpace, attributes);
        boolean made = false;
        try {
            endpoint.bindAddress(local);
            made = true;
            return endpoint;
        } finally {
            if (!made) {
                endpoint.close();
            }
        }
    }

    /**
     * As the other two, by what {@link AddressInfo#resolve} found: ready to listen when it has the flag PASSIVE, else
     * ready to connect. Where it names routes, these are taken.
     *
     * @param info without data that must go along with the connect: such services are connected step by step
     * @param attributes of the queue pair, or of those that {@link #getRequest} gives; null to make them later
     * @param timeout how long all of that may take
     */
    @CFunction("rdma_create_ep")
    public static Endpoint create(AddressInfo info, EndpointAttributes attributes, Duration timeout)
            throws RdmaException, InterruptedException {
        if (info.connectData().length > 0) {
            throw new IllegalArgumentException("this service wants data with the connect: " + info);
        }
        if (info.flags().contains(AddressInfo.Flag.PASSIVE)) {
            return createPassive(required(info.source(), "source", info), info.portSpace(), attributes);
        }
        return createActive(info.source().orElse(null), required(info.destination(), "destination", info),
                info.portSpace(), info.route(), attributes, timeout);
    }

    private static SocketAddress required(Optional<SocketAddress> address, String name, AddressInfo info) {
        return address.orElseThrow(() -> new IllegalArgumentException("the " + name + " is missing: " + info));
    }

    private static Endpoint createActive(SocketAddress local, SocketAddress peer, PortSpace portSpace, byte[] paths,
            EndpointAttributes attributes, Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        Endpoint endpoint = open(portSpace);
        boolean made = false;
        try {
            endpoint.resolveAddress(local, peer, deadline.remaining());
            if (paths.length == 0) {
                endpoint.resolveRoute(deadline.remaining());
            } else {
                endpoint.step(CmEventType.ROUTE_RESOLVED, deadline.remaining(),
                        limit -> endpoint.id.options().infinibandPaths(paths));
            }
            if (attributes != null) {
                endpoint.createQueuePair(attributes);
            }
            made = true;
            return endpoint;
        } finally {
            if (!made) {
                endpoint.close();
            }
        }
    }

    private static Endpoint open(PortSpace portSpace, EndpointAttributes accepted) throws RdmaException {
        Objects.requireNonNull(portSpace, "portSpace");
        EventChannel channel = EventChannel.open();
        Endpoint endpoint = null;
        try {
            endpoint = new Endpoint(channel, CmId.open(channel, portSpace), accepted);
        } finally {
            if (endpoint == null) {
                channel.close();
            }
        }
        return endpoint;
    }

    /** The new id of a connect request gets a channel of its own, as in C: it is independent of the listener. */
    private static Endpoint requested(CmId requested) throws RdmaException {
        EventChannel channel = null;
        Endpoint endpoint = null;
        try {
            channel = EventChannel.open();
            requested.migrate(channel);
            endpoint = new Endpoint(channel, requested, null);
        } finally {
            if (endpoint == null) {
                requested.close();
                if (channel != null) {
                    channel.close();
                }
            }
        }
        return endpoint;
    }

    /** The id, for its options and addresses. Its events are taken by this endpoint. */
    public CmId id() {
        life().ensureOpen();
        return id;
    }

    /** Where it is between creation and the end of its connection. */
    public CmIdState state() {
        life().ensureOpen();
        return id.state();
    }

    /** The address of this side; IllegalStateException when it has none yet. */
    public InetSocketAddress localAddress() {
        life().ensureOpen();
        return id.localAddress();
    }

    /** The address of the other side; IllegalStateException when it has none yet. */
    public InetSocketAddress peerAddress() {
        life().ensureOpen();
        return id.peerAddress();
    }

    /** The device that it is bound to; IllegalStateException when it is not bound to one yet. */
    public VerbsContext context() {
        life().ensureOpen();
        return id.context();
    }

    /** The queue pair; empty before it is made. It is closed by the endpoint. */
    public Optional<QueuePair> queuePair() {
        life().ensureOpen();
        return Optional.ofNullable(resources.queues()).map(EndpointQueues::queuePair);
    }

    /**
     * What the peer said when it asked for the connection, or answered: parameters and private data. Empty before that,
     * and for datagrams.
     */
    public Optional<ConnectionParameters> peerParameters() {
        life().ensureOpen();
        return Optional.ofNullable(peerParameters);
    }

    /** How to send datagrams to the peer; empty before it has answered a connect, and for connections. */
    public Optional<DatagramParameters> datagramParameters() {
        life().ensureOpen();
        return Optional.ofNullable(datagramParameters);
    }

    /** Binds it to an address of this machine, see {@link CmId#bindAddress}. */
    @CFunction("rdma_bind_addr")
    public void bindAddress(SocketAddress local) throws RdmaException {
        life().ensureOpen();
        id.bindAddress(local);
    }

    /**
     * Resolves the peer's address ({@code rdma_resolve_addr}).
     *
     * @param local null to let the kernel choose
     * @param peer the peer
     * @param timeout how long at most
     * @throws UnreachableException when no RDMA device leads there
     */
    @CFunction("rdma_resolve_addr")
    public void resolveAddress(SocketAddress local, SocketAddress peer, Duration timeout)
            throws RdmaException, InterruptedException {
        step(CmEventType.ADDR_RESOLVED, timeout, limit -> id.resolveAddress(local, peer, limit));
    }

    /**
     * Resolves the route to the peer ({@code rdma_resolve_route}).
     *
     * @param timeout how long at most
     * @throws UnreachableException when there is none
     */
    @CFunction("rdma_resolve_route")
    public void resolveRoute(Duration timeout) throws RdmaException, InterruptedException {
        step(CmEventType.ROUTE_RESOLVED, timeout, id::resolveRoute);
    }

    /** Begins to listen, see {@link CmId#listen}. */
    @CFunction("rdma_listen")
    public void listen(int backlog) throws RdmaException {
        life().ensureOpen();
        id.listen(backlog);
    }

    /**
     * Waits for the next connect request ({@code rdma_get_request}).
     *
     * @param timeout how long at most
     * @return an endpoint to accept or reject, and to close; with a queue pair when this one was given attributes for
     *         it. It lives on when this one is closed.
     * @throws RdmaException EINVAL of rdma_create_qp when the peer has given up; the next call gives the next request
     */
    @CFunction("rdma_get_request")
    public Endpoint getRequest(Duration timeout) throws RdmaException, InterruptedException {
        life().enter();
        try (CmEvent request = await(CmEventType.CONNECT_REQUEST, timeout)) {
            Endpoint endpoint = requested(request.id());
            boolean made = false;
            try {
                endpoint.note(request);
                if (acceptedAttributes != null) {
                    endpoint.createQueuePair(acceptedAttributes);
                }
                made = true;
                return endpoint;
            } finally {
                if (!made) {
                    endpoint.close();
                }
            }
        } finally {
            life().leave();
        }
    }

    /**
     * Makes the queue pair ({@code rdma_create_qp}), and what the attributes leave to it: completion queues with
     * channels, and a protection domain. Receives can be posted then.
     */
    @CFunction("rdma_create_qp")
    public void createQueuePair(EndpointAttributes attributes) throws RdmaException {
        life().enter();
        try {
            resources.createQueuePair(attributes);
        } finally {
            life().leave();
        }
    }

    /**
     * Connects ({@code rdma_connect}).
     *
     * @param parameters with at most 56 bytes of private data; 180 for datagrams
     * @param timeout how long at most
     * @throws RejectedException when the peer rejects, with its private data
     * @throws UnreachableException when the peer does not answer
     */
    @CFunction("rdma_connect")
    public void connect(ConnectionParameters parameters, Duration timeout) throws RdmaException, InterruptedException {
        step(CmEventType.ESTABLISHED, timeout, limit -> id.connect(parameters));
    }

    /**
     * Takes the connection that the peer asked for, and waits until the peer knows ({@code rdma_accept}); for datagrams
     * there is nothing to wait for.
     *
     * @param parameters with at most 196 bytes of private data; 136 for datagrams
     * @param timeout how long at most
     */
    @CFunction("rdma_accept")
    public void accept(ConnectionParameters parameters, Duration timeout) throws RdmaException, InterruptedException {
        life().ensureOpen();
        if (isDatagram()) {
            id.accept(parameters);
        } else {
            step(CmEventType.ESTABLISHED, timeout, limit -> id.accept(parameters));
        }
    }

    /**
     * Rejects the connection that the peer asked for ({@code rdma_reject}).
     *
     * @param privateData what the peer is told; at most 148 bytes, 136 for datagrams
     */
    @CFunction("rdma_reject")
    public void reject(byte[] privateData) throws RdmaException {
        life().ensureOpen();
        id.reject(privateData);
    }

    /**
     * Ends the connection, flushes what is posted, and waits until the peer has answered ({@code rdma_disconnect}).
     *
     * @param timeout how long at most; the connection is at an end on this side even when the peer does not answer
     */
    @CFunction("rdma_disconnect")
    public void disconnect(Duration timeout) throws RdmaException, InterruptedException {
        life().enter();
        try {
            Deadline deadline = Deadline.after(timeout);
            // Only one thread gets the event; the others find the state changed.
            if (!disconnecting.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
                throw new RdmaTimeoutException("rdma_disconnect", this + " is being disconnected by another thread");
            }
            try {
                id.disconnect();
                if (id.state() == CmIdState.DISCONNECTING) {
                    await(CmEventType.DISCONNECTED, deadline.remaining()).close();
                }
            } finally {
                disconnecting.unlock();
            }
        } finally {
            life().leave();
        }
    }

    /**
     * Ends the connection, and frees all that was made for it, with the shared receive queue of its {@link #id()}
     * ({@code rdma_destroy_ep}). Threads that wait in this endpoint get an {@link RdmaClosedException}.
     *
     * @throws IllegalStateException when something of it is still used by what was not made by this endpoint, as its
     *         own protection domain or its {@link #id()} can be; nothing is changed then
     */
    @Override
    public void close() throws RdmaException {
        if (isOpen()) {
            resources.requireUnused(List.of(id, channel), true);
        }
        super.close();
    }

    @Override
    protected void wakeWaiters() {
        channel.wake();
        resources.wake();
    }

    @Override
    @CFunction({"rdma_destroy_ep", "rdma_destroy_qp", "rdma_destroy_id"})
    protected void destroy() throws RdmaException {
        // now that nobody is inside, an event that is open is the program's
        resources.requireUnused(List.of(id, channel), false);
        resources.close();
        id.close();
        channel.close();
    }

    @FunctionalInterface
    private interface Begin {
        void run(Duration limit) throws RdmaException;
    }

    /** Begins something and waits for the event that says that it is done. */
    private void step(CmEventType done, Duration timeout, Begin begin) throws RdmaException, InterruptedException {
        life().enter();
        try {
            Deadline deadline = Deadline.after(timeout);
            begin.run(kernelLimit(deadline));
            try (CmEvent event = await(done, deadline.remaining())) {
                note(event);
            }
        } finally {
            life().leave();
        }
    }

    private CmEvent await(CmEventType expected, Duration timeout) throws RdmaException, InterruptedException {
        return channel.await(id, expected, timeout, life());
    }

    /** Keeps what the peer says first; after its request an ESTABLISHED tells nothing new. */
    private void note(CmEvent event) {
        boolean tells = event.type() == CmEventType.CONNECT_REQUEST || event.type() == CmEventType.ESTABLISHED;
        if (tells && isDatagram()) {
            datagramParameters = event.datagramParameters();
        } else if (tells && peerParameters == null) {
            peerParameters = event.connectionParameters();
        }
    }

    /** The time that is left, as the kernel takes it. */
    private static Duration kernelLimit(Deadline deadline) {
        long most = TimeUnit.MILLISECONDS.toNanos(Integer.MAX_VALUE);
        long least = TimeUnit.MILLISECONDS.toNanos(1);
        return Duration.ofNanos(Math.clamp(deadline.remainingNanos(), least, most));
    }

    private boolean isDatagram() {
        return id.portSpace().queuePairType() == QueuePairType.UD;
    }

    @Override
    EndpointResources resources() {
        return resources;
    }

    /** The connection is at an end: what is posted must be flushed, and whoever waits must look. */
    private void ended() {
        try {
            id.disconnect();
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("the end of a connection could not be acknowledged", e);
        }
        resources.wake();
    }
}
