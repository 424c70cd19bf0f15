// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.rdma_addr;
import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.bindings.rdma_conn_param;
import io.rdmacm.bindings.rdma_route;
import io.rdmacm.core.CmIdTransitions.Call;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Hints;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.Stack;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairState;
import org.jspecify.annotations.Nullable;

/**
 * A connection-manager id ({@code struct rdma_cm_id}, rdma_create_id(3)), the RDMA counterpart of a socket: one end of
 * a connection, a listener, or a port for datagrams and multicast.
 *
 * <p>Most calls only start an operation; an event on the id's {@link EventChannel} reports its outcome. A client:
 *
 * <pre>{@code
 * try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
 *     id.resolveAddress(peer, TIMEOUT);
 *     channel.await(id, CmEventType.ADDR_RESOLVED, TIMEOUT).close();
 *     id.resolveRoute(TIMEOUT);
 *     channel.await(id, CmEventType.ROUTE_RESOLVED, TIMEOUT).close();
 *
 *     try (ProtectionDomain domain = id.context().allocateProtectionDomain();
 *             CompletionQueue queue = id.context().createCompletionQueue(16);
 *             QueuePair pair = id.createQueuePair(domain,
 *                     QueuePairInitAttributes.builder().completionQueue(queue).build())) {
 *         id.connect(ConnectionParameters.defaults());
 *         channel.await(id, CmEventType.ESTABLISHED, TIMEOUT).close();
 *         // post to the queue pair, poll the completion queue
 *         id.disconnect();
 *     }
 * }
 * }</pre>
 *
 * <p>A server calls {@link #bindAddress} and {@link #listen}. Each connect request then arrives as a CONNECT_REQUEST
 * event with a new id, on which the server calls {@link #createQueuePair} and {@link #accept}, or {@link #reject}.
 *
 * <h2>States</h2>
 *
 * <p>An id is always in exactly one {@link CmIdState}. A call that is not legal in the current state throws an
 * IllegalStateException that names the state and the next step, and changes nothing.
 *
 * <table>
 * <caption>Legal calls in each state, and the states they lead to</caption>
 * <tr><th>State</th><th>Legal calls</th></tr>
 * <tr><td>IDLE</td><td>bindAddress (to BOUND), resolveAddress (to RESOLVING_ADDRESS)</td></tr>
 * <tr><td>BOUND</td><td>resolveAddress (to RESOLVING_ADDRESS), listen (to LISTENING), createQueuePair,
 * createSharedReceiveQueue, joinMulticast</td></tr>
 * <tr><td>RESOLVING_ADDRESS</td><td>none</td></tr>
 * <tr><td>ADDRESS_RESOLVED</td><td>resolveRoute (to RESOLVING_ROUTE), options().infinibandPaths (to
 * RESOLVING_ROUTE), createQueuePair, createSharedReceiveQueue, joinMulticast, modifyQueuePair</td></tr>
 * <tr><td>RESOLVING_ROUTE</td><td>createQueuePair, createSharedReceiveQueue, joinMulticast, modifyQueuePair</td></tr>
 * <tr><td>ROUTE_RESOLVED</td><td>createQueuePair, createSharedReceiveQueue, joinMulticast, modifyQueuePair, connect (to
 * CONNECTING)</td></tr>
 * <tr><td>LISTENING</td><td>none</td></tr>
 * <tr><td>REQUESTED</td><td>createQueuePair, createSharedReceiveQueue, joinMulticast, modifyQueuePair, accept (to
 * ACCEPTED), reject (to FAILED), rejectEce (to FAILED), remoteEce</td></tr>
 * <tr><td>CONNECTING</td><td>modifyQueuePair, notifyEstablished, notifyMigrated, disconnect (to
 * DISCONNECTING)</td></tr>
 * <tr><td>RESPONDED</td><td>modifyQueuePair, remoteEce, establish (to CONNECTED), disconnect (to
 * DISCONNECTING)</td></tr>
 * <tr><td>ACCEPTED</td><td>modifyQueuePair, notifyEstablished, notifyMigrated, disconnect (to DISCONNECTING)</td></tr>
 * <tr><td>CONNECTED</td><td>modifyQueuePair, notifyEstablished, notifyMigrated, disconnect (to DISCONNECTING)</td></tr>
 * <tr><td>DISCONNECTING</td><td>modifyQueuePair, disconnect</td></tr>
 * <tr><td>DISCONNECTED</td><td>modifyQueuePair, disconnect</td></tr>
 * <tr><td>FAILED</td><td>disconnect</td></tr>
 * </table>
 *
 * <p>The other options, {@link #migrate}, {@link #writeEvent}, {@link #resolveAddressInfo}, {@link #queryAddressInfo},
 * {@link #close} and the getters do not depend on the state, unless they say so.
 *
 * <table>
 * <caption>Events that change the state</caption>
 * <tr><th>Event</th><th>New state</th></tr>
 * <tr><td>ADDR_RESOLVED</td><td>ADDRESS_RESOLVED</td></tr>
 * <tr><td>ADDR_ERROR</td><td>BOUND</td></tr>
 * <tr><td>ROUTE_RESOLVED</td><td>ROUTE_RESOLVED</td></tr>
 * <tr><td>ROUTE_ERROR</td><td>ADDRESS_RESOLVED</td></tr>
 * <tr><td>CONNECT_RESPONSE</td><td>RESPONDED</td></tr>
 * <tr><td>ESTABLISHED</td><td>CONNECTED, except in DISCONNECTING</td></tr>
 * <tr><td>DISCONNECTED</td><td>DISCONNECTED</td></tr>
 * <tr><td>REJECTED</td><td>FAILED</td></tr>
 * <tr><td>UNREACHABLE</td><td>FAILED</td></tr>
 * <tr><td>CONNECT_ERROR</td><td>FAILED</td></tr>
 * <tr><td>DEVICE_REMOVAL</td><td>FAILED</td></tr>
 * </table>
 *
 * <p>The id of a CONNECT_REQUEST starts in REQUESTED. An event changes the state when it is read from the kernel, which
 * may happen before the program takes it from the channel: the state may be ahead of the last event the program saw.
 *
 * <h2>Errors</h2>
 *
 * <p>A call that librdmacm or the kernel refuses throws an {@link RdmaException} and leaves the state as it was. The
 * errno values listed with a method are those that a correct program can meet; EINVAL in other places means that the
 * kernel considers the id to be in another state, usually because the peer has gone away and the event that says so has
 * not been read yet.
 *
 * <h2>Closing</h2>
 *
 * <p>Close the queue pair, the shared receive queue, the multicast memberships and the events of an id before the id.
 * Closing a connected id ends the connection. After a device was removed, librdmacm frees its {@link #context()} with
 * the last id that is bound to it, so everything created from that context must be closed before that id.
 *
 * <p>All methods may be called from any thread.
 */
public final class CmId extends NativeObject {
    private static final NativeFunction CREATE_ID = NativeFunction.of("rdma_create_id");
    private static final NativeFunction DESTROY_ID = NativeFunction.of("rdma_destroy_id");
    private static final NativeFunction BIND_ADDR = NativeFunction.of("rdma_bind_addr");
    private static final NativeFunction RESOLVE_ADDR = NativeFunction.of("rdma_resolve_addr");
    private static final NativeFunction RESOLVE_ROUTE = NativeFunction.of("rdma_resolve_route");
    private static final NativeFunction LISTEN = NativeFunction.of("rdma_listen");
    private static final NativeFunction GET_SRC_PORT = NativeFunction.of("rdma_get_src_port");
    private static final NativeFunction GET_DST_PORT = NativeFunction.of("rdma_get_dst_port");
    private static final NativeFunction CONNECT = NativeFunction.of("rdma_connect");
    private static final NativeFunction ACCEPT = NativeFunction.of("rdma_accept");
    private static final NativeFunction REJECT = NativeFunction.of("rdma_reject");
    private static final NativeFunction REJECT_ECE = NativeFunction.of("rdma_reject_ece");
    private static final NativeFunction ESTABLISH = NativeFunction.of("rdma_establish");
    private static final NativeFunction NOTIFY = NativeFunction.of("rdma_notify");
    private static final NativeFunction DISCONNECT = NativeFunction.of("rdma_disconnect");
    private static final NativeFunction WRITE_CM_EVENT = NativeFunction.of("rdma_write_cm_event");

    private static final long ADDRESSES = rdma_cm_id.route$offset() + rdma_route.addr$offset();
    private static final long SOURCE = ADDRESSES + rdma_addr.src_addr$offset();
    private static final long DESTINATION = ADDRESSES + rdma_addr.dst_addr$offset();

    private final PortSpace portSpace;
    private final CmIdStateMachine machine;
    // The name of the id in messages. A separate object, because the Lifetime reads it and must not refer to the id:
    // that would keep the leak detector from ever reporting it.
    private final AtomicReference<String> label;
    private final CmIdQueues queues = new CmIdQueues(this);
    // Used with the channel's lock held.
    private final MulticastMemberships memberships = new MulticastMemberships();
    private final CmIdLookup lookup;
    // Whether the kernel reports events of the id. Used with the channel's lock held.
    private boolean reported;

    private CmId(EventChannel channel, PortSpace portSpace, Lifetime life, long address, CmIdState state) {
        super(life, address, rdma_cm_id.sizeof());
        this.portSpace = portSpace;
        this.machine = new CmIdStateMachine(life, channel, state);
        this.lookup = new CmIdLookup(this);
        this.reported = state != CmIdState.REQUESTED;
        AtomicReference<String> text = new AtomicReference<>(portSpace + " at 0x" + Long.toHexString(address));
        this.label = text;
        life.describe(text::get);
    }

    /**
     * Creates an id ({@code rdma_create_id}). It starts in the state IDLE.
     *
     * @param channel the channel that will report its events
     * @param portSpace the port space, which decides between connections and datagrams
     * @return the id, to be closed before the channel
     * @throws RdmaException ENOMEM when the kernel has no memory for it
     */
    @CFunction("rdma_create_id")
    public static CmId open(EventChannel channel, PortSpace portSpace) throws RdmaException {
        Objects.requireNonNull(portSpace, "portSpace");
        channel.lock().lock();
        try {
            return Lifetime.make(CmId.class, List.of(channel.lifetime()), arena -> {
                long result = arena.allocate(Long.BYTES, Long.BYTES).address();
                Check.minusOne(CREATE_ID, CREATE_ID.callInt(channel.nativeAddress(), result, 0, portSpace.value()));
                return Memory.getLong(result);
            }, CmId::destroyUnseen,
                    (life, address) -> new CmId(channel, portSpace, life, address, CmIdState.IDLE).publish(channel));
        } finally {
            channel.lock().unlock();
        }
    }

    /** Registers the id with those that must find it. */
    private CmId publish(EventChannel channel) {
        return Lifetime.publish(this, id -> {
            CmContextPin.created(address());
            channel.register(this, address());
        }, id -> {
            channel.forget(address());
            CmContextPin.forget(address());
        });
    }

    /** Wraps the new id of a connect request, and creates the event with it. With the channel's lock held. */
    @SuppressWarnings("NullAway") // begin() has found the owner
    static CmEvent requested(EventChannel channel, RawEvent request, Function<CmId, CmEvent> event)
            throws RdmaException {
        return Lifetime.make(CmId.class, List.of(channel.lifetime()), (life, none) -> {
            CmId id = new CmId(channel, request.owner().portSpace, life, request.id(), CmIdState.REQUESTED);
            id.relabel();
            CmEvent created = event.apply(id);
            id.publish(channel);
            return created;
        });
    }

    /** Rejects a connect request for which no CmId was created, by destroying its id. */
    static void destroyUnseen(long address) throws RdmaException {
        Check.minusOne(DESTROY_ID, DESTROY_ID.callInt(address));
    }

    /** {@return the channel that reports the events of this id} */
    public EventChannel channel() {
        life().ensureOpen();
        return machine.channel();
    }

    /** {@return the port space} */
    public PortSpace portSpace() {
        life().ensureOpen();
        return portSpace;
    }

    /** {@return the current state} */
    public CmIdState state() {
        life().ensureOpen();
        return machine.state();
    }

    /**
     * Returns the local address ({@code rdma_get_local_addr}).
     *
     * @return the address and port that the id is bound to
     * @throws IllegalStateException when the id has no IP address yet
     */
    @CFunction("rdma_get_local_addr")
    public InetSocketAddress localAddress() {
        return socketAddress(SOURCE, "local");
    }

    /**
     * Returns the address of the peer ({@code rdma_get_peer_addr}).
     *
     * @return the address and port of the peer
     * @throws IllegalStateException when no peer with an IP address is known yet
     */
    @CFunction("rdma_get_peer_addr")
    public InetSocketAddress peerAddress() {
        return socketAddress(DESTINATION, "peer");
    }

    /**
     * Returns the device that the id is bound to ({@code rdma_cm_id.verbs}).
     *
     * @return the context, the same object for all ids on this device; it belongs to librdmacm and need not be closed
     * @throws IllegalStateException when the id is not bound to a device yet
     */
    public VerbsContext context() {
        life().enter();
        try {
            return CmContextPin.context(requireDevice(Memory.getLong(address() + rdma_cm_id.verbs$offset())));
        } finally {
            life().leave();
        }
    }

    /**
     * Returns the local port ({@code rdma_get_src_port}).
     *
     * @return the port in host byte order, 1 to 65535; 0 when the id has none yet
     * @throws RdmaException when the installed librdmacm does not have the function
     */
    @CFunction("rdma_get_src_port")
    public int localPort() throws RdmaException {
        return port(GET_SRC_PORT);
    }

    /**
     * Returns the port of the peer ({@code rdma_get_dst_port}).
     *
     * @return the port in host byte order, 1 to 65535; 0 when it is not known yet
     * @throws RdmaException when the installed librdmacm does not have the function
     */
    @CFunction("rdma_get_dst_port")
    public int peerPort() throws RdmaException {
        return port(GET_DST_PORT);
    }

    /**
     * Returns the port of the device that the id is bound to ({@code rdma_cm_id.port_num}).
     *
     * @return the number of the port, counted from 1
     * @throws IllegalStateException when the id is not bound to a device yet
     */
    public int devicePort() {
        life().enter();
        try {
            return (int) requireDevice(Byte.toUnsignedInt(Memory.getByte(address() + rdma_cm_id.port_num$offset())));
        } finally {
            life().leave();
        }
    }

    /** {@return the options of this id, most of which must be set before it is bound ({@code rdma_set_option})} */
    public CmIdOptions options() {
        life().ensureOpen();
        return new CmIdOptions(this);
    }

    /** {@return the queue pair that {@link #createQueuePair} created; empty when there is none or it was closed} */
    public Optional<QueuePair> queuePair() {
        life().ensureOpen();
        return Optional.ofNullable(openQueuePair());
    }

    /**
     * Binds the id to a local address ({@code rdma_bind_addr}).
     *
     * @param local an InetSocketAddress, where port 0 means any free port and the wildcard address all devices; or an
     *        {@link IbSocketAddress}
     * @throws UnreachableException EADDRNOTAVAIL when this machine does not have the address
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device;
     *         EACCES for a port below 1024 without the capability CAP_NET_BIND_SERVICE
     */
    @CFunction("rdma_bind_addr")
    public void bindAddress(SocketAddress local) throws RdmaException {
        run(Call.BIND_ADDRESS, () -> {
            try (Arena arena = Arena.ofConfined()) {
                long address = SocketAddresses.write(Objects.requireNonNull(local, "local"), arena);
                CmFailures.checkBind(BIND_ADDR, BIND_ADDR.callInt(address(), address), local,
                        CmFailures.describe(local));
            }
        });
    }

    /**
     * Resolves the address of the peer, and binds the id to the device that leads there ({@code rdma_resolve_addr}).
     * The outcome is ADDR_RESOLVED or ADDR_ERROR.
     *
     * @param peer an InetSocketAddress or an {@link IbSocketAddress}
     * @param timeout when the kernel gives up, at least 1 ms
     * @throws UnreachableException ENETUNREACH or EHOSTUNREACH when there is no route to the address
     * @throws RdmaException ENODEV when the route leads through no RDMA device
     */
    @CFunction("rdma_resolve_addr")
    public void resolveAddress(SocketAddress peer, Duration timeout) throws RdmaException {
        resolveAddress(null, peer, timeout);
    }

    /**
     * Like {@link #resolveAddress(SocketAddress, Duration)}, from a given local address.
     *
     * @param local the local address; null to let the kernel choose
     * @param peer the address of the peer, of the same family
     * @param timeout when the kernel gives up, at least 1 ms
     * @throws UnreachableException EADDRNOTAVAIL when this machine does not have the local address; ENETUNREACH or
     *         EHOSTUNREACH when there is no route to the peer
     * @throws RdmaException ENODEV when the route leads through no RDMA device; EADDRINUSE when the local port is in
     *         use
     */
    @CFunction("rdma_resolve_addr")
    public void resolveAddress(@Nullable SocketAddress local, SocketAddress peer,
            Duration timeout) throws RdmaException {
        run(Call.RESOLVE_ADDRESS, () -> {
            int milliseconds = milliseconds(timeout);
            try (Arena arena = Arena.ofConfined()) {
                long source = SocketAddresses.write(local, arena);
                long destination = SocketAddresses.write(Objects.requireNonNull(peer, "peer"), arena);
                int result = RESOLVE_ADDR.callInt(address(), source, destination, milliseconds);
                CmFailures.checkResolve(RESOLVE_ADDR, result, local, peer);
            }
        });
    }

    /**
     * Resolves the route to the peer ({@code rdma_resolve_route}). The outcome is ROUTE_RESOLVED or ROUTE_ERROR.
     *
     * @param timeout when the kernel gives up, at least 1 ms
     * @throws RdmaException when the kernel refuses, for example with ENODEV because the network interface is gone
     */
    @CFunction("rdma_resolve_route")
    public void resolveRoute(Duration timeout) throws RdmaException {
        run(Call.RESOLVE_ROUTE, () ->
                check(RESOLVE_ROUTE, RESOLVE_ROUTE.callInt(address(), milliseconds(timeout))));
    }

    /**
     * Starts listening ({@code rdma_listen}). Each connect request is reported as a CONNECT_REQUEST.
     *
     * @param backlog how many requests may be queued, at least 0; 0 for the kernel's limit
     * @throws RdmaException EADDRINUSE when another id listens on the same address, which is possible only with
     *         {@link CmIdOptions#reuseAddress}; ENODEV when the address is that of the loopback interface, and all
     *         devices are RoCE, so that nobody could connect
     */
    @CFunction("rdma_listen")
    public void listen(int backlog) throws RdmaException {
        run(Call.LISTEN, () -> {
            if (backlog < 0) {
                throw new IllegalArgumentException("backlog is negative: " + backlog);
            }
            requireReachable();
            check(LISTEN, LISTEN.callInt(address(), backlog));
        });
    }

    /** Refuses an address that the kernel accepts, although no device will receive anything for it. */
    private void requireReachable() throws RdmaException {
        InetSocketAddress local = SocketAddresses.read(address() + SOURCE);
        if (local != null && local.getAddress().isLoopbackAddress() && Hints.isLoopbackWithoutDevice()) {
            throw Failures.of(LISTEN.name(), Rdma.ENODEV(), local.toString());
        }
    }

    /**
     * Creates the queue pair of the id ({@code rdma_create_qp}, or {@code rdma_create_qp_ex} where the attributes need
     * it). librdmacm moves it to INIT at once, so that receives can be posted, and through the later states as the
     * connection proceeds. Close it before the id.
     *
     * @param domain a protection domain of the same {@link #context()}
     * @param attributes of the type that belongs to the port space: RC for connections, UD for datagrams
     * @return the queue pair
     * @throws IllegalStateException when the id already has a queue pair
     * @throws IllegalArgumentException when the type or the device of the domain does not fit the id
     * @throws RdmaException EINVAL when a size exceeds the limits of the device, or the peer that requested the
     *         connection has given up; ENOMEM when there is not enough memory
     */
    @CFunction({"rdma_create_qp", "rdma_create_qp_ex"})
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairInitAttributes attributes)
            throws RdmaException {
        return call(Call.CREATE_QUEUE_PAIR, () -> queues.createQueuePair(domain, attributes));
    }

    /**
     * Creates the shared receive queue of the id, which a queue pair created later uses ({@code rdma_create_srq},
     * {@code rdma_create_srq_ex}). Close it after the queue pair and before the id.
     *
     * @param domain a protection domain of the same {@link #context()}
     * @param attributes its attributes; the type {@code XRC} needs no XRC domain and no completion queue here, because
     *        librdmacm provides them
     * @return the shared receive queue
     * @throws IllegalStateException when the id already has a shared receive queue or a queue pair
     * @throws io.rdmacm.verbs.error.RdmaUnsupportedException when the device does not support the type
     * @throws RdmaException EINVAL when a size exceeds the limits of the device; ENOMEM when there is not enough memory
     */
    @CFunction({"rdma_create_srq", "rdma_create_srq_ex", "rdma_destroy_srq"})
    public SharedReceiveQueue createSharedReceiveQueue(ProtectionDomain domain,
            SharedReceiveQueueInitAttributes attributes) throws RdmaException {
        return call(Call.CREATE_SHARED_RECEIVE_QUEUE, () -> queues.createSharedReceiveQueue(domain, attributes));
    }

    /**
     * Moves a queue pair that the id did not create to the next state, with the attributes of the connection
     * ({@code rdma_init_qp_attr}, then {@code ibv_modify_qp}). A queue pair of {@link #createQueuePair} needs no such
     * call. Move the queue pair to INIT before the first receive is posted. Then move it to INIT again, to RTR and to
     * RTS: on the accepting side before {@link #accept}, on the connecting side after CONNECT_RESPONSE and before
     * {@link #establish}.
     *
     * @param outside a queue pair of {@link ProtectionDomain#createQueuePair}
     * @param wanted INIT, RTR or RTS
     * @throws RdmaException EINVAL when the connection or the queue pair has not reached the preceding state
     */
    @CFunction("rdma_init_qp_attr")
    public void modifyQueuePair(QueuePair outside, QueuePairState wanted) throws RdmaException {
        run(Call.MODIFY_QUEUE_PAIR, () -> queues.modify(outside, wanted));
    }

    /**
     * Sends a connect request to the peer ({@code rdma_connect}). The outcome is ESTABLISHED, REJECTED, UNREACHABLE or
     * CONNECT_ERROR. With a queue pair that was not created by the id, CONNECT_RESPONSE takes the place of ESTABLISHED.
     * The handshake completes only when the program takes that event from the channel.
     *
     * @param parameters with at most {@link PortSpace#maxConnectPrivateData()} bytes of private data: 56 for
     *        connections, 180 for datagrams
     * @throws IllegalArgumentException when the private data is longer
     * @throws IllegalStateException when the id has no queue pair and the parameters do not name one either
     * @throws RdmaException EINVAL when the parameters ask for more {@linkplain ConnectionParameters#MAXIMUM responder
     *         resources or a greater initiator depth} than the device supports
     */
    @CFunction("rdma_connect")
    public void connect(ConnectionParameters parameters) throws RdmaException {
        run(Call.CONNECT, () -> {
            requireQueuePair(Call.CONNECT, parameters);
            PrivateDataLimit.CONNECT.check(portSpace, parameters.privateData());
            send(CONNECT, parameters);
            relabel();
        });
    }

    /**
     * Accepts a connect request ({@code rdma_accept}). The outcome is ESTABLISHED; datagram ids get no event.
     *
     * @param parameters with at most {@link PortSpace#maxAcceptPrivateData()} bytes of private data: 196 for
     *        connections, 136 for datagrams
     * @throws IllegalArgumentException when the private data is longer
     * @throws IllegalStateException when the id has no queue pair and the parameters do not name one either
     * @throws RdmaException EINVAL when the peer has given up, or the parameters ask for more
     *         {@linkplain ConnectionParameters#MAXIMUM responder resources or a greater initiator depth} than the
     *         device supports
     */
    @CFunction("rdma_accept")
    public void accept(ConnectionParameters parameters) throws RdmaException {
        run(Call.ACCEPT, () -> {
            requireQueuePair(Call.ACCEPT, parameters);
            PrivateDataLimit.ACCEPT.check(portSpace, parameters.privateData());
            send(ACCEPT, parameters);
            reported = true;
        });
    }

    /**
     * Rejects a connect request without private data ({@code rdma_reject}).
     *
     * @throws RdmaException EINVAL when the peer has given up
     */
    @CFunction("rdma_reject")
    public void reject() throws RdmaException {
        reject(new byte[0]);
    }

    /**
     * Rejects a connect request ({@code rdma_reject}).
     *
     * @param privateData sent to the peer, at most {@link PortSpace#maxRejectPrivateData()} bytes: 148 for connections,
     *        136 for datagrams
     * @throws IllegalArgumentException when the private data is longer
     * @throws RdmaException EINVAL when the peer has given up
     */
    @CFunction("rdma_reject")
    public void reject(byte[] privateData) throws RdmaException {
        run(Call.REJECT, () -> sendReject(REJECT, privateData));
    }

    /**
     * Rejects a connect request because of its options for enhanced connection establishment
     * ({@code rdma_reject_ece}). The peer sees the reason {@link RejectReason#VENDOR_OPTION_NOT_SUPPORTED}.
     *
     * @param privateData sent to the peer, at most {@link PortSpace#maxRejectPrivateData()} bytes: 148 for connections,
     *        136 for datagrams
     * @throws IllegalArgumentException when the private data is longer
     * @throws RdmaException EINVAL when the peer has given up
     */
    @CFunction("rdma_reject_ece")
    public void rejectEce(byte[] privateData) throws RdmaException {
        run(Call.REJECT_ECE, () -> sendReject(REJECT_ECE, privateData));
    }

    /**
     * Returns the options for enhanced connection establishment that the peer sent ({@code rdma_get_remote_ece}).
     *
     * @return the options
     * @throws IllegalStateException when the id has a queue pair, or the peer has not sent them yet
     * @throws RdmaException when librdmacm refuses
     */
    @CFunction("rdma_get_remote_ece")
    public Ece remoteEce() throws RdmaException {
        return call(Call.REMOTE_ECE, queues::remoteEce);
    }

    /**
     * Ends the connection ({@code rdma_disconnect}). Work requests that are still posted are flushed. The outcome is
     * DISCONNECTED, on both sides. When the peer has disconnected first, this only confirms it. Does nothing in FAILED,
     * unless there was a connection and the device is still there.
     *
     * @throws RdmaException EINVAL when there is nothing to disconnect, such as a handshake that has just failed
     */
    @CFunction("rdma_disconnect")
    public void disconnect() throws RdmaException {
        run(Call.DISCONNECT, () -> {
            if (machine.state() != CmIdState.FAILED || machine.wasConnected()) {
                check(DISCONNECT, DISCONNECT.callInt(address()));
            }
        });
    }

    /**
     * Completes the handshake for a queue pair that was not created by the id ({@code rdma_establish}). Call it after
     * CONNECT_RESPONSE, when that queue pair is in RTS.
     *
     * @throws RdmaException EINVAL when the peer has given up
     */
    @CFunction("rdma_establish")
    public void establish() throws RdmaException {
        run(Call.ESTABLISH, () -> check(ESTABLISH, ESTABLISH.callInt(address())));
    }

    /**
     * Informs the connection manager that data arrived before the peer's last message of the handshake
     * ({@code rdma_notify} with IBV_EVENT_COMM_EST).
     *
     * @throws RdmaException EISCONN when the connection is already established, which can be ignored
     */
    @CFunction("rdma_notify")
    public void notifyEstablished() throws RdmaException {
        run(Call.NOTIFY_ESTABLISHED, () -> check(NOTIFY, NOTIFY.callInt(address(), Rdma.IBV_EVENT_COMM_EST())));
    }

    /**
     * Informs the connection manager that the queue pair has switched to its alternate path ({@code rdma_notify} with
     * IBV_EVENT_PATH_MIG).
     *
     * @throws RdmaException EINVAL when the connection is not established
     */
    @CFunction("rdma_notify")
    public void notifyMigrated() throws RdmaException {
        run(Call.NOTIFY_MIGRATED, () -> check(NOTIFY, NOTIFY.callInt(address(), Rdma.IBV_EVENT_PATH_MIG())));
    }

    /**
     * Writes an event of the type USER, which this id's channel reports like any other ({@code rdma_write_cm_event},
     * since rdma-core 60): it makes {@link EventChannel#fd()} readable and ends waits for events. An event that nobody
     * has taken when the id is closed is dropped.
     *
     * <p>A program that only wants to end a wait in {@link EventChannel#pollEvent(Duration)} needs no event:
     * {@link EventChannel#wakeup()} works with every kernel and every rdma-core.
     *
     * @param status what {@link CmEvent#status()} will return
     * @param argument what {@link CmEvent#argument()} will return
     * @throws IllegalStateException when this is the id of a connect request that was not accepted: the kernel does not
     *         report events of such an id
     * @throws io.rdmacm.verbs.error.NativeLibraryException when the installed librdmacm does not have the function
     * @throws RdmaUnsupportedException EINVAL when the kernel does not have the command; Linux 6.12 does not
     * @throws RdmaException EIO when the device was removed
     */
    @CFunction("rdma_write_cm_event")
    public void writeEvent(int status, long argument) throws RdmaException {
        life().enter();
        try {
            EventChannel current = lockChannel();
            try {
                requireReported("writeEvent");
                int result = WRITE_CM_EVENT.callInt(address(), Rdma.RDMA_CM_EVENT_USER(), status, argument);
                if (result == -1 && Check.cause() == Rdma.EINVAL()) {
                    // the arguments are valid, so this is the answer to a command that the kernel does not know
                    String message = Failures.message(WRITE_CM_EVENT.name(), Rdma.EINVAL(), label.get());
                    throw new RdmaUnsupportedException(WRITE_CM_EVENT.name(), Rdma.EINVAL(), "EINVAL",
                            message + ": the kernel does not have this command");
                }
                check(WRITE_CM_EVENT, result);
            } finally {
                current.lock().unlock();
            }
        } finally {
            life().leave();
        }
    }

    /**
     * Starts to look a node and a service up ({@code rdma_resolve_addrinfo}, since rdma-core 60). The outcome is
     * ADDRINFO_RESOLVED, after which {@link #queryAddressInfo} returns what was found, or ADDRINFO_ERROR. The state of
     * the id does not change.
     *
     * <p>Only a look-up with the flag {@link AddressInfo.Flag#SA} goes on after this call. In all others librdmacm
     * waits for the name servers before it returns, as in {@link AddressInfo#resolve}, unless
     * {@link AddressInfo.Flag#NUMERICHOST} is set; a close of the id then waits for this call. A virtual thread does
     * not keep its carrier meanwhile.
     *
     * @param node a host name or address; null for any, which needs a service
     * @param service a port number or service name; null for none
     * @param hints what to look for
     * @throws IllegalArgumentException as from {@link AddressInfo#resolve}
     * @throws IllegalStateException when the last look-up has not ended, or its result was not taken; when the flag
     *         {@link AddressInfo.Flag#SA} is set and the id is not in the state BOUND or has no device; when this is
     *         the id of a connect request that was not accepted
     * @throws io.rdmacm.verbs.error.NativeLibraryException when the installed librdmacm does not have the function
     * @throws RdmaUnsupportedException when the kernel refuses, which means that it does not have the commands (Linux
     *         6.12 does not) or that the port is not InfiniBand; librdmacm does not pass on the error number
     * @throws RdmaException when the node or the service is not known; the message names the EAI error
     */
    @CFunction("rdma_resolve_addrinfo")
    public void resolveAddressInfo(@Nullable String node, @Nullable String service,
            AddressInfo.Hints hints) throws RdmaException {
        life().enter();
        try {
            lookup.resolve(node, service, hints);
        } finally {
            life().leave();
        }
    }

    /**
     * Takes what {@link #resolveAddressInfo} has found ({@code rdma_query_addrinfo}, since rdma-core 60), once for each
     * look-up.
     *
     * @return at least one result
     * @throws IllegalStateException when there is no result: no look-up was started, its event was not read yet, or the
     *         result was taken already
     * @throws RdmaException when librdmacm refuses
     */
    @CFunction({"rdma_query_addrinfo", "rdma_freeaddrinfo"})
    public List<AddressInfo> queryAddressInfo() throws RdmaException {
        life().enter();
        try {
            return lookup.query();
        } finally {
            life().leave();
        }
    }

    /**
     * Moves the id to another channel ({@code rdma_migrate_id}). Events that the program has not taken yet, and all
     * later ones, are reported there. Pending connect requests of a listener move with it. (A request that reaches a
     * listener exactly while it moves may be dropped by librdmacm; the peer's connect then times out.)
     *
     * @param target the new channel
     * @throws IllegalStateException when the program has not closed all events of this id that it has taken: C would
     *         wait for them; or when another thread is in {@link #resolveAddressInfo}
     * @throws RdmaException when the kernel cannot move it; the id then stays on its channel
     */
    @CFunction("rdma_migrate_id")
    public void migrate(EventChannel target) throws RdmaException {
        life().enter();
        try {
            target.lifetime().enter();
            try {
                CmIdMigration.run(this, target);
            } finally {
                target.lifetime().leave();
            }
        } finally {
            life().leave();
        }
    }

    /**
     * Joins a multicast group as a full member ({@code rdma_join_multicast}). The outcome is MULTICAST_JOIN, whose
     * {@link CmEvent#datagramParameters()} say how to send to the group, or MULTICAST_ERROR. To receive from the group,
     * create the queue pair first.
     *
     * @param group an InetSocketAddress with a multicast address, or an {@link IbSocketAddress}
     * @return the membership; close it before the queue pair
     * @throws IllegalStateException when the id is already a member of the group
     * @throws RdmaException EINVAL when the id is not for datagrams
     */
    @CFunction("rdma_join_multicast")
    public MulticastMembership joinMulticast(SocketAddress group) throws RdmaException {
        return joinMulticast(group, MulticastMembership.Role.FULL_MEMBER);
    }

    /**
     * Like {@link #joinMulticast(SocketAddress)}, in a given role ({@code rdma_join_multicast_ex}).
     *
     * @param group an InetSocketAddress with a multicast address, or an {@link IbSocketAddress}
     * @param role whether the id receives from the group or only sends to it
     * @return the membership; close it before the queue pair
     * @throws IllegalStateException when the id is already a member of the group
     * @throws RdmaException EINVAL when the id is not for datagrams
     */
    @CFunction("rdma_join_multicast_ex")
    public MulticastMembership joinMulticast(SocketAddress group, MulticastMembership.Role role)
            throws RdmaException {
        return call(Call.JOIN_MULTICAST, () -> memberships.join(this, Objects.requireNonNull(group, "group"),
                Objects.requireNonNull(role, "role")));
    }

    /** @hidden */
    @Override
    protected void wakeWaiters() {
        machine.channel().wake();
    }

    /** @hidden */
    @Override
    @CFunction("rdma_destroy_id")
    protected void destroy() throws RdmaException {
        EventChannel current = lockChannel();
        try {
            CmContextPin.beforeDestroy(this);
            try {
                // rdma_destroy_id waits until all events of the id are acknowledged: drop those nobody has taken.
                current.unregister(this, address());
                Stack.requireCall();
                Check.minusOne(DESTROY_ID, DESTROY_ID.callInt(address()));
            } catch (Throwable t) {
                CmContextPin.created(address());
                current.register(this, address());
                throw t;
            }
        } finally {
            current.lock().unlock();
        }
    }

    /** Runs a call if the state allows it, with the channel locked. */
    void run(Call call, CmIdStateMachine.Step step) throws RdmaException {
        machine.run(call, step);
    }

    private <R> R call(Call call, CmIdStateMachine.Query<R> query) throws RdmaException {
        return machine.call(call, query);
    }

    /** Updates the state after an event of this id was read. With the channel's lock held. */
    void happened(CmEventType event) {
        relabel();
        lookup.happened(event);
        machine.happened(event);
    }

    /** See {@link CmIdStateMachine#whenOver}. */
    void whenEnded(Runnable handler) {
        machine.whenOver(handler);
    }

    /** See {@link CmIdStateMachine#lockChannel}. */
    EventChannel lockChannel() {
        return machine.lockChannel();
    }

    /** See {@link CmIdStateMachine#movedTo}. */
    void movedTo(EventChannel target) {
        machine.movedTo(target);
    }

    /** Returns the channel, even when the id is closed. */
    EventChannel channelUnchecked() {
        return machine.channel();
    }

    /** Returns the port space, even when the id is closed. */
    PortSpace portSpaceUnchecked() {
        return portSpace;
    }

    Lifetime lifetime() {
        return life();
    }

    long nativeAddress() {
        return address();
    }

    String label() {
        return label.get();
    }

    CmIdQueues queues() {
        return queues;
    }

    /** Returns the queue pair of the id; null when there is none or it was closed. */
    @Nullable QueuePair openQueuePair() {
        return queues.openQueuePair();
    }

    /** Returns the shared receive queue of the id; null when there is none or C has destroyed it. */
    @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return queues.sharedReceiveQueue();
    }

    CmIdLookup lookup() {
        return lookup;
    }

    /** Checks that the kernel reports events of the id. With the channel's lock held. */
    void requireReported(String method) {
        if (!reported) {
            throw new IllegalStateException(machine.describe(method + " is not possible: the kernel reports no events"
                    + " of " + this + ", whose connect request was not accepted"));
        }
    }

    /** Checks that the subnet administration can be asked: the kernel does it for a bound id. With the lock held. */
    void requireBound(String method) {
        if (machine.state() != CmIdState.BOUND) {
            throw new IllegalStateException(machine.describe(method + " with the flag SA is not legal now: " + this
                    + " is " + machine.state()));
        }
        requireDevice(Memory.getLong(address() + rdma_cm_id.verbs$offset()));
    }

    /** Returns whether the connection has ended after this side had called {@link #disconnect()}. */
    boolean hasDisconnected() {
        return machine.hasDisconnected();
    }

    /** Returns what to throw after the end of the connection. */
    DisconnectedException disconnected(String waitedFor) {
        return new DisconnectedException(waitedFor, hasDisconnected() ? DisconnectedException.Reason.DISCONNECTED_HERE
                : DisconnectedException.Reason.PEER_DISCONNECTED, peerIfKnown());
    }

    private @Nullable InetSocketAddress peerIfKnown() {
        try {
            return peerAddress();
        } catch (IllegalStateException e) {
            return null;
        }
    }

    MulticastMemberships memberships() {
        return memberships;
    }

    private void check(NativeFunction function, int result) throws RdmaException {
        CmFailures.check(function, result, label.get());
    }

    private void send(NativeFunction function, ConnectionParameters parameters) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(rdma_conn_param.layout()).address();
            parameters.write(struct, nativeCopy(parameters.privateData(), arena));
            check(function, function.callInt(address(), struct));
        }
    }

    private void sendReject(NativeFunction function, byte[] privateData) throws RdmaException {
        PrivateDataLimit.REJECT.check(portSpace, privateData);
        try (Arena arena = Arena.ofConfined()) {
            check(function, function.callInt(address(), nativeCopy(privateData, arena), privateData.length));
        }
    }

    private static long nativeCopy(byte[] data, Arena arena) {
        return data.length == 0 ? 0 : arena.allocateFrom(ValueLayout.JAVA_BYTE, data).address();
    }

    private void requireQueuePair(Call call, ConnectionParameters parameters) {
        if (openQueuePair() == null && parameters.queuePairNumber() == 0) {
            throw new IllegalStateException(call.method() + " needs a queue pair: " + this
                    + " has none, next step: createQueuePair");
        }
    }

    /** Returns a member that C sets when it binds the id to a device; refuses 0, its value before that. */
    private long requireDevice(long value) {
        if (value == 0) {
            throw new IllegalStateException(machine.describe(this + " is not bound to a device"));
        }
        return value;
    }

    private int port(NativeFunction function) throws RdmaException {
        life().enter();
        try {
            return Short.toUnsignedInt(SocketAddresses.swap((short) function.callInt(address())));
        } finally {
            life().leave();
        }
    }

    private InetSocketAddress socketAddress(long offset, String which) {
        life().enter();
        try {
            InetSocketAddress address = SocketAddresses.read(address() + offset);
            if (address == null) {
                throw new IllegalStateException(machine.describe(this + " has no " + which + " address"));
            }
            InetSocketAddress local = SocketAddresses.read(address() + SOURCE);
            return local == null ? address : SocketAddresses.withScope(address, local);
        } finally {
            life().leave();
        }
    }

    /** Adds the peer to the label, as soon as C knows it. */
    private void relabel() {
        InetSocketAddress peer = SocketAddresses.read(address() + DESTINATION);
        if (peer != null) {
            label.set(portSpace + " at 0x" + Long.toHexString(address()) + ", peer " + peer.getHostString() + ":"
                    + peer.getPort());
        }
    }

    private static int milliseconds(Duration timeout) {
        // compared as Durations, because the longest has more milliseconds than a long can hold
        if (timeout.compareTo(Duration.ofMillis(1)) < 0
                || timeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
            throw new IllegalArgumentException("timeout must be from 1 ms to " + Integer.MAX_VALUE + " ms, not "
                    + timeout);
        }
        return (int) timeout.toMillis();
    }
}
