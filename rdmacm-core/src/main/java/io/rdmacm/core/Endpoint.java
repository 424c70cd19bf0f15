// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.SendOpcode;
import io.rdmacm.verbs.work.WorkCompletion;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The synchronous side of librdmacm: a connection-manager id without an event channel (rdma_create_ep(3), or
 * rdma_create_id(3) with a null channel) and the helpers of {@code rdma_verbs.h}, which register memory, post work and
 * wait for completions. Each call returns when its work is done.
 *
 * <p>As in C, an endpoint creates what it is not given: a protection domain, and completion queues with channels for
 * sends and for receives. These are closed with the endpoint, and so are the memory regions registered through it.
 *
 * <p>Unlike in C, every call that waits takes a timeout, can be interrupted, and ends when another thread calls
 * {@link #close()} or when the connection ends. A waiting thread also watches the events of the connection; as soon as
 * one of them says that the connection has ended, all posted work is flushed.
 *
 * <h2>Connecting</h2>
 *
 * <p>An {@link InetSocketAddress} or an {@link IbSocketAddress} can be used wherever an address is asked for. Calls are
 * legal in the same order as those of {@link CmId}, whose state machine refuses others with an IllegalStateException.
 * Failures are exceptions: {@link RejectedException} with the peer's private data, {@link UnreachableException},
 * {@link DisconnectedException}, {@link DeviceRemovedException}, {@link RdmaTimeoutException}, and
 * {@link RdmaClosedException} when another thread closed the endpoint. If a step of connecting fails or is interrupted,
 * the endpoint can only be closed.
 *
 * <h2>Posting</h2>
 *
 * <p>Posting copies no data and allocates nothing. The number {@code context} of a post comes back as
 * {@link WorkCompletion#workRequestId()}. Memory is given as a region with an offset and a length in bytes, or as a
 * {@link ScatterGatherList}; leave it alone until the request has completed. Sends, reads and writes produce a
 * completion if their flags contain {@link SendFlag#SIGNALED}, or always if {@link EndpointAttributes#signalAll()} is
 * set; failed ones always do. A post throws
 * <ul>
 * <li>IllegalStateException when there is no queue pair yet, or a region is closed;
 * <li>IllegalArgumentException when a list has more parts than the queue pair allows, or a region is of another
 * protection domain;
 * <li>IndexOutOfBoundsException when the offset and the length are not within the region;
 * <li>{@link io.rdmacm.verbs.error.WorkRequestException WorkRequestException} with ENOMEM when the queue is full, with
 * EINVAL when the device refuses the request.
 * </ul>
 *
 * <p>All methods may be called from any thread. Posting is fastest when one thread posts sends and one posts receives;
 * threads that wait for the same kind of completions take turns.
 */
public final class Endpoint extends NativeObject {
    private static final Logger LOG = LoggerFactory.getLogger(Endpoint.class);

    private final EventChannel channel;
    private final CmId id;
    // For the queue pairs of the endpoints that getRequest returns; null if the caller creates those.
    private final @Nullable EndpointAttributes acceptedAttributes;
    private final EndpointResources resources;
    private volatile @Nullable ConnectionParameters peerParameters;
    private volatile @Nullable DatagramParameters datagramParameters;

    private Endpoint(Lifetime life, EventChannel channel, CmId id, @Nullable EndpointAttributes acceptedAttributes) {
        super(life, VerbsAccess.get().addressOf(id), rdma_cm_id.sizeof());
        this.channel = channel;
        this.id = id;
        this.acceptedAttributes = acceptedAttributes;
        this.resources = new EndpointResources(id, life());
        String text = id.toString();
        life().describe(() -> text);
        id.whenEnded(this::ended);
    }

    /**
     * Creates an endpoint that is neither bound nor connected ({@code rdma_create_id} without a channel).
     *
     * @param portSpace the port space, which decides between connections and datagrams
     * @return the endpoint, to be closed
     * @throws RdmaException ENODEV when this machine has no RDMA device
     */
    @CFunction("rdma_create_id")
    public static Endpoint open(PortSpace portSpace) throws RdmaException {
        return open(portSpace, null);
    }

    /**
     * Creates an endpoint that is ready to connect: its address and route are resolved, and its queue pair is created
     * ({@code rdma_create_ep}).
     *
     * @param peer the address to connect to
     * @param portSpace the port space of the peer's port
     * @param attributes of the queue pair; null to create it later
     * @param timeout the longest time that all of this may take
     * @return the endpoint, to be closed
     * @throws UnreachableException when the address or the route cannot be resolved
     * @throws RdmaTimeoutException when it took too long
     * @throws RdmaException ENODEV when no RDMA device leads to the peer; or as {@link #createQueuePair}
     * @throws InterruptedException when this thread was interrupted
     */
    @CFunction("rdma_create_ep")
    public static Endpoint createActive(SocketAddress peer, PortSpace portSpace,
            @Nullable EndpointAttributes attributes, Duration timeout) throws RdmaException, InterruptedException {
        return createActive(null, peer, portSpace, attributes, timeout);
    }

    /**
     * Like {@link #createActive(SocketAddress, PortSpace, EndpointAttributes, Duration)}, from a given local address.
     *
     * @param local the address to connect from; null to let the kernel choose
     * @param peer the address to connect to
     * @param portSpace the port space of the peer's port
     * @param attributes of the queue pair; null to create it later
     * @param timeout the longest time that all of this may take
     * @return the endpoint, to be closed
     * @throws UnreachableException when the address or the route cannot be resolved, or this machine does not have the
     *         local address
     * @throws RdmaTimeoutException when it took too long
     * @throws RdmaException ENODEV when no RDMA device leads to the peer; or as {@link #createQueuePair}
     * @throws InterruptedException when this thread was interrupted
     */
    @CFunction("rdma_create_ep")
    public static Endpoint createActive(@Nullable SocketAddress local, SocketAddress peer, PortSpace portSpace,
            @Nullable EndpointAttributes attributes, Duration timeout) throws RdmaException, InterruptedException {
        return createActive(local, peer, portSpace, new byte[0], attributes, timeout);
    }

    /**
     * Creates an endpoint that is ready to listen ({@code rdma_create_ep} with {@code RAI_PASSIVE}).
     *
     * @param local the address to listen on; port 0 for any free port, the wildcard address for all devices
     * @param portSpace the port space of the port
     * @param attributes of the queue pairs of the endpoints that {@link #getRequest} returns; null to create them later
     * @return the endpoint, to be closed
     * @throws UnreachableException when this machine does not have the address
     * @throws RdmaException as {@link CmId#bindAddress}
     */
    @CFunction("rdma_create_ep")
    public static Endpoint createPassive(SocketAddress local, PortSpace portSpace,
            @Nullable EndpointAttributes attributes)
            throws RdmaException {
        try (Parts parts = new Parts()) {
            Endpoint endpoint = parts.add(open(portSpace, attributes), Endpoint::close);
            endpoint.bindAddress(local);
            return parts.complete(endpoint);
        }
    }

    /**
     * Creates an endpoint from a result of {@link AddressInfo#resolve} ({@code rdma_create_ep}): ready to listen if it
     * has the flag PASSIVE, otherwise ready to connect. If it has routes, they are used.
     *
     * @param info must not have connect data; connect to such a service step by step
     * @param attributes of the queue pair, or of those of the endpoints that {@link #getRequest} returns; null to
     *        create them later
     * @param timeout the longest time that all of this may take
     * @return the endpoint, to be closed
     * @throws IllegalArgumentException when the result has connect data, or lacks the address that is needed
     * @throws UnreachableException when the address or the route cannot be resolved
     * @throws RdmaTimeoutException when it took too long
     * @throws RdmaException as {@link CmId#bindAddress} or {@link #createActive(SocketAddress, PortSpace,
     *         EndpointAttributes, Duration) createActive}
     * @throws InterruptedException when this thread was interrupted
     */
    @CFunction("rdma_create_ep")
    public static Endpoint create(AddressInfo info, @Nullable EndpointAttributes attributes, Duration timeout)
            throws RdmaException, InterruptedException {
        if (info.connectData().length > 0) {
            throw new IllegalArgumentException("this service requires private data in the connect request: " + info);
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

    private static Endpoint createActive(@Nullable SocketAddress local, SocketAddress peer, PortSpace portSpace,
            byte[] paths, @Nullable EndpointAttributes attributes, Duration timeout) throws RdmaException,
            InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        try (Parts parts = new Parts()) {
            Endpoint endpoint = parts.add(open(portSpace), Endpoint::close);
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
            return parts.complete(endpoint);
        }
    }

    private static Endpoint open(PortSpace portSpace, @Nullable EndpointAttributes accepted) throws RdmaException {
        Objects.requireNonNull(portSpace, "portSpace");
        try (Parts parts = new Parts()) {
            EventChannel channel = parts.add(EventChannel.open(), EventChannel::close);
            CmId id = parts.add(CmId.open(channel, portSpace), CmId::close);
            return parts.complete(of(channel, id, accepted));
        }
    }

    /** Wraps a connect request. As in C, its id gets a channel of its own and so does not depend on the listener. */
    private static Endpoint requested(CmEvent request) throws RdmaException {
        try (Parts parts = new Parts()) {
            CmId requested = request.id();
            // if it cannot be destroyed now, the close of the listener or of its new channel does it
            Lifetime life = VerbsAccess.get().lifeOf(requested);
            parts.add(requested, CmId::close, life);
            EventChannel channel = parts.add(EventChannel.open(), EventChannel::close);
            requested.migrate(channel);
            // it is closed before its new channel
            parts.add(requested, CmId::close, life);
            return parts.complete(of(channel, requested, null));
        }
    }

    private static Endpoint of(EventChannel channel, CmId id, @Nullable EndpointAttributes accepted)
            throws RdmaException {
        return Lifetime.make(Endpoint.class, List.of(), (life, none) -> new Endpoint(life, channel, id, accepted));
    }

    /** {@return the id, for its options and addresses; its events are consumed by this endpoint} */
    public CmId id() {
        life().ensureOpen();
        return id;
    }

    /** {@return the state of the id} */
    public CmIdState state() {
        life().ensureOpen();
        return id.state();
    }

    /**
     * Returns the local address.
     *
     * @return the address and port that the endpoint is bound to
     * @throws IllegalStateException when it has no IP address yet
     */
    public InetSocketAddress localAddress() {
        life().ensureOpen();
        return id.localAddress();
    }

    /**
     * Returns the address of the peer.
     *
     * @return the address and port of the peer
     * @throws IllegalStateException when no peer with an IP address is known yet
     */
    public InetSocketAddress peerAddress() {
        life().ensureOpen();
        return id.peerAddress();
    }

    /**
     * Returns the device that the endpoint is bound to.
     *
     * @return the context, which belongs to librdmacm and need not be closed
     * @throws IllegalStateException when the endpoint is not bound to a device yet
     */
    public VerbsContext context() {
        life().ensureOpen();
        return id.context();
    }

    /** {@return the queue pair, which is closed with the endpoint; empty until it is created} */
    public Optional<QueuePair> queuePair() {
        life().ensureOpen();
        return Optional.ofNullable(resources.queues()).map(EndpointQueues::queuePair);
    }

    /**
     * Returns the parameters and private data of the peer's connect request, or of its answer to {@link #connect}.
     *
     * @return the parameters; empty until they have arrived, and for datagrams
     */
    public Optional<ConnectionParameters> peerParameters() {
        life().ensureOpen();
        return Optional.ofNullable(peerParameters);
    }

    /**
     * Returns the parameters of the peer's connect request for datagrams, or of its answer to {@link #connect}. Only
     * those of an answer have the address to send to.
     *
     * @return the parameters; empty until they have arrived, and for connections
     */
    public Optional<DatagramParameters> datagramParameters() {
        life().ensureOpen();
        return Optional.ofNullable(datagramParameters);
    }

    /**
     * Binds the endpoint to a local address ({@code rdma_bind_addr}).
     *
     * @param local the address; port 0 for any free port, the wildcard address for all devices
     * @throws UnreachableException when this machine does not have the address
     * @throws RdmaException as {@link CmId#bindAddress}
     */
    @CFunction("rdma_bind_addr")
    public void bindAddress(SocketAddress local) throws RdmaException {
        life().ensureOpen();
        id.bindAddress(local);
    }

    /**
     * Resolves the peer's address ({@code rdma_resolve_addr}).
     *
     * @param local the address to connect from; null to let the kernel choose
     * @param peer the address to resolve
     * @param timeout the longest time to wait
     * @throws UnreachableException when the peer's address cannot be resolved, or this machine does not have the local
     *         one
     * @throws RdmaTimeoutException when it took too long
     * @throws RdmaException ENODEV when no RDMA device leads there
     * @throws InterruptedException when this thread was interrupted; the endpoint can only be closed then
     */
    @CFunction("rdma_resolve_addr")
    public void resolveAddress(@Nullable SocketAddress local, SocketAddress peer, Duration timeout)
            throws RdmaException, InterruptedException {
        step(CmEventType.ADDR_RESOLVED, timeout, limit -> id.resolveAddress(local, peer, limit));
    }

    /**
     * Resolves the route to the peer ({@code rdma_resolve_route}).
     *
     * @param timeout the longest time to wait
     * @throws UnreachableException when there is no route
     * @throws RdmaTimeoutException when it took too long
     * @throws RdmaException as {@link CmId#resolveRoute}
     * @throws InterruptedException when this thread was interrupted; the endpoint can only be closed then
     */
    @CFunction("rdma_resolve_route")
    public void resolveRoute(Duration timeout) throws RdmaException, InterruptedException {
        step(CmEventType.ROUTE_RESOLVED, timeout, id::resolveRoute);
    }

    /**
     * Starts listening for connect requests ({@code rdma_listen}).
     *
     * @param backlog how many requests may be queued, at least 0; 0 for the kernel's limit
     * @throws RdmaException as {@link CmId#listen}
     */
    @CFunction("rdma_listen")
    public void listen(int backlog) throws RdmaException {
        life().ensureOpen();
        id.listen(backlog);
    }

    /**
     * Waits for the next connect request ({@code rdma_get_request}).
     *
     * @param timeout the longest time to wait
     * @return an endpoint to accept or reject, and to close. It has a queue pair if this endpoint was created with
     *         attributes for it. It stays open when this endpoint is closed.
     * @throws RdmaTimeoutException when no request arrived in time
     * @throws RdmaClosedException when another thread closed this endpoint
     * @throws RdmaException EINVAL of rdma_create_qp when the peer has given up; call again for the next request
     * @throws InterruptedException when this thread was interrupted; no request is lost
     */
    @CFunction("rdma_get_request")
    public Endpoint getRequest(Duration timeout) throws RdmaException, InterruptedException {
        life().enter();
        try (CmEvent request = await(CmEventType.CONNECT_REQUEST, timeout); Parts parts = new Parts()) {
            Endpoint endpoint = parts.add(requested(request), Endpoint::close);
            endpoint.note(request);
            if (acceptedAttributes != null) {
                endpoint.createQueuePair(acceptedAttributes);
            }
            return parts.complete(endpoint);
        } finally {
            life().leave();
        }
    }

    /**
     * Creates the queue pair ({@code rdma_create_qp}), and the completion queues, channels and protection domain that
     * the attributes do not provide. Receives can be posted afterwards.
     *
     * @param attributes the attributes
     * @throws IllegalStateException when the endpoint already has a queue pair
     * @throws RdmaException EINVAL when a size exceeds the limits of the device, or the peer that requested the
     *         connection has given up; ENOMEM when there is not enough memory
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
     * Connects ({@code rdma_connect}), and waits until the connection is established.
     *
     * @param parameters with at most 56 bytes of private data, 180 for datagrams
     * @param timeout the longest time to wait
     * @throws RejectedException when the peer rejects the connection, or nothing listens on its port
     * @throws UnreachableException when the peer does not answer
     * @throws RdmaTimeoutException when it took too long
     * @throws RdmaException as {@link CmId#connect}
     * @throws InterruptedException when this thread was interrupted; the endpoint can only be closed then
     */
    @CFunction("rdma_connect")
    public void connect(ConnectionParameters parameters, Duration timeout) throws RdmaException, InterruptedException {
        step(CmEventType.ESTABLISHED, timeout, limit -> id.connect(parameters));
    }

    /**
     * Accepts the connection that the peer requested ({@code rdma_accept}), and waits until it is established. For
     * datagrams there is nothing to wait for.
     *
     * @param parameters with at most 196 bytes of private data, 136 for datagrams
     * @param timeout the longest time to wait
     * @throws UnreachableException when the peer does not complete the handshake
     * @throws RdmaTimeoutException when it took too long
     * @throws RdmaException as {@link CmId#accept}
     * @throws InterruptedException when this thread was interrupted; the endpoint can only be closed then
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
     * Rejects the connection that the peer requested ({@code rdma_reject}).
     *
     * @param privateData sent to the peer, at most 148 bytes, 136 for datagrams
     * @throws RdmaException as {@link CmId#reject(byte[])}
     */
    @CFunction("rdma_reject")
    public void reject(byte[] privateData) throws RdmaException {
        life().ensureOpen();
        id.reject(privateData);
    }

    /**
     * Returns the protection domain.
     *
     * @return the domain of the attributes, or else the endpoint's own, which is allocated by the first call
     * @throws IllegalStateException when the endpoint is not bound to a device yet
     * @throws RdmaException ENOMEM when the domain could not be allocated
     */
    public ProtectionDomain protectionDomain() throws RdmaException {
        life().enter();
        try {
            return resources.domain();
        } finally {
            life().leave();
        }
    }

    /**
     * Creates a shared receive queue in the protection domain of the endpoint ({@code rdma_create_srq},
     * {@code rdma_create_srq_ex}). To be called before the queue pair is created, which then uses it; other queue pairs
     * may share it.
     *
     * @param attributes see {@link CmId#createSharedReceiveQueue}
     * @return the shared receive queue, which is closed with the endpoint
     * @throws IllegalStateException when there is already a shared receive queue or a queue pair
     * @throws RdmaException as {@link CmId#createSharedReceiveQueue}
     */
    @CFunction({"rdma_create_srq", "rdma_create_srq_ex", "rdma_destroy_srq"})
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        life().enter();
        try {
            return resources.createSharedReceiveQueue(attributes);
        } finally {
            life().leave();
        }
    }

    /**
     * Registers memory for messages ({@code rdma_reg_msgs}) in the protection domain of the endpoint.
     *
     * @param memory native, see {@link ProtectionDomain#register}
     * @return the region, with the access {@link AccessFlag#LOCAL_WRITE}; it is closed with the endpoint, unless it was
     *         closed before
     * @throws RdmaException as {@link ProtectionDomain#register}
     */
    @CFunction("rdma_reg_msgs")
    public MemoryRegion registerMessages(MemorySegment memory) throws RdmaException {
        return register(memory, AccessFlag.LOCAL_WRITE);
    }

    /**
     * Registers memory that the peer may read ({@code rdma_reg_read}), otherwise like {@link #registerMessages}.
     *
     * @param memory native, see {@link ProtectionDomain#register}
     * @return the region, with the access {@link AccessFlag#LOCAL_WRITE} and {@link AccessFlag#REMOTE_READ}
     * @throws RdmaException as {@link ProtectionDomain#register}
     */
    @CFunction("rdma_reg_read")
    public MemoryRegion registerRead(MemorySegment memory) throws RdmaException {
        return register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    /**
     * Registers memory that the peer may write ({@code rdma_reg_write}), otherwise like {@link #registerMessages}.
     *
     * @param memory native, see {@link ProtectionDomain#register}
     * @return the region, with the access {@link AccessFlag#LOCAL_WRITE} and {@link AccessFlag#REMOTE_WRITE}
     * @throws RdmaException as {@link ProtectionDomain#register}
     */
    @CFunction("rdma_reg_write")
    public MemoryRegion registerWrite(MemorySegment memory) throws RdmaException {
        return register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    /**
     * Deregisters memory ({@code rdma_dereg_mr}); the same as closing the region.
     *
     * @param region the region
     * @throws RdmaException as {@link MemoryRegion#close}
     */
    @CFunction("rdma_dereg_mr")
    public void deregister(MemoryRegion region) throws RdmaException {
        life().ensureOpen();
        region.close();
    }

    /**
     * Posts a receive ({@code rdma_post_recv}), to the shared receive queue if there is one. A datagram is preceded by
     * 40 bytes for the global route header, for which the memory must have room.
     *
     * @param context comes back with the completion
     * @param region the memory for the message, writable for the device ({@link AccessFlag#LOCAL_WRITE})
     * @param offset where the message goes in the region, in bytes
     * @param length the longest message in bytes
     * @throws RdmaException ENOMEM when the receive queue is full
     */
    @CFunction("rdma_post_recv")
    public void postReceive(long context, MemoryRegion region, long offset, long length) throws RdmaException {
        queues().receiver().post(context, region, offset, length);
    }

    /**
     * Posts a receive into several parts of memory ({@code rdma_post_recvv}).
     *
     * @param context comes back with the completion
     * @param list the parts, which are filled one after the other
     * @throws RdmaException ENOMEM when the receive queue is full
     */
    @CFunction("rdma_post_recvv")
    public void postReceive(long context, ScatterGatherList list) throws RdmaException {
        queues().receiver().post(context, list);
    }

    /**
     * Posts a message ({@code rdma_post_send}).
     *
     * @param context comes back with the completion
     * @param region where the message is
     * @param offset where it begins in the region, in bytes
     * @param length its length in bytes
     * @param flags the options of the request
     * @throws RdmaException ENOMEM when the send queue is full
     */
    @CFunction("rdma_post_send")
    public void postSend(long context, MemoryRegion region, long offset, long length, Set<SendFlag> flags)
            throws RdmaException {
        queues().sender().post(SendOpcode.SEND, context, region, offset, length, flags, null);
    }

    /**
     * Posts a message that consists of several parts of memory ({@code rdma_post_sendv}).
     *
     * @param context comes back with the completion
     * @param list the parts, which are sent as one message
     * @param flags the options of the request
     * @throws RdmaException ENOMEM when the send queue is full
     */
    @CFunction("rdma_post_sendv")
    public void postSend(long context, ScatterGatherList list, Set<SendFlag> flags) throws RdmaException {
        queues().sender().post(SendOpcode.SEND, context, list, flags, null);
    }

    /**
     * Posts a read of the peer's memory ({@code rdma_post_read}).
     *
     * @param context comes back with the completion
     * @param region the memory to read into, writable for the device ({@link AccessFlag#LOCAL_WRITE})
     * @param offset where the data goes in the region, in bytes
     * @param length how many bytes to read, less than 2 GiB
     * @param flags the options of the request
     * @param remote the memory to read from, as the peer's {@link MemoryRegion#remoteMemory()} returned it
     * @throws IndexOutOfBoundsException when the length is more than that of the remote memory
     * @throws RdmaException ENOMEM when the send queue is full
     */
    @CFunction("rdma_post_read")
    public void postRead(long context, MemoryRegion region, long offset, long length, Set<SendFlag> flags,
            RemoteMemory remote) throws RdmaException {
        queues().sender().post(SendOpcode.RDMA_READ, context, region, offset, length, flags, remote);
    }

    /**
     * Posts a read of the peer's memory into several parts of memory ({@code rdma_post_readv}).
     *
     * @param context comes back with the completion
     * @param list the parts, which are filled one after the other
     * @param flags the options of the request
     * @param remote the memory to read from
     * @throws IndexOutOfBoundsException when the parts together are longer than the remote memory
     * @throws RdmaException ENOMEM when the send queue is full
     */
    @CFunction("rdma_post_readv")
    public void postRead(long context, ScatterGatherList list, Set<SendFlag> flags, RemoteMemory remote)
            throws RdmaException {
        queues().sender().post(SendOpcode.RDMA_READ, context, list, flags, remote);
    }

    /**
     * Posts a write to the peer's memory ({@code rdma_post_write}).
     *
     * @param context comes back with the completion
     * @param region where the data is
     * @param offset where it begins in the region, in bytes
     * @param length how many bytes to write, less than 2 GiB
     * @param flags the options of the request
     * @param remote the memory to write to, as the peer's {@link MemoryRegion#remoteMemory()} returned it
     * @throws IndexOutOfBoundsException when the length is more than that of the remote memory
     * @throws RdmaException ENOMEM when the send queue is full
     */
    @CFunction("rdma_post_write")
    public void postWrite(long context, MemoryRegion region, long offset, long length, Set<SendFlag> flags,
            RemoteMemory remote) throws RdmaException {
        queues().sender().post(SendOpcode.RDMA_WRITE, context, region, offset, length, flags, remote);
    }

    /**
     * Posts a write of several parts of memory to the peer's memory ({@code rdma_post_writev}).
     *
     * @param context comes back with the completion
     * @param list the parts, which are written one after the other
     * @param flags the options of the request
     * @param remote the memory to write to
     * @throws IndexOutOfBoundsException when the parts together are longer than the remote memory
     * @throws RdmaException ENOMEM when the send queue is full
     */
    @CFunction("rdma_post_writev")
    public void postWrite(long context, ScatterGatherList list, Set<SendFlag> flags, RemoteMemory remote)
            throws RdmaException {
        queues().sender().post(SendOpcode.RDMA_WRITE, context, list, flags, remote);
    }

    /**
     * Posts a datagram ({@code rdma_post_ud_send}), with the queue key of the port space UDP.
     *
     * @param context comes back with the completion
     * @param region where the datagram is
     * @param offset where it begins in the region, in bytes
     * @param length its length in bytes
     * @param flags the options of the request
     * @param peer created in {@link #protectionDomain()}; for a peer that was connected to, from the address in
     *        {@link #datagramParameters()}
     * @param peerQueuePairNumber the number of the peer's queue pair, unsigned
     * @throws RdmaException ENOMEM when the send queue is full
     */
    @CFunction("rdma_post_ud_send")
    public void postDatagram(long context, MemoryRegion region, long offset, long length, Set<SendFlag> flags,
            AddressHandle peer, int peerQueuePairNumber) throws RdmaException {
        queues().sender().postDatagram(context, region, offset, length, flags, peer, peerQueuePairNumber);
    }

    /**
     * Waits for the next completion of a send, write or read ({@code rdma_get_send_comp}). Work that the peer has not
     * acknowledged when the end of the connection is seen is flushed, although it may have been done.
     *
     * @param timeout the longest time to wait
     * @return the completion, successful or not: {@link WorkCompletion#status()} says which
     * @throws IllegalStateException when there is no queue pair, or its send completion queue is the program's own
     * @throws DisconnectedException when the connection has ended and no posted work is left that could complete
     * @throws RdmaTimeoutException when nothing completed in time
     * @throws RdmaClosedException when another thread closed the endpoint
     * @throws RdmaException when the completion queue can no longer be polled
     * @throws InterruptedException when this thread was interrupted; no completion is lost
     */
    @CFunction("rdma_get_send_comp")
    public WorkCompletion getSendCompletion(Duration timeout) throws RdmaException, InterruptedException {
        life().enter();
        try {
            return queues().sender().completions().take(timeout);
        } finally {
            life().leave();
        }
    }

    /**
     * Like {@link #getSendCompletion}, but takes all completions that are there into a buffer. Allocates nothing unless
     * it has to wait.
     *
     * @param completions filled with as many as fit
     * @param timeout the longest time to wait
     * @return how many were taken, at least 1
     * @throws RdmaException as {@link #getSendCompletion}
     * @throws InterruptedException when this thread was interrupted; no completion is lost
     */
    @CFunction("rdma_get_send_comp")
    public int getSendCompletions(WorkCompletions completions, Duration timeout)
            throws RdmaException, InterruptedException {
        life().enter();
        try {
            return queues().sender().completions().take(completions, timeout);
        } finally {
            life().leave();
        }
    }

    /**
     * Waits for the next completion of a receive ({@code rdma_get_recv_comp}), like {@link #getSendCompletion}.
     *
     * @param timeout the longest time to wait
     * @return the completion, successful or not: {@link WorkCompletion#status()} says which
     * @throws RdmaException as {@link #getSendCompletion}
     * @throws InterruptedException when this thread was interrupted; no completion is lost
     */
    @CFunction("rdma_get_recv_comp")
    public WorkCompletion getReceiveCompletion(Duration timeout) throws RdmaException, InterruptedException {
        life().enter();
        try {
            return queues().receiver().completions().take(timeout);
        } finally {
            life().leave();
        }
    }

    /**
     * Waits for completions of receives ({@code rdma_get_recv_comp}), like {@link #getSendCompletions}.
     *
     * @param completions filled with as many as fit
     * @param timeout the longest time to wait
     * @return how many were taken, at least 1
     * @throws RdmaException as {@link #getSendCompletion}
     * @throws InterruptedException when this thread was interrupted; no completion is lost
     */
    @CFunction("rdma_get_recv_comp")
    public int getReceiveCompletions(WorkCompletions completions, Duration timeout)
            throws RdmaException, InterruptedException {
        life().enter();
        try {
            return queues().receiver().completions().take(completions, timeout);
        } finally {
            life().leave();
        }
    }

    /**
     * Disconnects ({@code rdma_disconnect}): ends the connection, flushes posted work, and waits for the peer's answer.
     *
     * @param timeout the longest time to wait; this side is disconnected even if the peer does not answer
     * @throws RdmaTimeoutException when the peer did not answer in time
     * @throws RdmaException as {@link CmId#disconnect}
     * @throws InterruptedException when this thread was interrupted before the peer answered
     */
    @CFunction("rdma_disconnect")
    public void disconnect(Duration timeout) throws RdmaException, InterruptedException {
        life().enter();
        try {
            id.disconnect();
            channel.awaitDisconnected(id, timeout, life());
        } finally {
            life().leave();
        }
    }

    /**
     * Ends the connection and closes everything that was created for it, including the shared receive queue of its
     * {@link #id()} ({@code rdma_destroy_ep}). Threads that wait in this endpoint get an {@link RdmaClosedException}.
     *
     * @throws IllegalStateException when a part of it, such as its own protection domain or its {@link #id()}, is in
     *         use by an object that was not created by this endpoint; then nothing is changed
     * @throws RdmaException when C could not free a part of it; closing can be repeated
     */
    @Override
    public void close() throws RdmaException {
        if (isOpen()) {
            resources.requireUnused(List.of(id, channel), true);
        }
        super.close();
    }

    /** @hidden */
    @Override
    protected void wakeWaiters() {
        channel.wake();
        resources.wake();
    }

    /** @hidden */
    @Override
    @CFunction({"rdma_destroy_ep", "rdma_destroy_qp", "rdma_destroy_id"})
    protected void destroy() throws RdmaException {
        // No thread is inside any more, so an event that is still open was taken by the program.
        resources.requireUnused(List.of(id, channel), false);
        resources.close();
        id.close();
        channel.close();
    }

    @FunctionalInterface
    private interface Begin {
        void run(Duration limit) throws RdmaException;
    }

    /** Begins a step and waits for the event that completes it. */
    private void step(CmEventType done, Duration timeout, Begin begin) throws RdmaException, InterruptedException {
        life().enter();
        try {
            Deadline deadline = Deadline.after(timeout);
            begin.run(deadline.remainingForKernel());
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

    /** Keeps the first parameters of the peer: after those of a connect request, ESTABLISHED has nothing new. */
    private void note(CmEvent event) {
        boolean informs = event.type() == CmEventType.CONNECT_REQUEST || event.type() == CmEventType.ESTABLISHED;
        if (informs && isDatagram()) {
            datagramParameters = event.datagramParameters();
        } else if (informs && peerParameters == null) {
            peerParameters = event.connectionParameters();
        }
    }

    private boolean isDatagram() {
        return id.portSpace().queuePairType() == QueuePairType.UD;
    }

    private MemoryRegion register(MemorySegment memory, AccessFlag... access) throws RdmaException {
        life().enter();
        try {
            return resources.register(memory, access);
        } finally {
            life().leave();
        }
    }

    private EndpointQueues queues() {
        life().ensureOpen();
        EndpointQueues queues = resources.queues();
        if (queues == null) {
            throw new IllegalStateException(this + " has no queue pair, next step: createQueuePair");
        }
        return queues;
    }

    /** Called once the connection has ended: flushes posted work and wakes waiting threads. */
    private void ended() {
        try {
            id.disconnect();
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("the end of a connection could not be acknowledged", e);
        }
        resources.wake();
        // and one that waits for the answer to its disconnect, if another thread has taken it
        channel.wake();
    }
}
