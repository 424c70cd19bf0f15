// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.driver.DriverQuirks;
import io.rdmacm.verbs.internal.driver.QueuePairExOps;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.SendOperation;

/**
 * Send work requests that are posted together, with one doorbell (ibv_wr_post(3)): either all of them, by
 * {@link #complete()}, or none. Made for queue pairs that were created with {@link SendOperation}s; a queue pair has
 * one batch, which {@link QueuePair#startBatch()} opens.
 *
 * <pre>{@code
 * try (SendBatch batch = queuePair.startBatch()) {
 *     batch.rdmaWrite(address, key).id(1).signaled(false).data(region, 0, 4096);
 *     batch.send().id(2).inlineData(message, 0, 16);
 *     batch.complete();
 * }
 * }</pre>
 *
 * <p>A method that names an operation begins the next request: signaled, with the id 0 and no data. The methods for the
 * id, the flags, the data and the destination are about the request begun last. What does not fit together is refused,
 * and leaves the batch as it was. Nothing is allocated.
 *
 * <p>For one thread at a time. While a batch is open other posts to the queue pair are refused; a close of the queue
 * pair ends it.
 */
public final class SendBatch implements AutoCloseable {
    private static final int QUEUE_PAIR_NUMBER_BITS = 24;

    private final SendQueue queue;
    private final BiasedLock lock;
    private final QueuePairExOps ops;
    private final QueuePairType type;
    private final ProtectionDomain domain;
    private final int operations;
    private final int maxTsoHeader;
    private final SendBatchData data;
    // All below is guarded by the lock, as far as C is concerned.
    private boolean open;
    // null when none is begun; C is told of a request when the next one begins
    private SendOperation operation;
    private long id;
    private int flags;
    private long remoteAddress;
    private int key;
    private long operand;
    private long swap;
    private AddressHandle destination;
    private int remoteQueuePair;
    private int remoteQueueKey;
    private boolean sharedQueueKnown;
    private int sharedQueue;
    private MemorySegment header = MemorySegment.NULL;
    private WindowBind bind;
    // those that C has been told of
    private final List<WindowBind> binds = new ArrayList<>();

    SendBatch(SendQueue queue, long extended, QueuePairInitAttributes attributes, ProtectionDomain domain,
            QueuePairCapabilities capabilities, String device) {
        this.queue = queue;
        this.lock = queue;
        this.ops = new QueuePairExOps(extended, queue.isInUserSpace());
        this.type = attributes.type();
        this.domain = domain;
        this.maxTsoHeader = attributes.maxTsoHeader();
        this.operations = Flags.mask(attributes.sendOperations(), SendOperation::bit);
        this.data = new SendBatchData(capabilities.maxSendScatterGather(), capabilities.maxInlineData(),
                DriverQuirks.miscountsLists(device));
    }

    void start() {
        Bias bias = lock.enter();
        try {
            requireClosed();
            ops.start();
            open = true;
            operation = null;
        } finally {
            lock.leave(bias);
        }
    }

    /** Refuses other posts, which would have to wait for this batch; with the lock held. */
    void requireClosed() {
        if (open) {
            throw new IllegalStateException("a batch of this queue pair is open: complete or close it first");
        }
    }

    /** Aborts the batch if it is open; with the lock held or closed. */
    void abortOpen() {
        if (open) {
            ops.abort();
            open = false;
            endBinds(false);
        }
    }

    /** A message into one of the peer's receives ({@code ibv_wr_send}). */
    @CFunction("ibv_wr_send")
    public SendBatch send() {
        return begin(SendOperation.SEND);
    }

    /**
     * A message with an immediate value ({@code ibv_wr_send_imm}).
     *
     * @param immediate in the byte order of the machine; travels in network order
     */
    @CFunction("ibv_wr_send_imm")
    public SendBatch sendWithImmediate(int immediate) {
        begin(SendOperation.SEND_WITH_IMM);
        operand = immediate;
        return this;
    }

    /**
     * A message that invalidates a key of the peer ({@code ibv_wr_send_inv}).
     *
     * @param remoteKey of a memory window of the peer
     */
    @CFunction("ibv_wr_send_inv")
    public SendBatch sendWithInvalidate(int remoteKey) {
        begin(SendOperation.SEND_WITH_INV);
        key = remoteKey;
        return this;
    }

    /**
     * A TCP stream that the device cuts into packets ({@code ibv_wr_send_tso}).
     *
     * @param headers of all layers up to and including TCP, for each packet; a copy is taken
     * @param maxSegmentSize how many bytes of the stream go into a packet at most, 1 to 65535
     */
    @CFunction("ibv_wr_send_tso")
    public SendBatch sendSegmented(MemorySegment headers, int maxSegmentSize) {
        SegmentedSend.checkHeaders(headers.byteSize(), maxTsoHeader);
        SegmentedSend.checkSegmentSize(maxSegmentSize);
        MemorySegment copy = Arena.ofAuto().allocate(Math.max(headers.byteSize(), 1), Long.BYTES)
                .asSlice(0, headers.byteSize()).copyFrom(headers);
        begin(SendOperation.TSO);
        header = copy;
        operand = maxSegmentSize;
        return this;
    }

    /**
     * Writes the data to the peer's memory ({@code ibv_wr_rdma_write}).
     *
     * @param address where to
     * @param remoteKey of the peer's region
     */
    @CFunction("ibv_wr_rdma_write")
    public SendBatch rdmaWrite(long address, int remoteKey) {
        return begin(SendOperation.RDMA_WRITE).remote(address, remoteKey);
    }

    /**
     * Writes the data to the peer's memory, and uses up one of its receives to tell it so
     * ({@code ibv_wr_rdma_write_imm}).
     *
     * @param address where to
     * @param remoteKey of the peer's region
     * @param immediate in the byte order of the machine; travels in network order
     */
    @CFunction("ibv_wr_rdma_write_imm")
    public SendBatch rdmaWriteWithImmediate(long address, int remoteKey, int immediate) {
        begin(SendOperation.RDMA_WRITE_WITH_IMM).remote(address, remoteKey);
        operand = immediate;
        return this;
    }

    /**
     * Reads from the peer's memory into the data ({@code ibv_wr_rdma_read}).
     *
     * @param address where from
     * @param remoteKey of the peer's region
     */
    @CFunction("ibv_wr_rdma_read")
    public SendBatch rdmaRead(long address, int remoteKey) {
        return begin(SendOperation.RDMA_READ).remote(address, remoteKey);
    }

    /**
     * Compares 8 bytes of the peer's memory and swaps them when they are equal; what was there goes into the data
     * ({@code ibv_wr_atomic_cmp_swp}).
     *
     * @param address a multiple of 8
     * @param remoteKey of the peer's region
     * @param expected what is expected to be there
     * @param replacement what it becomes
     */
    @CFunction("ibv_wr_atomic_cmp_swp")
    public SendBatch compareAndSwap(long address, int remoteKey, long expected, long replacement) {
        begin(SendOperation.ATOMIC_CMP_AND_SWP).remote(address, remoteKey);
        operand = expected;
        swap = replacement;
        return this;
    }

    /**
     * Adds to 8 bytes of the peer's memory; what was there goes into the data ({@code ibv_wr_atomic_fetch_add}).
     *
     * @param address a multiple of 8
     * @param remoteKey of the peer's region
     * @param add what is added
     */
    @CFunction("ibv_wr_atomic_fetch_add")
    public SendBatch fetchAndAdd(long address, int remoteKey, long add) {
        begin(SendOperation.ATOMIC_FETCH_AND_ADD).remote(address, remoteKey);
        operand = add;
        return this;
    }

    /**
     * Writes 8 bytes of the peer's memory at once ({@code ibv_wr_atomic_write}). Takes no data but the value.
     *
     * @param address a multiple of 8
     * @param remoteKey of the peer's region
     * @param value in the byte order of the machine
     */
    @CFunction("ibv_wr_atomic_write")
    public SendBatch atomicWrite(long address, int remoteKey, long value) {
        begin(SendOperation.ATOMIC_WRITE).remote(address, remoteKey);
        operand = value;
        return this;
    }

    /**
     * Invalidates a key of this side ({@code ibv_wr_local_inv}). Takes no data.
     *
     * @param localKey of a memory window
     */
    @CFunction("ibv_wr_local_inv")
    public SendBatch localInvalidate(int localKey) {
        begin(SendOperation.LOCAL_INV);
        key = localKey;
        return this;
    }

    /**
     * Binds a memory window of type 2 to a part of a region ({@code ibv_wr_bind_mw}). When the batch was completed, the
     * key is the window's; the peer may use it after the completion. Takes no data.
     *
     * @param window of the protection domain of the queue pair; open until the batch is completed
     * @param remoteKey the key that it gets: {@link MemoryWindow#incrementKey} of the one that it has
     * @param binding to a region of the same protection domain
     */
    @CFunction("ibv_wr_bind_mw")
    public SendBatch bindMemoryWindow(MemoryWindow window, int remoteKey, MemoryWindowBinding binding) {
        WindowBind next = WindowBind.inBatch(window, remoteKey, binding);
        next.check(domain);
        begin(SendOperation.BIND_MW);
        bind = next;
        return this;
    }

    /** The id that comes back with the completion. */
    public SendBatch id(long workRequestId) {
        requireBegun();
        id = workRequestId;
        return this;
    }

    /** Whether a completion comes when it is done; it always comes for an error. */
    public SendBatch signaled(boolean on) {
        return flag(SendFlag.SIGNALED, on);
    }

    /** Whether the peer gets an event if it asked for solicited ones only. */
    public SendBatch solicited(boolean on) {
        return flag(SendFlag.SOLICITED, on);
    }

    /** Whether it begins only when the reads and atomics before it are done. */
    public SendBatch fence(boolean on) {
        return flag(SendFlag.FENCE, on);
    }

    /** Whether the device computes the checksums of IP and of TCP or UDP. */
    public SendBatch ipChecksum(boolean on) {
        return flag(SendFlag.IP_CSUM, on);
    }

    /**
     * One part of a region: called again, the parts follow each other ({@code ibv_wr_set_sge},
     * {@code ibv_wr_set_sge_list}).
     *
     * @param region open
     * @param offset in bytes
     * @param length in bytes
     * @throws IllegalArgumentException when there are more parts than the queue pair takes; on SoftRoCE, whose driver
     *         takes all parts to be as long as the first, when they are not
     * @throws IllegalStateException when the request takes no data, or has inline data
     */
    @CFunction({"ibv_wr_set_sge", "ibv_wr_set_sge_list"})
    public SendBatch data(MemoryRegion region, long offset, int length) {
        if (!requireBegun().takesData()) {
            throw new IllegalStateException(operation + " takes no data");
        }
        data.add(region, offset, length);
        return this;
    }

    /**
     * A copy of memory that needs no region: called again, the copies follow each other
     * ({@code ibv_wr_set_inline_data}, {@code ibv_wr_set_inline_data_list}).
     *
     * @param source may be changed when this returns
     * @param offset in bytes
     * @param length in bytes
     * @throws IllegalArgumentException when it is more than the queue pair takes inline
     * @throws IllegalStateException when the request takes no inline data, or has parts of regions
     */
    @CFunction({"ibv_wr_set_inline_data", "ibv_wr_set_inline_data_list"})
    public SendBatch inlineData(MemorySegment source, long offset, int length) {
        if (!requireBegun().takesInlineData()) {
            throw new IllegalStateException(operation + " takes no inline data");
        }
        data.addInline(source, offset, length);
        return this;
    }

    /**
     * Whom it is for: needed for each request of a queue pair for datagrams ({@code ibv_wr_set_ud_addr}).
     *
     * @param handle of the protection domain of the queue pair; open until the next request is begun, or the batch
     *        completed
     * @param queuePairNumber the peer, 24 bits
     * @param queueKey the key that the peer was given; with the highest bit set, the queue pair's own key is sent
     */
    @CFunction("ibv_wr_set_ud_addr")
    public SendBatch datagram(AddressHandle handle, int queuePairNumber, int queueKey) {
        requireBegun();
        if (type != QueuePairType.UD) {
            throw new IllegalStateException("a queue pair of type " + type + " sends no datagrams");
        }
        Arguments.requireBits("queue pair number", queuePairNumber, QUEUE_PAIR_NUMBER_BITS);
        handle.requireUsable(domain);
        destination = handle;
        remoteQueuePair = queuePairNumber;
        remoteQueueKey = queueKey;
        return this;
    }

    /**
     * The shared receive queue of the peer: needed for each request of an XRC send queue pair
     * ({@code ibv_wr_set_xrc_srqn}).
     *
     * @param number of the peer's queue, see {@link SharedReceiveQueue#number()}
     */
    @CFunction("ibv_wr_set_xrc_srqn")
    public SendBatch remoteSharedReceiveQueue(int number) {
        requireBegun();
        if (type != QueuePairType.XRC_SEND) {
            throw new IllegalStateException("a queue pair of type " + type + " names no shared receive queue");
        }
        sharedQueue = number;
        sharedQueueKnown = true;
        return this;
    }

    /**
     * Posts all requests ({@code ibv_wr_complete}); the batch is closed then.
     *
     * @throws IllegalStateException when the last request lacks its destination; then nothing was changed
     * @throws RdmaException when nothing was posted: ENOMEM or ENOSPC when the send queue has no room for all; EINVAL
     */
    @CFunction("ibv_wr_complete")
    public void complete() throws RdmaException {
        Bias bias = enter();
        int error;
        try {
            emit();
            open = false;
            error = ops.complete();
            endBinds(error == 0);
        } finally {
            lock.leave(bias);
        }
        if (error != 0) {
            throw Failures.of("ibv_wr_complete", Math.abs(error), queue.toString());
        }
    }

    /** Drops all requests, unless the batch was completed ({@code ibv_wr_abort}). Does nothing when closed. */
    @Override
    @CFunction("ibv_wr_abort")
    public void close() {
        // so it was ended: by complete(), or by a close of the queue pair
        if (!open) {
            return;
        }
        Bias bias;
        try {
            bias = lock.enter();
        } catch (IllegalStateException e) {
            // the queue pair was closed meanwhile, which ended the batch
            return;
        }
        try {
            abortOpen();
        } finally {
            lock.leave(bias);
        }
    }

    private Bias enter() {
        Bias bias = lock.enter();
        if (!open) {
            lock.leave(bias);
            throw notOpen();
        }
        return bias;
    }

    private SendBatch begin(SendOperation next) {
        if (!open) {
            throw notOpen();
        }
        if ((operations & next.bit()) == 0) {
            throw new IllegalStateException("the queue pair was made without " + next);
        }
        if (operation != null) {
            Bias bias = enter();
            try {
                emit();
            } finally {
                lock.leave(bias);
            }
        }
        operation = next;
        id = 0;
        flags = SendFlag.SIGNALED.bit();
        destination = null;
        sharedQueueKnown = false;
        data.clear();
        return this;
    }

    /** Tells C of the request that was begun last. Throws before it calls C. With the lock held. */
    private void emit() {
        SendOperation current = operation;
        if (current == null) {
            return;
        }
        AddressHandle handle = destination;
        if (type == QueuePairType.UD) {
            if (handle == null) {
                throw new IllegalStateException(current + " on a queue pair for datagrams needs datagram()");
            }
            handle.requireUsable(domain);
        } else if (type == QueuePairType.XRC_SEND && !sharedQueueKnown && current != SendOperation.LOCAL_INV
                && current != SendOperation.BIND_MW) {
            throw new IllegalStateException(current + " on an XRC send queue pair needs remoteSharedReceiveQueue()");
        }
        if (current == SendOperation.BIND_MW) {
            bind.check(domain);
        }
        ops.id(id);
        ops.flags(flags | (data.isInline() ? Rdma.IBV_SEND_INLINE() : 0));
        build(current);
        if (type == QueuePairType.UD) {
            ops.setUdAddr(handle.address(), remoteQueuePair, remoteQueueKey);
        } else if (sharedQueueKnown) {
            ops.setXrcSrqn(sharedQueue);
        }
        if (current.takesData()) {
            data.set(ops);
        }
        operation = null;
    }

    private void build(SendOperation current) {
        switch (current) {
            case SEND -> ops.send();
            case SEND_WITH_IMM -> ops.sendImm(NetworkOrder.toNetwork((int) operand));
            case SEND_WITH_INV -> ops.sendInv(key);
            case TSO -> ops.sendTso(header.address(), (int) header.byteSize(), (int) operand);
            case RDMA_WRITE -> ops.rdmaWrite(key, remoteAddress);
            case RDMA_WRITE_WITH_IMM -> ops.rdmaWriteImm(key, remoteAddress, NetworkOrder.toNetwork((int) operand));
            case RDMA_READ -> ops.rdmaRead(key, remoteAddress);
            case ATOMIC_CMP_AND_SWP -> ops.atomicCmpSwp(key, remoteAddress, operand, swap);
            case ATOMIC_FETCH_AND_ADD -> ops.atomicFetchAdd(key, remoteAddress, operand);
            case ATOMIC_WRITE -> ops.atomicWrite(key, remoteAddress, data.value(operand));
            case LOCAL_INV -> ops.localInv(key);
            case BIND_MW -> buildBind();
        }
    }

    private void buildBind() {
        bind.begin(ops);
        binds.add(bind);
    }

    /** The last one first: each goes back to what was before it. */
    private void endBinds(boolean posted) {
        while (!binds.isEmpty()) {
            (posted ? binds.removeFirst() : binds.removeLast()).end(posted);
        }
    }

    private SendBatch remote(long address, int remoteKey) {
        remoteAddress = address;
        key = remoteKey;
        return this;
    }

    private SendBatch flag(SendFlag flag, boolean on) {
        requireBegun();
        flags = on ? flags | flag.bit() : flags & ~flag.bit();
        return this;
    }

    private SendOperation requireBegun() {
        if (!open) {
            throw notOpen();
        }
        return Objects.requireNonNullElseGet(operation, SendBatch::notBegun);
    }

    private static SendOperation notBegun() {
        throw new IllegalStateException("no request was begun: call the method of an operation first");
    }

    private IllegalStateException notOpen() {
        queue.requireOpen();
        return new IllegalStateException("the batch is closed: it was completed or aborted");
    }
}
