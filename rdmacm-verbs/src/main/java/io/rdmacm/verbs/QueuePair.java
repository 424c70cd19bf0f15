// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp;
import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.bindings.ibv_qp_cap;
import io.rdmacm.bindings.ibv_qp_init_attr;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.ContextOps;
import io.rdmacm.verbs.internal.FastPath;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;
import io.rdmacm.verbs.internal.QueueGuard;
import io.rdmacm.verbs.internal.VerbsAccess;

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
    private static final NativeFunction CREATE_QP = NativeFunction.of("ibv_create_qp");
    private static final NativeFunction QUERY_QP = NativeFunction.of("ibv_query_qp");
    private static final NativeFunction MODIFY_QP = NativeFunction.of("ibv_modify_qp");
    private static final NativeFunction DESTROY_QP = NativeFunction.of("ibv_destroy_qp");

    private final ProtectionDomain domain;
    private final QueuePairInitAttributes attributes;
    private final QueuePairCapabilities capabilities;
    private final Lifetime.Destroyer destroyer;
    private final int number;
    private final QueueGuard sends = new QueueGuard("QueuePair");
    private final QueueGuard receives = new QueueGuard("QueuePair");
    private final MemorySegment postSendFunction;
    private final MemorySegment postReceiveFunction;
    private final boolean userSpace;
    // Where C writes the request that it refused: one pointer for each queue, used inside its guard.
    private final MemorySegment refused = Arena.ofAuto().allocate(2 * Long.BYTES, Long.BYTES);
    private final long refusedSend = refused.address();
    private final long refusedReceive = refusedSend + Long.BYTES;

    private QueuePair(ProtectionDomain domain, QueuePairInitAttributes attributes, Lifetime life, long address,
            QueuePairCapabilities capabilities, Lifetime.Destroyer destroyer) {
        super(life, address, ibv_qp.sizeof());
        this.domain = domain;
        this.attributes = attributes;
        this.capabilities = capabilities;
        this.destroyer = destroyer;
        this.number = Memory.getInt(address + ibv_qp.qp_num$offset());
        long context = ContextOps.contextOf(address);
        this.postSendFunction = ContextOps.POST_SEND.of(context);
        this.postReceiveFunction = ContextOps.POST_RECV.of(context);
        this.userSpace = FastPath.postsInUserSpace(domain.context().deviceName());
        domain.addSendQueue(sends);
        String text = attributes.type() + " 0x" + Integer.toHexString(number);
        life.describe(() -> text);
    }

    /** A queue pair that is made and destroyed in a way of its own, see {@link VerbsAccess}. */
    static QueuePair create(ProtectionDomain domain, QueuePairInitAttributes attributes,
            VerbsAccess.QueuePairCreator creator, Lifetime.Destroyer destroyer, Lifetime... owners)
            throws RdmaException {
        requireSameContext(domain, attributes.sendQueue());
        requireSameContext(domain, attributes.receiveQueue());
        Set<Lifetime> parents = new LinkedHashSet<>(List.of(owners));
        parents.addAll(List.of(domain.life(), attributes.sendQueue().life(), attributes.receiveQueue().life()));
        Lifetime life = Lifetime.begin("QueuePair", parents.toArray(Lifetime[]::new));
        try (Arena arena = Arena.ofConfined()) {
            long init = write(attributes, arena);
            long address = life.create(() -> creator.create(init));
            QueuePair pair = new QueuePair(domain, attributes, life, address, readCapabilities(init), destroyer);
            domain.context().events().add(pair);
            return pair;
        }
    }

    static QueuePair create(ProtectionDomain domain, QueuePairInitAttributes attributes) throws RdmaException {
        long[] address = new long[1];
        return create(domain, attributes, init -> {
            address[0] = Check.pointer(CREATE_QP, CREATE_QP.callLong(domain.address(), init),
                    attributes.capabilities().toString());
            return address[0];
        }, () -> Check.returned(DESTROY_QP, DESTROY_QP.callInt(address[0])));
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

    /** The protection domain that it belongs to. */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** Where its finished send work requests are reported. */
    public CompletionQueue sendQueue() {
        life().ensureOpen();
        return attributes.sendQueue();
    }

    /** Where its finished receive work requests are reported. */
    public CompletionQueue receiveQueue() {
        life().ensureOpen();
        return attributes.receiveQueue();
    }

    /** The state it is in now ({@code ibv_query_qp}). */
    @CFunction("ibv_query_qp")
    public QueuePairState state() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long current = arena.allocate(ibv_qp_attr.layout()).address();
            long init = arena.allocate(ibv_qp_init_attr.layout()).address();
            Check.returned(QUERY_QP, QUERY_QP.callInt(address(), current, Rdma.IBV_QP_STATE(), init));
            return QueuePairState.of(Memory.getInt(current + ibv_qp_attr.qp_state$offset()));
        } finally {
            life().leave();
        }
    }

    /** Brings it into the error state: all posted work completes with WR_FLUSH_ERR ({@code ibv_modify_qp}). */
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
        QueueGuard.Claim claim = sends.enter();
        int error;
        try {
            checkSend(request);
            request.next(0);
            error = FastPath.post(userSpace, postSendFunction, address(), request.address(), refusedSend);
        } finally {
            sends.leave(claim);
            Reference.reachabilityFence(request);
        }
        if (error != 0) {
            throw refused(ContextOps.POST_SEND, error, 0);
        }
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
        QueueGuard.Claim claim = sends.enter();
        int error;
        int failed = first;
        try {
            requireRange(first, count, block.capacity());
            for (int i = first; i < first + count; i++) {
                checkSend(block.get(i));
            }
            block.chain(first, count);
            error = FastPath.post(userSpace, postSendFunction, address(), block.get(first).address(), refusedSend);
            if (error != 0) {
                failed = block.indexOf(Memory.getLong(refusedSend));
            }
        } finally {
            sends.leave(claim);
            Reference.reachabilityFence(block);
        }
        if (error != 0) {
            throw refused(ContextOps.POST_SEND, error, failed);
        }
    }

    /**
     * Posts one receive work request ({@code ibv_post_recv}).
     *
     * @param request may be changed when this returns
     * @throws IllegalArgumentException when it has more scatter/gather entries than the queue pair takes
     * @throws WorkRequestException ENOMEM when the receive queue is full; EINVAL when the request or the state is wrong
     */
    @CFunction("ibv_post_recv")
    public void postReceive(ReceiveRequest request) throws RdmaException {
        QueueGuard.Claim claim = receives.enter();
        int error;
        try {
            checkEntries(request.entries(), capabilities.maxReceiveScatterGather());
            request.next(0);
            error = FastPath.post(userSpace, postReceiveFunction, address(), request.address(), refusedReceive);
        } finally {
            receives.leave(claim);
            Reference.reachabilityFence(request);
        }
        if (error != 0) {
            throw refused(ContextOps.POST_RECV, error, 0);
        }
    }

    /**
     * Posts a part of a block with one native call ({@code ibv_post_recv}).
     *
     * @param block whose requests may be changed when this returns
     * @param first the index of the first request
     * @param count how many, at least 1
     * @throws IllegalArgumentException when one has more scatter/gather entries than the queue pair takes; then nothing
     *         was posted
     * @throws WorkRequestException for the first request that was refused: those before it were posted
     */
    @CFunction("ibv_post_recv")
    public void postReceive(ReceiveRequests block, int first, int count) throws RdmaException {
        QueueGuard.Claim claim = receives.enter();
        int error;
        int failed = first;
        try {
            requireRange(first, count, block.capacity());
            for (int i = first; i < first + count; i++) {
                checkEntries(block.get(i).entries(), capabilities.maxReceiveScatterGather());
            }
            block.chain(first, count);
            error = FastPath.post(userSpace, postReceiveFunction, address(), block.get(first).address(),
                    refusedReceive);
            if (error != 0) {
                failed = block.indexOf(Memory.getLong(refusedReceive));
            }
        } finally {
            receives.leave(claim);
            Reference.reachabilityFence(block);
        }
        if (error != 0) {
            throw refused(ContextOps.POST_RECV, error, failed);
        }
    }

    @Override
    @CFunction({"ibv_destroy_qp", "rdma_destroy_qp"})
    protected void destroy() throws RdmaException {
        sends.close();
        receives.close();
        boolean destroyed = false;
        try {
            domain.context().events().destroy(this, destroyer);
            destroyed = true;
            domain.removeSendQueue(sends);
        } finally {
            if (!destroyed) {
                sends.reopen();
                receives.reopen();
            }
        }
    }

    private void checkSend(SendRequest request) {
        checkEntries(request.entries(), capabilities.maxSendScatterGather());
        request.checkInline(capabilities.maxInlineData());
    }

    private static void checkEntries(int entries, int limit) {
        if (entries > limit) {
            throw new IllegalArgumentException("a work request of " + entries
                    + " scatter/gather entries on a queue pair that takes " + limit);
        }
    }

    private static void requireRange(int first, int count, int capacity) {
        if (count < 1) {
            throw new IllegalArgumentException("at least one work request must be posted, not " + count);
        }
        Objects.checkFromIndexSize(first, count, capacity);
    }

    private WorkRequestException refused(ContextOps function, int error, int index) {
        return new WorkRequestException(function.name(), Math.abs(error), index, "request " + index + " on " + life());
    }

    private static void requireSameContext(ProtectionDomain domain, CompletionQueue queue) {
        if (queue.context() != domain.context()) {
            throw new IllegalArgumentException("the completion queue belongs to another context than the protection"
                    + " domain: " + queue.context() + ", " + domain.context());
        }
    }

    private static long write(QueuePairInitAttributes attributes, Arena arena) {
        long init = arena.allocate(ibv_qp_init_attr.layout()).address();
        QueuePairCapabilities sizes = attributes.capabilities();
        Memory.putLong(init + ibv_qp_init_attr.send_cq$offset(), attributes.sendQueue().address());
        Memory.putLong(init + ibv_qp_init_attr.recv_cq$offset(), attributes.receiveQueue().address());
        Memory.putInt(init + ibv_qp_init_attr.qp_type$offset(), attributes.type().value());
        Memory.putInt(init + ibv_qp_init_attr.sq_sig_all$offset(), attributes.signalAll() ? 1 : 0);
        long cap = init + ibv_qp_init_attr.cap$offset();
        Memory.putInt(cap + ibv_qp_cap.max_send_wr$offset(), sizes.maxSendRequests());
        Memory.putInt(cap + ibv_qp_cap.max_recv_wr$offset(), sizes.maxReceiveRequests());
        Memory.putInt(cap + ibv_qp_cap.max_send_sge$offset(), sizes.maxSendScatterGather());
        Memory.putInt(cap + ibv_qp_cap.max_recv_sge$offset(), sizes.maxReceiveScatterGather());
        Memory.putInt(cap + ibv_qp_cap.max_inline_data$offset(), sizes.maxInlineData());
        return init;
    }

    private static QueuePairCapabilities readCapabilities(long init) {
        long cap = init + ibv_qp_init_attr.cap$offset();
        return new QueuePairCapabilities(Memory.getInt(cap + ibv_qp_cap.max_send_wr$offset()),
                Memory.getInt(cap + ibv_qp_cap.max_recv_wr$offset()),
                Memory.getInt(cap + ibv_qp_cap.max_send_sge$offset()),
                Memory.getInt(cap + ibv_qp_cap.max_recv_sge$offset()),
                Memory.getInt(cap + ibv_qp_cap.max_inline_data$offset()));
    }
}
