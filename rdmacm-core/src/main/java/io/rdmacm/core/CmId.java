// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.verbs.CFunction;
import io.rdmacm.verbs.Ece;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.QueuePairState;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;

/**
 * A connection-manager id ({@code struct rdma_cm_id}, rdma_create_id(3)): one end of a connection, or a listener. It is
 * to RDMA what a socket is to TCP. Its calls begin something, and its channel's events tell how that went.
 *
 * <table>
 * <caption>The order of calls</caption>
 * <tr><th>state</th><th>legal calls</th><th>left by</th></tr>
 * <tr><td>IDLE</td><td>bindAddress, resolveAddress</td><td>the call</td></tr>
 * <tr><td>BOUND</td><td>listen, resolveAddress</td><td>the call</td></tr>
 * <tr><td>RESOLVING_ADDRESS</td><td></td><td>ADDR_RESOLVED; ADDR_ERROR, back to BOUND</td></tr>
 * <tr><td>ADDRESS_RESOLVED</td><td>createQueuePair, resolveRoute, options().infinibandPaths</td><td>the call</td></tr>
 * <tr><td>RESOLVING_ROUTE</td><td>createQueuePair</td><td>ROUTE_RESOLVED; ROUTE_ERROR, back to
 * ADDRESS_RESOLVED</td></tr>
 * <tr><td>ROUTE_RESOLVED</td><td>createQueuePair, connect</td><td>the call</td></tr>
 * <tr><td>LISTENING</td><td></td><td>close</td></tr>
 * <tr><td>REQUESTED</td><td>createQueuePair, accept, reject, rejectEce, remoteEce</td><td>the call</td></tr>
 * <tr><td>RESPONDED (without a queue pair of its own)</td><td>establish, disconnect, remoteEce</td><td>the
 * call</td></tr>
 * <tr><td>CONNECTING, ACCEPTED</td><td>disconnect, notifyEstablished, notifyMigrated</td><td>ESTABLISHED; REJECTED,
 * UNREACHABLE, CONNECT_ERROR</td></tr>
 * <tr><td>CONNECTED</td><td>disconnect, notifyEstablished, notifyMigrated</td><td>DISCONNECTED, or the call</td></tr>
 * <tr><td>DISCONNECTING</td><td>disconnect</td><td>DISCONNECTED</td></tr>
 * <tr><td>DISCONNECTED, FAILED</td><td>disconnect (no effect on a failed one)</td><td>close</td></tr>
 * </table>
 *
 * <p>Where createQueuePair is legal, and in BOUND, createSharedReceiveQueue and joinMulticast are too; options, migrate
 * and the questions for addresses and ports are always legal. Any other call is an IllegalStateException that names the
 * missing step. The state follows the events as they are read, so it may be ahead of the event that a program has in
 * its hands. All methods may be called from any thread.
 *
 * <p>An id can be closed when its queue pair, shared receive queue and memberships are, and when its events are.
 * The last id of a device that was removed can be closed when what was made from its {@link #context()} is, too, for
 * librdmacm frees that with it. Closing a connected id ends the connection.
 */
public final class CmId extends CmIdCore {
    private static final NativeFunction CREATE_ID = NativeFunction.of("rdma_create_id");
    private static final NativeFunction BIND_ADDR = NativeFunction.of("rdma_bind_addr");
    private static final NativeFunction RESOLVE_ADDR = NativeFunction.of("rdma_resolve_addr");
    private static final NativeFunction RESOLVE_ROUTE = NativeFunction.of("rdma_resolve_route");
    private static final NativeFunction LISTEN = NativeFunction.of("rdma_listen");
    private static final NativeFunction GET_SRC_PORT = NativeFunction.of("rdma_get_src_port");
    private static final NativeFunction GET_DST_PORT = NativeFunction.of("rdma_get_dst_port");

    private final CmIdHandshake handshake = new CmIdHandshake(this);

    private CmId(EventChannel channel, PortSpace portSpace, Lifetime life, long address, CmIdState state) {
        super(channel, portSpace, life, address, state);
    }

    /**
     * A new id ({@code rdma_create_id}).
     *
     * @param channel where its events arrive
     * @param portSpace what its port is a port of
     */
    @CFunction("rdma_create_id")
    public static CmId open(EventChannel channel, PortSpace portSpace) throws RdmaException {
        Objects.requireNonNull(portSpace, "portSpace");
        Lifetime life = Lifetime.begin(CmId.class, channel.lifetime());
        channel.lock().lock();
        try (Arena arena = Arena.ofConfined()) {
            long result = arena.allocate(Long.BYTES, Long.BYTES).address();
            long address = life.create(() -> {
                Check.minusOne(CREATE_ID, CREATE_ID.callInt(channel.nativeAddress(), result, 0, portSpace.value()));
                return Memory.getLong(result);
            });
            CmId id = new CmId(channel, portSpace, life, address, CmIdState.IDLE);
            channel.register(id, address);
            return id;
        } finally {
            channel.lock().unlock();
        }
    }

    /** The new id of a connect request. With the channel's lock held. */
    static CmId requested(EventChannel channel, RawEvent request) {
        Lifetime life = Lifetime.begin(CmId.class, channel.lifetime());
        CmId id = new CmId(channel, request.owner().portSpace, life, request.id(), CmIdState.REQUESTED);
        channel.register(id, request.id());
        id.relabel();
        return id;
    }

    /** The channel that its events arrive at. */
    public EventChannel channel() {
        life().ensureOpen();
        return channel;
    }

    /** What its port is a port of. */
    public PortSpace portSpace() {
        life().ensureOpen();
        return portSpace;
    }

    /** Where it is between creation and the end of its connection. */
    public CmIdState state() {
        life().ensureOpen();
        return state;
    }

    /**
     * The address of this side ({@code rdma_get_local_addr}).
     *
     * @throws IllegalStateException when it has none yet
     */
    @CFunction("rdma_get_local_addr")
    public InetSocketAddress localAddress() {
        return socketAddress(SOURCE, "local");
    }

    /**
     * The address of the other side ({@code rdma_get_peer_addr}).
     *
     * @throws IllegalStateException when it has none yet
     */
    @CFunction("rdma_get_peer_addr")
    public InetSocketAddress peerAddress() {
        return socketAddress(DESTINATION, "peer");
    }

    /**
     * The device that it is bound to ({@code rdma_cm_id.verbs}). It belongs to librdmacm and needs no close.
     *
     * @throws IllegalStateException when it is not bound to a device yet
     */
    public VerbsContext context() {
        life().enter();
        try {
            long context = Memory.getLong(address() + rdma_cm_id.verbs$offset());
            if (context == 0) {
                throw new IllegalStateException(this + " is not bound to a device, next comes: " + state.nextStep());
            }
            return DeviceHold.context(context);
        } finally {
            life().leave();
        }
    }

    /** The port of this side, in the byte order of the machine; 0 when it has none yet ({@code rdma_get_src_port}). */
    @CFunction("rdma_get_src_port")
    public int localPort() throws RdmaException {
        return port(GET_SRC_PORT);
    }

    /** The port of the other side, in the byte order of the machine; 0 when not known ({@code rdma_get_dst_port}). */
    @CFunction("rdma_get_dst_port")
    public int peerPort() throws RdmaException {
        return port(GET_DST_PORT);
    }

    /**
     * Which port of its device it is bound to, from 1 on ({@code rdma_cm_id.port_num}).
     *
     * @throws IllegalStateException when it is not bound to a device yet
     */
    public int devicePort() {
        life().enter();
        try {
            int port = Byte.toUnsignedInt(Memory.getByte(address() + rdma_cm_id.port_num$offset()));
            if (port == 0) {
                throw new IllegalStateException(this + " is not bound to a device, next comes: " + state.nextStep());
            }
            return port;
        } finally {
            life().leave();
        }
    }

    /** What can be set before it is bound or connected ({@code rdma_set_option}). */
    public CmIdOptions options() {
        life().ensureOpen();
        return new CmIdOptions(this);
    }

    /** Its queue pair; empty when none was made, or it was closed. */
    public Optional<QueuePair> queuePair() {
        life().ensureOpen();
        return Optional.ofNullable(openQueuePair());
    }

    /**
     * Binds it to an address of this machine ({@code rdma_bind_addr}).
     *
     * @param local an InetSocketAddress, with the port 0 for any port and the wildcard address for all devices; or an
     *        {@link IbSocketAddress}
     * @throws UnreachableException when the address is not one of this machine
     * @throws RdmaException EADDRINUSE; ENODEV when no RDMA device serves the address
     */
    @CFunction("rdma_bind_addr")
    public void bindAddress(SocketAddress local) throws RdmaException {
        run("bindAddress", EnumSet.of(CmIdState.IDLE), () -> {
            try (Arena arena = Arena.ofConfined()) {
                long address = SocketAddresses.write(Objects.requireNonNull(local, "local"), arena);
                CmFailures.check(BIND_ADDR, BIND_ADDR.callInt(address(), address), local.toString());
            }
            state = CmIdState.BOUND;
        });
    }

    /**
     * Resolves the peer's address, and binds the id to the device that leads there ({@code rdma_resolve_addr}).
     * Answered by ADDR_RESOLVED or ADDR_ERROR.
     *
     * @param peer an InetSocketAddress or an {@link IbSocketAddress}
     * @param timeout after which the kernel gives up, at least a millisecond
     */
    @CFunction("rdma_resolve_addr")
    public void resolveAddress(SocketAddress peer, Duration timeout) throws RdmaException {
        resolveAddress(null, peer, timeout);
    }

    /**
     * As {@link #resolveAddress(SocketAddress, Duration)}, from a given address of this machine.
     *
     * @param local null to let the kernel choose
     * @param peer the peer
     * @param timeout after which the kernel gives up, at least a millisecond
     */
    @CFunction("rdma_resolve_addr")
    public void resolveAddress(SocketAddress local, SocketAddress peer, Duration timeout) throws RdmaException {
        run("resolveAddress", EnumSet.of(CmIdState.IDLE, CmIdState.BOUND), () -> {
            int milliseconds = milliseconds(timeout);
            try (Arena arena = Arena.ofConfined()) {
                long source = SocketAddresses.write(local, arena);
                long destination = SocketAddresses.write(Objects.requireNonNull(peer, "peer"), arena);
                CmFailures.check(RESOLVE_ADDR, RESOLVE_ADDR.callInt(address(), source, destination, milliseconds),
                        peer.toString());
            }
            state = CmIdState.RESOLVING_ADDRESS;
        });
    }

    /**
     * Resolves the route to the peer ({@code rdma_resolve_route}). Answered by ROUTE_RESOLVED or ROUTE_ERROR.
     *
     * @param timeout after which the kernel gives up, at least a millisecond
     */
    @CFunction("rdma_resolve_route")
    public void resolveRoute(Duration timeout) throws RdmaException {
        run("resolveRoute", EnumSet.of(CmIdState.ADDRESS_RESOLVED), () -> {
            int result = RESOLVE_ROUTE.callInt(address(), milliseconds(timeout));
            CmFailures.check(RESOLVE_ROUTE, result, label.get());
            state = CmIdState.RESOLVING_ROUTE;
        });
    }

    /**
     * Begins to listen ({@code rdma_listen}). Connect requests arrive as CONNECT_REQUEST.
     *
     * @param backlog how many requests may wait to be taken, at least 0; 0 for the kernel's limit
     */
    @CFunction("rdma_listen")
    public void listen(int backlog) throws RdmaException {
        run("listen", EnumSet.of(CmIdState.BOUND), () -> {
            if (backlog < 0) {
                throw new IllegalArgumentException("backlog is negative: " + backlog);
            }
            CmFailures.check(LISTEN, LISTEN.callInt(address(), backlog), label.get());
            state = CmIdState.LISTENING;
        });
    }

    /**
     * Makes the queue pair of the connection, in the state that lets receives be posted ({@code rdma_create_qp}, or
     * {@code rdma_create_qp_ex} where the attributes need it). It is to be closed before the id.
     *
     * @param domain of the same {@link #context()}
     * @param attributes of the type that belongs to the port space
     */
    @CFunction({"rdma_create_qp", "rdma_create_qp_ex"})
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairInitAttributes attributes)
            throws RdmaException {
        return queues.createQueuePair(domain, attributes);
    }

    /**
     * Makes the shared receive queue of the id, which its queue pair then uses ({@code rdma_create_srq},
     * {@code rdma_create_srq_ex}). It is to be closed after the queue pair and before the id.
     *
     * @param domain of the same {@link #context()}
     * @param attributes of the type {@code XRC} also without an XRC domain and a completion queue: librdmacm has some
     * @throws io.rdmacm.verbs.RdmaUnsupportedException when the device has no queues of the type
     */
    @CFunction({"rdma_create_srq", "rdma_create_srq_ex", "rdma_destroy_srq"})
    public SharedReceiveQueue createSharedReceiveQueue(ProtectionDomain domain,
            SharedReceiveQueueInitAttributes attributes) throws RdmaException {
        return queues.createSharedReceiveQueue(domain, attributes);
    }

    /**
     * Brings a queue pair that was made outside the id into a state of its connection ({@code rdma_init_qp_attr}, then
     * {@code ibv_modify_qp}); the one of {@link #createQueuePair} follows by itself. INIT lets receives be posted. INIT
     * again, RTR and RTS are due before {@link #accept}, and at the other side after CONNECT_RESPONSE, before
     * {@link #establish}.
     *
     * @param outside made by {@link ProtectionDomain#createQueuePair}
     * @param wanted INIT, RTR or RTS
     * @throws RdmaException EINVAL when the connection or the queue pair has not come so far
     */
    @CFunction("rdma_init_qp_attr")
    public void modifyQueuePair(QueuePair outside, QueuePairState wanted) throws RdmaException {
        queues.modify(outside, wanted);
    }

    /**
     * Asks the peer for a connection ({@code rdma_connect}). Answered by ESTABLISHED, REJECTED, UNREACHABLE or
     * CONNECT_ERROR; with a queue pair that was made outside the id by CONNECT_RESPONSE instead of ESTABLISHED. The
     * answer must be taken from the channel: that is what completes the handshake.
     *
     * @param parameters with at most 56 bytes of private data; 180 for datagrams
     */
    @CFunction("rdma_connect")
    public void connect(ConnectionParameters parameters) throws RdmaException {
        handshake.connect(parameters);
    }

    /**
     * Takes the connection that the peer asked for ({@code rdma_accept}). Answered by ESTABLISHED; not for datagrams.
     *
     * @param parameters with at most 196 bytes of private data; 136 for datagrams
     */
    @CFunction("rdma_accept")
    public void accept(ConnectionParameters parameters) throws RdmaException {
        handshake.accept(parameters);
    }

    /** Rejects the connection that the peer asked for, without a word ({@code rdma_reject}). */
    @CFunction("rdma_reject")
    public void reject() throws RdmaException {
        reject(new byte[0]);
    }

    /**
     * Rejects the connection that the peer asked for ({@code rdma_reject}).
     *
     * @param privateData what the peer is told; at most 148 bytes, 136 for datagrams
     */
    @CFunction("rdma_reject")
    public void reject(byte[] privateData) throws RdmaException {
        handshake.reject(privateData);
    }

    /**
     * Rejects because of the options of enhanced connection establishment ({@code rdma_reject_ece}).
     *
     * @param privateData what the peer is told; at most 148 bytes, 136 for datagrams
     */
    @CFunction("rdma_reject_ece")
    public void rejectEce(byte[] privateData) throws RdmaException {
        handshake.rejectEce(privateData);
    }

    /**
     * The options of enhanced connection establishment that the peer asked for ({@code rdma_get_remote_ece}).
     *
     * @throws IllegalStateException when it has a queue pair, or the peer has not been heard of yet
     */
    @CFunction("rdma_get_remote_ece")
    public Ece remoteEce() throws RdmaException {
        Ece[] remote = new Ece[1];
        run("remoteEce", EnumSet.of(CmIdState.REQUESTED, CmIdState.RESPONDED), () -> remote[0] = queues.remoteEce());
        return remote[0];
    }

    /**
     * Ends the connection: work that is still posted is flushed ({@code rdma_disconnect}). Answered by DISCONNECTED at
     * both sides. When the peer has ended it already, this only acknowledges that.
     */
    @CFunction("rdma_disconnect")
    public void disconnect() throws RdmaException {
        handshake.disconnect();
    }

    /**
     * Answers the peer's acceptance, for a queue pair that was made outside the id ({@code rdma_establish}): after
     * CONNECT_RESPONSE, when the program has brought its queue pair to ready-to-send.
     */
    @CFunction("rdma_establish")
    public void establish() throws RdmaException {
        handshake.establish();
    }

    /**
     * Tells the connection manager that data has arrived before the peer's last message of the handshake
     * ({@code rdma_notify} of IBV_EVENT_COMM_EST).
     *
     * @throws RdmaException EISCONN when the connection is established already
     */
    @CFunction("rdma_notify")
    public void notifyEstablished() throws RdmaException {
        handshake.notifyOf(Rdma.IBV_EVENT_COMM_EST());
    }

    /**
     * Tells the connection manager that the queue pair has gone over to its alternate path ({@code rdma_notify} of
     * IBV_EVENT_PATH_MIG).
     */
    @CFunction("rdma_notify")
    public void notifyMigrated() throws RdmaException {
        handshake.notifyOf(Rdma.IBV_EVENT_PATH_MIG());
    }

    /**
     * Moves it to another channel ({@code rdma_migrate_id}): all events that were not delivered yet, and all later
     * ones, arrive there. Connect requests that wait are moved as well. (A request that reaches a listener in the very
     * moment that it moves may be dropped by librdmacm: its peer hears nothing until its own time-out.)
     *
     * @param target open
     * @throws IllegalStateException while delivered events of this id are not closed (C would wait for them)
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
     * Joins a multicast group as a full member ({@code rdma_join_multicast}). Answered by MULTICAST_JOIN, whose
     * {@link CmEvent#datagramParameters()} tell how to send to the group, or by MULTICAST_ERROR. A queue pair that is
     * to receive must be made before.
     *
     * @param group an InetSocketAddress with a multicast address, or an {@link IbSocketAddress}
     * @return to be closed before the queue pair
     */
    @CFunction("rdma_join_multicast")
    public MulticastMembership joinMulticast(SocketAddress group) throws RdmaException {
        return joinMulticast(group, MulticastMembership.Role.FULL_MEMBER);
    }

    /**
     * As {@link #joinMulticast(SocketAddress)}, with the role ({@code rdma_join_multicast_ex}).
     *
     * @param group an InetSocketAddress with a multicast address, or an {@link IbSocketAddress}
     * @param role whether it only sends
     * @return to be closed before the queue pair
     * @throws IllegalStateException when the id is a member of the group already
     */
    @CFunction("rdma_join_multicast_ex")
    public MulticastMembership joinMulticast(SocketAddress group, MulticastMembership.Role role)
            throws RdmaException {
        MulticastMembership[] joined = new MulticastMembership[1];
        run("joinMulticast", WITH_DEVICE, () -> {
            Objects.requireNonNull(group, "group");
            Objects.requireNonNull(role, "role");
            if (memberships.values().stream().anyMatch(m -> m.isOf(group))) {
                throw new IllegalStateException(this + " is a member of " + group + " already");
            }
            joined[0] = MulticastMembership.join(this, group, role);
            memberships.put(joined[0].context(), joined[0]);
        });
        return joined[0];
    }
}
