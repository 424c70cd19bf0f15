// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.ref.Reference;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp;
import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.bindings.ibv_qp_init_attr;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.access.Addressing;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.codec.EceStructs;
import io.rdmacm.verbs.internal.codec.QueuePairStructs;
import io.rdmacm.verbs.internal.codec.TransitionTable;
import io.rdmacm.verbs.internal.driver.ContextOps;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.InstalledRelease;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.DataInOrderCapability;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RateLimit;
import io.rdmacm.verbs.work.FlagSet;
import io.rdmacm.verbs.work.SendOpcode;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair ({@code struct ibv_qp}, ibv_create_qp(3)): a send queue and a receive queue to which a program posts
 * work requests. The device executes them and reports their results in completion queues.
 *
 * <p>A queue pair is created in one of two ways. {@link ProtectionDomain#createQueuePair} returns one in the state
 * RESET; the program exchanges addresses with its peer and brings the queue pair through INIT and RTR to RTS with
 * {@link #modify}. A queue pair created on a connection-manager id ({@code io.rdmacm.core.CmId}) is brought through
 * these states by the connection manager.
 *
 * <pre>{@code
 * SendRequest request = SendRequests.allocate(1, 1).get(0);
 * queuePair.postSend(request.id(42).send().data(region, 0, 64));
 * }</pre>
 *
 * <p>Posting makes one native call, copies nothing and allocates nothing. All methods may be called by any thread, and
 * {@link #close()} at any time. Each of the two queues is optimised for a single thread that posts to it; the two
 * threads may differ. When several threads post to the same queue, each post takes a lock.
 *
 * <p>This class cannot be extended outside this library.
 */
public class QueuePair extends NativeObject {
    private static final NativeFunction QUERY_QP = NativeFunction.of("ibv_query_qp");
    private static final NativeFunction MODIFY_QP = NativeFunction.of("ibv_modify_qp");
    private static final NativeFunction QUERY_QP_DATA_IN_ORDER = NativeFunction.of("ibv_query_qp_data_in_order");
    private static final int RELEASE_OF_DATA_IN_ORDER_CAPS = 46;
    private static final NativeFunction QP_TO_QP_EX = NativeFunction.of("ibv_qp_to_qp_ex");
    private static final NativeFunction SET_ECE = NativeFunction.of("ibv_set_ece");
    private static final NativeFunction QUERY_ECE = NativeFunction.of("ibv_query_ece");

    // ibv_query_qp refuses a mask that contains the rate limit
    private static final Set<QueuePairAttribute> QUERIED = EnumSet.complementOf(
            EnumSet.of(QueuePairAttribute.RATE_LIMIT));

    // What a post reads comes first, and here instead of in the send queue: with many queue pairs, each cache line more
    // is a miss that the call of the driver waits for.
    private final DriverCall post;
    private final SendQueue sends;
    // Requests with a check level up to this one are posted unchecked. Guarded by the lock of the send queue.
    private int uncheckedLevel;
    private final VerbsContext context;
    // null for type XRC_RECV
    private final @Nullable ProtectionDomain domain;
    private final QueuePairInitAttributes attributes;
    private final Addressing addressing;
    private final QueuePairCapabilities capabilities;
    private final int number;
    private final ReceiveQueue receives;
    // false also when an object has taken the queues over
    private boolean hasSends;
    private final boolean hasReceives;
    // the class of that object; null if there is none
    private volatile @Nullable String directUser;
    private final Set<MulticastAttachment.Group> groups = ConcurrentHashMap.newKeySet();

    /**
     * Creates an object of this library for a queue pair that has just been created.
     *
     * @param created the queue pair
     * @hidden
     */
    @SuppressWarnings({"exports", "this-escape",
            "NullAway"}) // without a domain there is nothing to send: the send queue never looks at it
    protected QueuePair(Created created) {
        super(created.life, created.address, ibv_qp.sizeof());
        this.context = created.context;
        this.domain = created.domain;
        this.attributes = created.attributes;
        this.addressing = created.addressing;
        this.capabilities = created.capabilities;
        Lifetime life = created.life;
        long address = created.address;
        this.number = Memory.getInt(address + ibv_qp.qp_num$offset());
        boolean userSpace = context.postsInUserSpace();
        this.post = ContextOps.POST_SEND.call(address, userSpace);
        this.sends = new SendQueue(userSpace, attributes, addressing, capabilities, domain, context.isSoftIwarp(),
                life);
        this.receives = new ReceiveQueue("QueuePair", "queue pair", ContextOps.POST_RECV.name(),
                ContextOps.POST_RECV.call(address, userSpace), address, capabilities.maxReceiveScatterGather(), life);
        this.hasSends = attributes.sendCompletionQueue().isPresent();
        this.hasReceives = attributes.hasReceives();
        this.uncheckedLevel = hasSends ? sends.uncheckedLevel() : SendQueue.NONE_UNCHECKED;
        String text = attributes.type() + " 0x" + Integer.toHexString(number);
        life.describe(() -> text);
    }

    /**
     * A queue pair that C has created.
     *
     * @param context the context of its device
     * @param domain its protection domain; null for type XRC_RECV
     * @param attributes what it was created with
     * @param addressing how its send work requests name their destination
     * @param life its lifetime
     * @param address the address of its {@code struct ibv_qp}
     * @param capabilities the actual sizes of its queues
     * @hidden
     */
    @SuppressWarnings("exports")
    protected record Created(VerbsContext context, @Nullable ProtectionDomain domain,
            QueuePairInitAttributes attributes, Addressing addressing, Lifetime life, long address,
            QueuePairCapabilities capabilities) {
    }

    /**
     * Creates a queue pair by a function of a driver. {@code ibv_destroy_qp} destroys it.
     *
     * @param <T> the class of the object
     * @param type the class of the object
     * @param domain the protection domain of the queue pair
     * @param attributes the attributes of the queue pair
     * @param addressing how its send work requests name their destination
     * @param creator receives a {@code struct ibv_qp_init_attr_ex}, and returns a {@code struct ibv_qp}
     * @param constructor constructs the object
     * @return the queue pair
     * @throws RdmaException as C reports it
     * @hidden
     */
    @SuppressWarnings("exports")
    protected static <T extends QueuePair> T create(Class<T> type, ProtectionDomain domain,
            QueuePairInitAttributes attributes, Addressing addressing, VerbsAccess.Creator creator,
            VerbsAccess.Constructor<Created, T> constructor) throws RdmaException {
        return QueuePairFactory.create(type, domain, attributes, addressing, creator, constructor);
    }

    /** Registers a queue pair with those that must find it. */
    static <T extends QueuePair> T publish(T pair) {
        return Lifetime.publish(pair, QueuePair::register, QueuePair::unregister);
    }

    private void register() {
        if (domain != null) {
            domain.posts().add(sends);
        }
        context.events().add(this);
    }

    private void unregister() {
        context.events().remove(this);
        removePosts();
    }

    private void removePosts() {
        if (domain != null) {
            domain.posts().remove(sends);
        }
    }

    /** Returns the queue to which send work requests are posted. */
    SendQueue sends() {
        return sends;
    }

    QueuePairInitAttributes initAttributes() {
        return attributes;
    }

    Addressing addressing() {
        return addressing;
    }

    /** {@return the queue pair number (QPN), 24 bits, by which peers and completions identify this queue pair} */
    public int number() {
        life().ensureOpen();
        return number;
    }

    /** {@return the type, which determines the transport service} */
    public QueuePairType type() {
        life().ensureOpen();
        return attributes.type();
    }

    /** {@return the actual sizes of the queues, which are at least as large as those requested} */
    public QueuePairCapabilities capabilities() {
        life().ensureOpen();
        return capabilities;
    }

    /** {@return the context of the device that this queue pair belongs to} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * Returns the protection domain of this queue pair.
     *
     * @return the protection domain in which it was created
     * @throws IllegalStateException if it is of type XRC_RECV, which has no protection domain
     */
    public ProtectionDomain protectionDomain() {
        return present(domain, "protection domain");
    }

    /**
     * Returns the completion queue that reports finished send work requests.
     *
     * @return the completion queue of the send queue
     * @throws IllegalStateException if there is none: type XRC_RECV, or receive side scaling without sends
     */
    public CompletionQueue sendCompletionQueue() {
        return present(attributes.sendCompletionQueue().orElse(null), "send completion queue");
    }

    /**
     * Returns the completion queue that reports finished receive work requests.
     *
     * @return the completion queue of the receive queue
     * @throws IllegalStateException if there is none: type XRC_RECV, type XRC_SEND created without one, or receive side
     *        scaling
     */
    public CompletionQueue receiveCompletionQueue() {
        return present(attributes.receiveCompletionQueue().orElse(null), "receive completion queue");
    }

    private <T> T present(@Nullable T part, String name) {
        life().ensureOpen();
        if (part == null) {
            throw lacking(name);
        }
        return part;
    }

    /** {@return how received packets are distributed over work queues; empty without receive side scaling} */
    public Optional<ReceiveSideScaling> receiveSideScaling() {
        life().ensureOpen();
        return attributes.receiveSideScaling();
    }

    /**
     * {@return the shared receive queue to which receives are posted; empty if this queue pair has its own receive
     * queue}
     */
    public Optional<SharedReceiveQueue> sharedReceiveQueue() {
        life().ensureOpen();
        return attributes.sharedReceiveQueue();
    }

    /**
     * Changes the state of this queue pair, or attributes that can be changed in its current state
     * ({@code ibv_modify_qp}, ibv_modify_qp(3)). The attributes are first checked against the state transition tables
     * of the InfiniBand specification, except for type DRIVER, whose rules only the driver knows, and on iWARP devices.
     * {@link QueuePairTransitions} and {@link QueuePairAttributes} have a factory method for each common transition.
     *
     * @param wanted the new state, if it is to change, and the attributes that belong to the transition
     * @throws IllegalStateException if there is no transition from the current state to the new one; if the new state
     *         is RESET, also if this thread has a cursor of a completion queue of this queue pair open, or the device
     *         is one of EFA: its library would damage memory
     * @throws IllegalArgumentException if the transition requires attributes that are missing, or does not allow some
     *        that are present; the message names them
     * @throws RdmaUnsupportedException if an iWARP device is to connect: only its connection manager does
     * @throws RdmaException EINVAL if the device does not support a value; ENXIO, ETIMEDOUT or EHOSTUNREACH if the
     *        peer's address cannot be resolved; no attribute has been changed then
     */
    @CFunction("ibv_modify_qp")
    public void modify(QueuePairAttributes wanted) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            if (context.transportType() == TransportType.IWARP) {
                requireNoConnecting(wanted);
            } else if (attributes.type() != QueuePairType.DRIVER) {
                QueuePairState from = wanted.has(QueuePairAttribute.CUR_STATE) ? wanted.currentState() : queryState();
                QueuePairState to = wanted.has(QueuePairAttribute.STATE) ? wanted.state() : from;
                TransitionTable.check(attributes.type(), from, to, wanted.present());
            }
            long struct = arena.allocate(ibv_qp_attr.layout()).address();
            QueuePairStructs.write(wanted, struct);
            int mask = QueuePairStructs.mask(wanted);
            Lifetime.Destroyer change = () ->
                    Check.returned(MODIFY_QP, wanted, MODIFY_QP.callInt(address(), struct, mask));
            if (wanted.has(QueuePairAttribute.STATE) && wanted.state() == QueuePairState.RESET) {
                requireResettable();
                removeCompletions(change);
            } else {
                change.destroy();
            }
        } finally {
            life().leave();
        }
    }

    /**
     * Refuses what iWARP drivers answer with EINVAL. Nothing else is checked: before Linux 6.8, SoftiWARP does not
     * report the state.
     */
    private static void requireNoConnecting(QueuePairAttributes wanted) throws RdmaException {
        if (wanted.has(QueuePairAttribute.STATE)
                && (wanted.state() == QueuePairState.RTR || wanted.state() == QueuePairState.RTS)) {
            throw Failures.of(MODIFY_QP.name(), Rdma.EOPNOTSUPP(), "to " + wanted.state()
                    + ": only a connection manager connects the queue pairs of iWARP");
        }
    }

    /**
     * Queries the attributes of this queue pair ({@code ibv_query_qp}, ibv_query_qp(3)).
     *
     * @return the current attributes, and the init attributes with the actual sizes
     * @throws RdmaException if the device or the driver fails
     */
    @CFunction("ibv_query_qp")
    public QueuePairStatus query() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long current = arena.allocate(ibv_qp_attr.layout()).address();
            long init = arena.allocate(ibv_qp_init_attr.layout()).address();
            Check.returned(QUERY_QP, QUERY_QP.callInt(address(), current,
                    Flags.mask(QUERIED, QueuePairAttribute::bit), init));
            QueuePairInitAttributes actual = attributes.with(
                    QueuePairStructs.readCapabilities(init + ibv_qp_init_attr.cap$offset()),
                    Memory.getInt(init + ibv_qp_init_attr.sq_sig_all$offset()) != 0);
            return new QueuePairStatus(QueuePairStructs.read(current, QUERIED),
                    Memory.getByte(current + ibv_qp_attr.sq_draining$offset()) != 0, actual);
        } finally {
            life().leave();
        }
    }

    /**
     * Queries the current state ({@code ibv_query_qp}, ibv_query_qp(3)).
     *
     * @return the state, which the device may have changed, for example to ERROR; that of a SoftiWARP device means
     *         nothing before Linux 6.8
     * @throws RdmaException if the device or the driver fails
     */
    @CFunction("ibv_query_qp")
    public QueuePairState state() throws RdmaException {
        life().enter();
        try {
            return queryState();
        } finally {
            life().leave();
        }
    }

    private QueuePairState queryState() throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long current = arena.allocate(ibv_qp_attr.layout()).address();
            long init = arena.allocate(ibv_qp_init_attr.layout()).address();
            Check.returned(QUERY_QP, QUERY_QP.callInt(address(), current, Rdma.IBV_QP_STATE(), init));
            return QueuePairState.of(Memory.getInt(current + ibv_qp_attr.qp_state$offset()));
        }
    }

    /**
     * Returns whether the data of an operation is written to memory in order, so that a program may poll the last byte
     * instead of the completion queue ({@code ibv_query_qp_data_in_order}, ibv_query_qp_data_in_order(3)). The answer
     * describes the receiving side: for SEND and RDMA_WRITE the messages and remote writes that arrive at this queue
     * pair, for RDMA_READ the reads posted to it. It holds within one work request, for data that the CPU reads, and
     * not for memory regions with relaxed ordering.
     *
     * @param operation SEND, RDMA_WRITE or RDMA_READ
     * @return true if the order is guaranteed
     * @throws RdmaException never: the C function reports no errors
     */
    @CFunction("ibv_query_qp_data_in_order")
    public boolean queryDataInOrder(SendOpcode operation) throws RdmaException {
        life().enter();
        try {
            return QUERY_QP_DATA_IN_ORDER.callInt(address(), operation.value(), 0) != 0;
        } finally {
            life().leave();
        }
    }

    /**
     * Like {@link #queryDataInOrder(SendOpcode)}, but tells more exactly which data is in order
     * ({@code ibv_query_qp_data_in_order} with {@code IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS},
     * ibv_query_qp_data_in_order(3)).
     *
     * @param operation SEND, RDMA_WRITE or RDMA_READ
     * @param deviceOnly whether to ask for the device alone, whatever the processor does to the order
     *        ({@code IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY}); the C library knows it since rdma-core 60
     * @return what is guaranteed; nothing if the C library does not know the question
     * @throws RdmaException never: the C function reports no errors
     */
    @CFunction("ibv_query_qp_data_in_order")
    public FlagSet<DataInOrderCapability> queryDataInOrder(SendOpcode operation, boolean deviceOnly)
            throws RdmaException {
        life().enter();
        try {
            if (InstalledRelease.isBefore(RELEASE_OF_DATA_IN_ORDER_CAPS)) {
                boolean whole = !deviceOnly && QUERY_QP_DATA_IN_ORDER.callInt(address(), operation.value(), 0) != 0;
                // data that is in order as a whole is so in each part
                return DataInOrderCapability.of(whole ? Rdma.IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG()
                        | Rdma.IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES() : 0);
            }
            return DataInOrderCapability.of(QUERY_QP_DATA_IN_ORDER.callInt(address(), operation.value(),
                    Rdma.IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS()
                            | (deviceOnly ? Rdma.IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY() : 0)));
        } finally {
            life().leave();
        }
    }

    /**
     * Limits the rate at which this queue pair sends, by packet pacing ({@code ibv_modify_qp_rate_limit},
     * ibv_modify_qp_rate_limit(3)).
     *
     * @param limit the maximum rate, the burst size and the typical packet size
     * @throws RdmaException EINVAL if the device does not support the values, or the queue pair is in another state
     *        than RTR or RTS
     * @throws RdmaUnsupportedException if the device does not support packet pacing
     */
    @CFunction("ibv_modify_qp_rate_limit")
    public void modifyRateLimit(RateLimit limit) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            NativeFunction modify = ExtendedOps.MODIFY_QP_RATE_LIMIT.require(context.address());
            Check.returned(modify, modify.callInt(address(), QueuePairStructs.write(limit, arena)));
        } finally {
            life().leave();
        }
    }

    /**
     * Sets the options for enhanced connection establishment, ECE ({@code ibv_set_ece}, ibv_set_ece(3)). They take
     * effect in later calls of {@link #modify}, so they are set before the queue pair leaves INIT.
     *
     * @param options the options that the peer's {@link #queryEce()} returned
     * @throws RdmaException EINVAL if the options are invalid
     * @throws RdmaUnsupportedException if the device does not support ECE, or the vendor id is 0
     */
    @CFunction("ibv_set_ece")
    public void setEce(Ece options) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            Check.returned(SET_ECE, SET_ECE.callInt(address(), EceStructs.write(options, arena)));
        } finally {
            life().leave();
        }
    }

    /**
     * Queries the options for enhanced connection establishment, ECE ({@code ibv_query_ece}, ibv_query_ece(3)).
     *
     * @return the options that the device offers; from the state RTR on, those agreed upon with the peer
     * @throws RdmaException EINVAL if the driver refuses the query
     * @throws RdmaUnsupportedException if the device does not support ECE
     */
    @CFunction("ibv_query_ece")
    public Ece queryEce() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long struct = EceStructs.allocate(arena);
            Check.returned(QUERY_ECE, QUERY_ECE.callInt(address(), struct));
            return EceStructs.read(struct);
        } finally {
            life().leave();
        }
    }

    /**
     * Changes the state to ERROR ({@code ibv_modify_qp}, ibv_modify_qp(3)): all outstanding work requests complete with
     * the status WR_FLUSH_ERR.
     *
     * @throws RdmaException EINVAL in the state RESET, in which no work requests can be outstanding
     */
    @CFunction("ibv_modify_qp")
    public void modifyToError() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long wanted = arena.allocate(ibv_qp_attr.layout()).address();
            Memory.putInt(wanted + ibv_qp_attr.qp_state$offset(), QueuePairState.ERROR.value());
            Check.returned(MODIFY_QP, MODIFY_QP.callInt(address(), wanted, Rdma.IBV_QP_STATE()));
        } finally {
            life().leave();
        }
    }

    /**
     * Posts one send work request ({@code ibv_post_send}, ibv_post_send(3)).
     *
     * @param request the request; it can be changed and posted again as soon as this method returns
     * @throws IllegalArgumentException if the request has more scatter/gather entries or inline data than this queue
     *        pair allows, or names an object of another protection domain
     * @throws IllegalStateException if this queue pair has no send queue, has an open {@link SendBatch}, or the request
     *        needs a closed address handle, memory window or memory region
     * @throws WorkRequestException ENOMEM if the send queue is full; EINVAL if the request is invalid, or the queue
     *        pair is not in a state that allows it
     * @throws RdmaUnsupportedException if the request needs more than the iWARP device has; its cause is a
     *         {@code WorkRequestException} if the driver has said so
     * @throws RdmaException always one of these
     */
    @CFunction("ibv_post_send")
    public void postSend(SendRequest request) throws RdmaException {
        Bias bias = sends.enter();
        int error;
        try {
            boolean checked = request.checkLevel() > uncheckedLevel;
            if (checked) {
                ownSends().prepare(request);
            }
            request.unchain();
            error = (int) post.call(address(), request.address(), request.refusedAddress(), 0, 0, 0);
            if (checked) {
                request.endBind(error == 0);
            }
            if (error != 0) {
                request.forgetRefused();
            }
        } finally {
            sends.leave(bias);
            Reference.reachabilityFence(request);
        }
        if (error != 0) {
            throw refused(error, 0, request);
        }
    }

    /**
     * Posts consecutive requests of a block with one native call ({@code ibv_post_send}, ibv_post_send(3)).
     *
     * @param block the block; its requests can be changed and posted again as soon as this method returns
     * @param first the index of the first request to post
     * @param count the number of requests to post, at least 1
     * @throws IndexOutOfBoundsException if the block does not contain the requests
     * @throws IllegalArgumentException if a request has more scatter/gather entries or inline data than this queue pair
     *        allows, or names an object of another protection domain; nothing has been posted then
     * @throws IllegalStateException as for {@link #postSend(SendRequest)}; nothing has been posted then
     * @throws WorkRequestException for the first request that was refused, with the errors of
     *        {@link #postSend(SendRequest)}; the requests before it have been posted
     * @throws RdmaUnsupportedException as for {@link #postSend(SendRequest)}
     * @throws RdmaException always one of these
     */
    @CFunction("ibv_post_send")
    public void postSend(SendRequests block, int first, int count) throws RdmaException {
        Bias bias = sends.enter();
        int error;
        int failed = first;
        try {
            SendQueue.requireRange(first, count, block.capacity());
            boolean binds = block.checkLevel() > uncheckedLevel && ownSends().prepare(block, first, count);
            block.chain(first, count);
            error = (int) post.call(address(), block.address(first), block.refusedAddress(), 0, 0, 0);
            if (error != 0) {
                failed = block.refused(first, count);
            }
            if (binds) {
                SendQueue.endBinds(block, first, first + count, error == 0 ? first + count : failed);
            }
        } finally {
            sends.leave(bias);
            Reference.reachabilityFence(block);
        }
        if (error != 0) {
            throw refused(error, failed, block.get(failed));
        }
    }

    private RdmaException refused(int error, int index, SendRequest request) {
        WorkRequestException refused = SendQueue.refused(ContextOps.POST_SEND.name(), error, index, life());
        if (refused.errno() == Rdma.EINVAL() && context().transportType() == TransportType.IWARP
                && request.exceedsIwarp()) {
            RdmaException reason = SendQueue.exceedsIwarp(refused.errno(), "request " + index + " on " + life());
            reason.initCause(refused);
            return reason;
        }
        return refused;
    }

    /**
     * Posts one receive work request ({@code ibv_post_recv}, ibv_post_recv(3)).
     *
     * @param request the request; it can be changed and posted again as soon as this method returns
     * @throws IllegalArgumentException if the request has more scatter/gather entries than this queue pair allows
     * @throws IllegalStateException if this queue pair has no receive queue of its own: with a shared receive queue,
     *        with receive side scaling, and of types XRC_RECV and XRC_SEND
     * @throws WorkRequestException ENOMEM if the receive queue is full; EINVAL if the request is invalid, or the queue
     *        pair is in the state RESET
     * @throws RdmaException always a {@code WorkRequestException}
     */
    @CFunction("ibv_post_recv")
    public void postReceive(ReceiveRequest request) throws RdmaException {
        ownReceives().post(request);
    }

    /**
     * Posts consecutive requests of a block with one native call ({@code ibv_post_recv}, ibv_post_recv(3)).
     *
     * @param block the block; its requests can be changed and posted again as soon as this method returns
     * @param first the index of the first request to post
     * @param count the number of requests to post, at least 1
     * @throws IndexOutOfBoundsException if the block does not contain the requests
     * @throws IllegalArgumentException if a request has more scatter/gather entries than this queue pair allows;
     *        nothing has been posted then
     * @throws IllegalStateException if this queue pair has no receive queue of its own, as for
     *        {@link #postReceive(ReceiveRequest)}
     * @throws WorkRequestException for the first request that was refused, with the errors of
     *        {@link #postReceive(ReceiveRequest)}; the requests before it have been posted
     * @throws RdmaException always a {@code WorkRequestException}
     */
    @CFunction("ibv_post_recv")
    public void postReceive(ReceiveRequests block, int first, int count) throws RdmaException {
        ownReceives().post(block, first, count);
    }

    /**
     * Starts a batch of send work requests that are posted together ({@code ibv_qp_to_qp_ex} and {@code ibv_wr_start},
     * ibv_wr_post(3)).
     *
     * @return the batch of this queue pair, to be completed and then closed; each call returns the same object
     * @throws IllegalStateException if this queue pair was created without send operations or for no send requests, has
     *        no send queue, or its batch is already open
     * @throws RdmaUnsupportedException if the driver does not support batches
     * @throws RdmaException always an {@code RdmaUnsupportedException}
     */
    @CFunction({"ibv_qp_to_qp_ex", "ibv_wr_start"})
    public SendBatch startBatch() throws RdmaException {
        SendBatch batch = ownSends().batch();
        if (batch == null) {
            batch = createBatch();
        }
        batch.start();
        return batch;
    }

    /** Creates the batch when the first one is started, because most queue pairs never use one. */
    private SendBatch createBatch() throws RdmaException {
        life().enter();
        try {
            if (attributes.sendOperations().isEmpty()) {
                throw new IllegalStateException("the queue pair was created without send operations: it cannot post"
                        + " batches");
            }
            if (capabilities.maxSendRequests() == 0) {
                // libmlx5 would write to a null pointer
                throw new IllegalStateException("the queue pair was created for no send requests: it cannot post"
                        + " batches");
            }
            long extended = QP_TO_QP_EX.callLong(address());
            if (extended == 0) {
                throw Failures.of(QP_TO_QP_EX.name(), Rdma.EOPNOTSUPP());
            }
            SendBatch batch = newBatch(extended);
            Bias bias = sends.enter();
            try {
                uncheckedLevel = SendQueue.NONE_UNCHECKED;
                return sends.setBatch(batch);
            } finally {
                sends.leave(bias);
            }
        } finally {
            life().leave();
        }
    }

    /**
     * Constructs the object of the batch.
     *
     * @param extended the address of the {@code struct ibv_qp_ex}
     * @return the batch, closed
     * @hidden
     */
    protected SendBatch newBatch(long extended) {
        return new SendBatch(this, extended);
    }

    /**
     * Attaches this queue pair to a multicast group, so that it receives the group's datagrams until the attachment is
     * closed ({@code ibv_attach_mcast}, ibv_attach_mcast(3)). The subnet manager or the switches must also route the
     * group to this port; joining the group through the connection manager does both.
     *
     * @param group the GID of the group
     * @param lid the LID of the group, 16 bits; 0 on RoCE
     * @return the attachment
     * @throws IllegalArgumentException if the GID is not that of a multicast group, or this queue pair is not of type
     *        UD
     * @throws IllegalStateException if this queue pair is already attached to the group
     * @throws RdmaException EINVAL if the device refuses the group; ENOMEM if it has no room for another attachment
     */
    @CFunction("ibv_attach_mcast")
    public MulticastAttachment attachMulticast(Gid group, int lid) throws RdmaException {
        life().ensureOpen();
        if (attributes.type() != QueuePairType.UD) {
            throw new IllegalArgumentException("only a queue pair of type UD can be attached to a multicast group,"
                    + " not one of type " + attributes.type());
        }
        return MulticastAttachment.attach(this, new MulticastAttachment.Group(group, lid), groups);
    }

    /** @hidden */
    @Override
    protected void requireClosable() {
        // Destroying removes the completions from the completion queues, and waits until nobody polls them.
        attributes.sendCompletionQueue().ifPresent(this::requireNotPolled);
        attributes.receiveCompletionQueue().ifPresent(this::requireNotPolled);
    }

    /** @hidden */
    @Override
    @CFunction({"ibv_destroy_qp", "rdma_destroy_qp"})
    protected void destroy() throws RdmaException {
        sends.closeAndDestroy(() -> {
            sends.abortBatch();
            receives.closeAndDestroy(() -> removeCompletions(() -> context.events().destroy(this, super::destroy)));
        });
        sends.endBatch();
        removePosts();
    }

    /** Runs what makes the driver remove the completions of this queue pair, while nobody reads them. */
    private void removeCompletions(Lifetime.Destroyer remover) throws RdmaException {
        CompletionQueue.removeCompletions(remover, attributes.sendCompletionQueue().orElse(null),
                attributes.receiveCompletionQueue().orElse(null));
    }

    private void requireNotPolled(CompletionQueue queue) {
        queue.requireNoCursorOfThisThread();
        queue.requireNoBatchOfThisThread(sends.batch());
    }

    /**
     * Gives the queues to an object that writes to and reads from their memory without libibverbs. From now on, posts,
     * polls and a reset are refused.
     *
     * @param user the class of that object, for messages
     * @return the batch of this queue pair, which only that object can start
     */
    SendBatch useDirectly(String user) throws RdmaException {
        SendBatch batch = createBatch();
        Bias bias = sends.enter();
        try {
            directUser = user;
            hasSends = false;
        } finally {
            sends.leave(bias);
        }
        receives.close(directUse());
        sendCompletionQueue().readDirectly(user);
        return batch;
    }

    /**
     * Calls a function of a driver that takes the lock of the send queue: no batch is open, and none is started
     * meanwhile.
     *
     * @param function receives the {@code struct ibv_qp}
     * @return what the function returns
     * @throws IllegalStateException if the queue pair is closed, or its batch is open
     * @throws RdmaException as the function does
     * @hidden
     */
    @SuppressWarnings("exports")
    protected final long betweenBatches(VerbsAccess.QueueFunction function) throws RdmaException {
        Bias bias = sends.enter();
        try {
            requireNoDirectUser();
            sends.requireNoBatch();
            return function.call(address());
        } finally {
            sends.leave(bias);
        }
    }

    /**
     * Checks that this queue pair may be reset. Libraries of devices then remove its completions from the completion
     * queues, and wait until nobody polls them. That of EFA does not remove them: they would later free requests that
     * it has forgotten, and so make it write to memory that is not its own.
     */
    private void requireResettable() throws RdmaException {
        requireNoDirectUser();
        requireClosable();
        if (context.isEfa() && queryState() != QueuePairState.RESET) {
            throw new IllegalStateException("libefa cannot reset a queue pair that may have been used: close it, and"
                    + " create another one");
        }
    }

    private void requireNoDirectUser() {
        if (directUser != null) {
            throw new IllegalStateException(directUse());
        }
    }

    private String directUse() {
        return this + " is used directly by a " + directUser;
    }

    private SendQueue ownSends() {
        if (!hasSends) {
            requireNoDirectUser();
            throw lacking("send queue");
        }
        return sends;
    }

    private ReceiveQueue ownReceives() {
        if (!hasReceives) {
            life().ensureOpen();
            throw attributes.sharedReceiveQueue().map(queue -> new IllegalStateException(
                    "this queue pair has no receive queue of its own: receives are posted to " + queue))
                    .orElseGet(() -> lacking("receive queue"));
        }
        return receives;
    }

    private IllegalStateException lacking(String part) {
        life().ensureOpen();
        return new IllegalStateException("a queue pair of type " + attributes.type()
                + attributes.receiveSideScaling().map(scaling -> " with " + scaling.table()).orElse("") + " has no "
                + part);
    }
}
