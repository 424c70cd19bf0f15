// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
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
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.codec.EceStructs;
import io.rdmacm.verbs.internal.codec.QueuePairStructs;
import io.rdmacm.verbs.internal.codec.TransitionTable;
import io.rdmacm.verbs.internal.driver.ContextOps;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RateLimit;
import io.rdmacm.verbs.work.SendOpcode;

/**
 * A queue pair ({@code struct ibv_qp}, ibv_create_qp(3)): a send queue and a receive queue, to which work requests are
 * posted. Either made for a connection-manager id, which brings it into the right states; or by
 * {@link ProtectionDomain#createQueuePair}.
 *
 * <p>Posting makes one native call, copies nothing and allocates nothing. All methods may be called from any thread,
 * and {@link #close()} at any time. Each of the two queues is made for one thread that posts to it (not necessarily the
 * same): when several post to one, each post takes a lock.
 */
public final class QueuePair extends NativeObject {
    private static final NativeFunction QUERY_QP = NativeFunction.of("ibv_query_qp");
    private static final NativeFunction MODIFY_QP = NativeFunction.of("ibv_modify_qp");
    private static final NativeFunction QUERY_QP_DATA_IN_ORDER = NativeFunction.of("ibv_query_qp_data_in_order");
    private static final NativeFunction QP_TO_QP_EX = NativeFunction.of("ibv_qp_to_qp_ex");
    private static final NativeFunction SET_ECE = NativeFunction.of("ibv_set_ece");
    private static final NativeFunction QUERY_ECE = NativeFunction.of("ibv_query_ece");

    // ibv_query_qp refuses a mask with the rate limit
    private static final Set<QueuePairAttribute> QUERIED = EnumSet.complementOf(
            EnumSet.of(QueuePairAttribute.RATE_LIMIT));

    private final VerbsContext context;
    // null for the receiving side of an extended reliable connection
    private final ProtectionDomain domain;
    private final QueuePairInitAttributes attributes;
    private final QueuePairCapabilities capabilities;
    private final Lifetime.Destroyer destroyer;
    private final int number;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final boolean hasSends;
    private final boolean hasReceives;
    private final Set<MulticastAttachment.Group> groups = ConcurrentHashMap.newKeySet();

    QueuePair(VerbsContext context, ProtectionDomain domain, QueuePairInitAttributes attributes, Lifetime life,
            long address, QueuePairCapabilities capabilities, Lifetime.Destroyer destroyer) {
        super(life, address, ibv_qp.sizeof());
        this.context = context;
        this.domain = domain;
        this.attributes = attributes;
        this.capabilities = capabilities;
        this.destroyer = destroyer;
        this.number = Memory.getInt(address + ibv_qp.qp_num$offset());
        boolean userSpace = context.postsInUserSpace();
        this.sends = new SendQueue(address, userSpace, attributes, capabilities, domain, life);
        this.receives = new ReceiveQueue("QueuePair", "queue pair", ContextOps.POST_RECV.name(),
                ContextOps.POST_RECV.call(address, userSpace), address, capabilities.maxReceiveScatterGather(), life);
        this.hasSends = attributes.sendQueue() != null;
        this.hasReceives = attributes.hasReceives();
        if (domain != null) {
            domain.addSendQueue(sends);
        }
        String text = attributes.type() + " 0x" + Integer.toHexString(number);
        life.describe(() -> text);
        context.events().add(this);
    }

    /** Where send work requests are posted. */
    SendQueue sends() {
        return sends;
    }

    /** The number by which peers and completions name it. */
    public int number() {
        life().ensureOpen();
        return number;
    }

    /** The transport service. */
    public QueuePairType type() {
        life().ensureOpen();
        return attributes.type();
    }

    /** The sizes that the device gave it, at least as large as what was asked for. */
    public QueuePairCapabilities capabilities() {
        life().ensureOpen();
        return capabilities;
    }

    /** The device that it belongs to. */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * The protection domain that it belongs to.
     *
     * @throws IllegalStateException when it is of type XRC_RECV, which has none
     */
    public ProtectionDomain protectionDomain() {
        return present(domain, "protection domain");
    }

    /**
     * Where its finished send work requests are reported.
     *
     * @throws IllegalStateException when it is of type XRC_RECV, which has none, or sends nothing
     */
    public CompletionQueue sendQueue() {
        return present(attributes.sendQueue(), "send completion queue");
    }

    /**
     * Where its finished receive work requests are reported.
     *
     * @throws IllegalStateException when it is of type XRC_RECV or XRC_SEND and has none, or has receive side scaling
     */
    public CompletionQueue receiveQueue() {
        return present(attributes.receiveQueue(), "receive completion queue");
    }

    private <T> T present(T part, String name) {
        life().ensureOpen();
        if (part == null) {
            throw notIts(name);
        }
        return part;
    }

    /** How it spreads what it receives over work queues, when it does. */
    public Optional<ReceiveSideScaling> receiveSideScaling() {
        life().ensureOpen();
        return attributes.receiveSideScaling();
    }

    /** Where its receives are posted, when it shares them with other queue pairs. */
    public Optional<SharedReceiveQueue> sharedReceiveQueue() {
        life().ensureOpen();
        return attributes.sharedReceiveQueue();
    }

    /**
     * Brings it into another state, or changes what can be changed in its state ({@code ibv_modify_qp}). What the way
     * from its present state needs and takes is checked before, against the tables of the InfiniBand specification;
     * except for driver types, whose rules only their driver knows.
     *
     * @param wanted the new state, if it is to change, and what belongs to the way there
     * @throws IllegalStateException when there is no way from its present state to the new one
     * @throws IllegalArgumentException when attributes are missing, or given that must not be: the message names them
     * @throws RdmaException EINVAL when a value is not possible on this device; ENXIO, ETIMEDOUT or EHOSTUNREACH when
     *         the peer's address cannot be resolved
     */
    @CFunction("ibv_modify_qp")
    public void modify(QueuePairAttributes wanted) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            if (attributes.type() != QueuePairType.DRIVER) {
                QueuePairState from = wanted.has(QueuePairAttribute.CUR_STATE) ? wanted.currentState() : queryState();
                QueuePairState to = wanted.has(QueuePairAttribute.STATE) ? wanted.state() : from;
                TransitionTable.check(attributes.type(), from, to, wanted.present());
            }
            long struct = arena.allocate(ibv_qp_attr.layout()).address();
            QueuePairStructs.write(wanted, struct);
            Check.returned(MODIFY_QP, MODIFY_QP.callInt(address(), struct, QueuePairStructs.mask(wanted)));
        } finally {
            life().leave();
        }
    }

    /**
     * All that the device tells of it ({@code ibv_query_qp}).
     *
     * @throws RdmaException when the device failed
     */
    @CFunction("ibv_query_qp")
    public QueuePairStatus query() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long current = arena.allocate(ibv_qp_attr.layout()).address();
            long init = arena.allocate(ibv_qp_init_attr.layout()).address();
            Check.returned(QUERY_QP, QUERY_QP.callInt(address(), current,
                    Flags.mask(QUERIED, QueuePairAttribute::bit), init));
            QueuePairInitAttributes made = attributes.with(
                    QueuePairStructs.readCapabilities(init + ibv_qp_init_attr.cap$offset()),
                    Memory.getInt(init + ibv_qp_init_attr.sq_sig_all$offset()) != 0);
            return new QueuePairStatus(QueuePairStructs.read(current, QUERIED),
                    Memory.getByte(current + ibv_qp_attr.sq_draining$offset()) != 0, made);
        } finally {
            life().leave();
        }
    }

    /** The state it is in now ({@code ibv_query_qp}). */
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
     * Whether the data of one kind of request arrives in the peer's memory in the order of its addresses
     * ({@code ibv_query_qp_data_in_order}), so that the last byte can be polled for.
     *
     * @param operation the kind of request
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
     * How fast it may send, of types whose device can pace packets, in the states RTR and RTS
     * ({@code ibv_modify_qp_rate_limit}).
     *
     * @param limit the rate, and what packets are usual
     * @throws RdmaException EINVAL when the device cannot do it or the state is wrong
     * @throws RdmaUnsupportedException when the device does not pace
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
     * Sets the options of enhanced connection establishment ({@code ibv_set_ece}), before it leaves INIT.
     *
     * @param options what the peer's {@link #queryEce()} gave
     * @throws RdmaUnsupportedException when the device has none, or the vendor is 0
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
     * The options of enhanced connection establishment ({@code ibv_query_ece}): those the device offers, and after RTR
     * those that were agreed upon.
     *
     * @throws RdmaUnsupportedException when the device has none
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
     * Brings it into the error state: all posted work completes with WR_FLUSH_ERR ({@code ibv_modify_qp}).
     *
     * @throws RdmaException EINVAL in the state RESET, which nothing can be posted in
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
     * Posts one send work request ({@code ibv_post_send}).
     *
     * @param request may be changed when this returns
     * @throws IllegalArgumentException when it has more scatter/gather entries or inline data than the queue pair takes
     * @throws WorkRequestException ENOMEM when the send queue is full; EINVAL when the request or the state is wrong
     */
    @CFunction("ibv_post_send")
    public void postSend(SendRequest request) throws RdmaException {
        ownSends().post(request);
    }

    /**
     * Posts a part of a block with one native call ({@code ibv_post_send}).
     *
     * @param block whose requests may be changed when this returns
     * @param first the index of the first request
     * @param count how many, at least 1
     * @throws IllegalArgumentException when one has more scatter/gather entries or inline data than the queue pair
     *         takes; then nothing was posted
     * @throws WorkRequestException for the first request that was refused: those before it were posted
     */
    @CFunction("ibv_post_send")
    public void postSend(SendRequests block, int first, int count) throws RdmaException {
        ownSends().post(block, first, count);
    }

    /**
     * Posts one receive work request ({@code ibv_post_recv}).
     *
     * @param request may be changed when this returns
     * @throws IllegalArgumentException when it has more scatter/gather entries than the queue pair takes
     * @throws IllegalStateException when the queue pair has a shared receive queue or receive side scaling
     * @throws WorkRequestException ENOMEM when the receive queue is full; EINVAL when the request or the state is wrong
     */
    @CFunction("ibv_post_recv")
    public void postReceive(ReceiveRequest request) throws RdmaException {
        ownReceives().post(request);
    }

    /**
     * Posts a part of a block with one native call ({@code ibv_post_recv}).
     *
     * @param block whose requests may be changed when this returns
     * @param first the index of the first request
     * @param count how many, at least 1
     * @throws IllegalArgumentException when one has more scatter/gather entries than the queue pair takes; then nothing
     *         was posted
     * @throws IllegalStateException when the queue pair has a shared receive queue or receive side scaling
     * @throws WorkRequestException for the first request that was refused: those before it were posted
     */
    @CFunction("ibv_post_recv")
    public void postReceive(ReceiveRequests block, int first, int count) throws RdmaException {
        ownReceives().post(block, first, count);
    }

    /**
     * Begins a batch of send work requests, which are posted together ({@code ibv_qp_to_qp_ex}, {@code ibv_wr_start}).
     *
     * @return the batch of this queue pair; to be completed, and closed
     * @throws IllegalStateException when the queue pair was made without send operations, or its batch is open
     * @throws RdmaUnsupportedException when its driver does not know batches
     */
    @CFunction({"ibv_qp_to_qp_ex", "ibv_wr_start"})
    public SendBatch startBatch() throws RdmaException {
        SendBatch batch = ownSends().batch();
        if (batch == null) {
            batch = makeBatch();
        }
        batch.start();
        return batch;
    }

    /** When the first one is begun: most queue pairs post none. */
    private SendBatch makeBatch() throws RdmaException {
        life().enter();
        try {
            if (attributes.sendOperations().isEmpty()) {
                throw new IllegalStateException("the queue pair was made without send operations: it posts no batches");
            }
            long extended = QP_TO_QP_EX.callLong(address());
            if (extended == 0) {
                throw Failures.of(QP_TO_QP_EX.name(), Rdma.EOPNOTSUPP());
            }
            return sends.setBatch(new SendBatch(sends, extended, attributes, domain, capabilities,
                    context.deviceName()));
        } finally {
            life().leave();
        }
    }

    /**
     * Receives what is sent to a multicast group, until the result is closed ({@code ibv_attach_mcast}). To be told of
     * all of it, the subnet manager or the switch has to know too: joining through the connection manager does both.
     *
     * @param group the GID of the group
     * @param lid its local identifier, 16 bits; 0 on RoCE
     * @throws IllegalArgumentException when the GID is not of a multicast group, or the queue pair not for datagrams
     * @throws IllegalStateException when it is attached to the group already
     * @throws RdmaException EINVAL, ENOMEM
     */
    @CFunction("ibv_attach_mcast")
    public MulticastAttachment attachMulticast(Gid group, int lid) throws RdmaException {
        life().ensureOpen();
        if (attributes.type() != QueuePairType.UD) {
            throw new IllegalArgumentException("only a queue pair for datagrams can be attached to a multicast group,"
                    + " not one of type " + attributes.type());
        }
        return MulticastAttachment.attach(this, new MulticastAttachment.Group(group, lid), groups);
    }

    @Override
    @CFunction({"ibv_destroy_qp", "rdma_destroy_qp"})
    protected void destroy() throws RdmaException {
        // C takes its completions out of the queues, and waits for polls to end before.
        requireNoCursor(attributes.sendQueue());
        requireNoCursor(attributes.receiveQueue());
        sends.closeAndDestroy(() -> {
            sends.abortBatch();
            receives.closeAndDestroy(() -> context.events().destroy(this, destroyer));
        });
        if (domain != null) {
            domain.removeSendQueue(sends);
        }
    }

    private static void requireNoCursor(CompletionQueue queue) {
        if (queue != null) {
            queue.requireNoCursorOfThisThread();
        }
    }

    private SendQueue ownSends() {
        if (!hasSends) {
            throw notIts("send queue");
        }
        return sends;
    }

    private ReceiveQueue ownReceives() {
        if (!hasReceives) {
            life().ensureOpen();
            throw attributes.sharedReceiveQueue().map(queue -> new IllegalStateException(
                    "this queue pair has no receive queue of its own: receives are posted to " + queue))
                    .orElseGet(() -> notIts("receive queue"));
        }
        return receives;
    }

    private IllegalStateException notIts(String part) {
        life().ensureOpen();
        return new IllegalStateException("a queue pair of type " + attributes.type()
                + attributes.receiveSideScaling().map(scaling -> " with " + scaling.table()).orElse("") + " has no "
                + part);
    }
}
