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
 * A batch of send work requests that are posted together with one doorbell (ibv_wr_post(3)): {@link #complete()} posts
 * either all of them or none. It requires a queue pair that was created with {@link SendOperation}s. A queue pair has
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
 * <p>Each method that is named after an operation starts the next request, which is signaled and has the id 0 and no
 * data. It throws {@link IllegalStateException} if the batch is closed, the queue pair was created without the
 * operation, or the previous request lacks its destination. The methods for the id, the flags, the data and the
 * destination apply to the request that was started last, and throw {@link IllegalStateException} if there is none. A
 * method that throws leaves the batch unchanged. Only segmented sends and binds allocate memory.
 *
 * <p>A batch may be used by one thread at a time. While it is open, other posts to the queue pair are refused. Closing
 * the queue pair aborts it.
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
    // The state of the batch in C, and the fields below as far as they mirror it, are guarded by the lock.
    private boolean open;
    // null if no request has been started; a request is passed to C when the next one starts
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
    // the binds that have been passed to C
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

    /** Checks that the batch is not open, because other posts would have to wait for it. Called with the lock held. */
    void requireClosed() {
        if (open) {
            throw new IllegalStateException("a batch of this queue pair is open: complete or close it first");
        }
    }

    /** Aborts the batch if it is open. Called with the lock held or closed. */
    void abortOpen() {
        if (open) {
            ops.abort();
            open = false;
            endBinds(false);
        }
    }

    /**
     * Starts a request that sends a message, which consumes a receive of the peer ({@code ibv_wr_send}).
     *
     * @return this batch
     */
    @CFunction("ibv_wr_send")
    public SendBatch send() {
        return begin(SendOperation.SEND);
    }

    /**
     * Starts a request that sends a message with an immediate value ({@code ibv_wr_send_imm}).
     *
     * @param immediate the value, in the byte order of the machine; it is sent in network byte order
     * @return this batch
     */
    @CFunction("ibv_wr_send_imm")
    public SendBatch sendWithImmediate(int immediate) {
        begin(SendOperation.SEND_WITH_IMM);
        operand = immediate;
        return this;
    }

    /**
     * Starts a request that sends a message which invalidates a remote key of the peer ({@code ibv_wr_send_inv}).
     *
     * @param remoteKey the remote key of a memory window of the peer
     * @return this batch
     */
    @CFunction("ibv_wr_send_inv")
    public SendBatch sendWithInvalidate(int remoteKey) {
        begin(SendOperation.SEND_WITH_INV);
        key = remoteKey;
        return this;
    }

    /**
     * Starts a request that sends a TCP stream which the device splits into packets ({@code ibv_wr_send_tso}). The data
     * of the request is the stream. Only for types UD and RAW_PACKET.
     *
     * @param headers the headers of all layers up to and including TCP, which precede each packet; they are copied
     * @param maxSegmentSize the maximum number of bytes of the stream in one packet, from 1 to 65535
     * @return this batch
     * @throws IllegalArgumentException if the headers are longer than the queue pair allows, or the segment size is out
     *        of range
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
     * Starts a request that writes the data to the peer's memory ({@code ibv_wr_rdma_write}).
     *
     * @param address the remote address to write to
     * @param remoteKey the remote key of the peer's memory region or window
     * @return this batch
     */
    @CFunction("ibv_wr_rdma_write")
    public SendBatch rdmaWrite(long address, int remoteKey) {
        return begin(SendOperation.RDMA_WRITE).remote(address, remoteKey);
    }

    /**
     * Starts a request that writes the data to the peer's memory, and consumes a receive of the peer whose completion
     * contains an immediate value ({@code ibv_wr_rdma_write_imm}).
     *
     * @param address the remote address to write to
     * @param remoteKey the remote key of the peer's memory region or window
     * @param immediate the value, in the byte order of the machine; it is sent in network byte order
     * @return this batch
     */
    @CFunction("ibv_wr_rdma_write_imm")
    public SendBatch rdmaWriteWithImmediate(long address, int remoteKey, int immediate) {
        begin(SendOperation.RDMA_WRITE_WITH_IMM).remote(address, remoteKey);
        operand = immediate;
        return this;
    }

    /**
     * Starts a request that reads from the peer's memory into the data ({@code ibv_wr_rdma_read}).
     *
     * @param address the remote address to read from
     * @param remoteKey the remote key of the peer's memory region or window
     * @return this batch
     */
    @CFunction("ibv_wr_rdma_read")
    public SendBatch rdmaRead(long address, int remoteKey) {
        return begin(SendOperation.RDMA_READ).remote(address, remoteKey);
    }

    /**
     * Starts a request that compares 8 bytes of the peer's memory and replaces them if they are equal
     * ({@code ibv_wr_atomic_cmp_swp}). The original value is written to the data, in the byte order of the machine.
     *
     * @param address the remote address of the 8 bytes, a multiple of 8
     * @param remoteKey the remote key of the peer's memory region or window
     * @param expected the expected value
     * @param replacement the value that replaces it
     * @return this batch
     */
    @CFunction("ibv_wr_atomic_cmp_swp")
    public SendBatch compareAndSwap(long address, int remoteKey, long expected, long replacement) {
        begin(SendOperation.ATOMIC_CMP_AND_SWP).remote(address, remoteKey);
        operand = expected;
        swap = replacement;
        return this;
    }

    /**
     * Starts a request that adds to 8 bytes of the peer's memory ({@code ibv_wr_atomic_fetch_add}). The original value
     * is written to the data, in the byte order of the machine.
     *
     * @param address the remote address of the 8 bytes, a multiple of 8
     * @param remoteKey the remote key of the peer's memory region or window
     * @param add the value to add
     * @return this batch
     */
    @CFunction("ibv_wr_atomic_fetch_add")
    public SendBatch fetchAndAdd(long address, int remoteKey, long add) {
        begin(SendOperation.ATOMIC_FETCH_AND_ADD).remote(address, remoteKey);
        operand = add;
        return this;
    }

    /**
     * Starts a request that atomically writes 8 bytes of the peer's memory ({@code ibv_wr_atomic_write}). It has no
     * other data.
     *
     * @param address the remote address of the 8 bytes, a multiple of 8
     * @param remoteKey the remote key of the peer's memory region or window
     * @param value the value, in the byte order of the machine
     * @return this batch
     */
    @CFunction("ibv_wr_atomic_write")
    public SendBatch atomicWrite(long address, int remoteKey, long value) {
        begin(SendOperation.ATOMIC_WRITE).remote(address, remoteKey);
        operand = value;
        return this;
    }

    /**
     * Starts a request that invalidates a key of this side ({@code ibv_wr_local_inv}). It has no data.
     *
     * @param localKey the remote key of a local memory window
     * @return this batch
     */
    @CFunction("ibv_wr_local_inv")
    public SendBatch localInvalidate(int localKey) {
        begin(SendOperation.LOCAL_INV);
        key = localKey;
        return this;
    }

    /**
     * Starts a request that binds a memory window of type 2 to a part of a memory region ({@code ibv_wr_bind_mw}). It
     * has no data. The window has the new key as soon as the batch has been completed; the peer may use it after the
     * completion of the request.
     *
     * @param window the window, of the protection domain of the queue pair; must stay open until the batch is completed
     * @param remoteKey the new key of the window: {@link MemoryWindow#incrementKey} of the current one
     * @param binding the part of a memory region of the same protection domain
     * @return this batch
     * @throws IllegalArgumentException if the window is not of type 2, or the window or the region belongs to another
     *        protection domain
     */
    @CFunction("ibv_wr_bind_mw")
    public SendBatch bindMemoryWindow(MemoryWindow window, int remoteKey, MemoryWindowBinding binding) {
        WindowBind next = WindowBind.inBatch(window, remoteKey, binding);
        next.check(domain);
        begin(SendOperation.BIND_MW);
        bind = next;
        return this;
    }

    /**
     * Sets the work request id ({@code wr_id}).
     *
     * @param workRequestId an arbitrary value, which the completion returns
     * @return this batch
     */
    public SendBatch id(long workRequestId) {
        requireBegun();
        id = workRequestId;
        return this;
    }

    /**
     * Sets whether the request generates a completion when it succeeds ({@code IBV_SEND_SIGNALED}). A request that
     * fails always does.
     *
     * @param on true by default
     * @return this batch
     */
    public SendBatch signaled(boolean on) {
        return flag(SendFlag.SIGNALED, on);
    }

    /**
     * Sets whether the message raises an event at a peer that asked for solicited events only
     * ({@code IBV_SEND_SOLICITED}).
     *
     * @param on false by default
     * @return this batch
     */
    public SendBatch solicited(boolean on) {
        return flag(SendFlag.SOLICITED, on);
    }

    /**
     * Sets whether the request starts only after the preceding reads and atomic operations have finished
     * ({@code IBV_SEND_FENCE}).
     *
     * @param on false by default
     * @return this batch
     */
    public SendBatch fence(boolean on) {
        return flag(SendFlag.FENCE, on);
    }

    /**
     * Sets whether the device computes the IPv4 and the TCP or UDP checksum ({@code IBV_SEND_IP_CSUM}).
     *
     * @param on false by default
     * @return this batch
     */
    public SendBatch ipChecksum(boolean on) {
        return flag(SendFlag.IP_CSUM, on);
    }

    /**
     * Adds one part of a memory region to the data; further calls append further parts ({@code ibv_wr_set_sge},
     * {@code ibv_wr_set_sge_list}).
     *
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the region
     * @throws IllegalArgumentException if there are more parts than the queue pair allows; on SoftRoCE also if the
     *        parts differ in length, because its driver assumes that all are as long as the first
     * @throws IllegalStateException if the request has no data, or has inline data
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
     * Adds a copy of memory, which need not be registered, to the data; further calls append further copies
     * ({@code ibv_wr_set_inline_data}, {@code ibv_wr_set_inline_data_list}).
     *
     * @param source the memory to copy; it can be changed as soon as this method returns
     * @param offset the offset in the segment, in bytes
     * @param length the length in bytes
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the segment
     * @throws IllegalArgumentException if the inline data exceeds what the queue pair allows
     * @throws IllegalStateException if the request cannot have inline data, or has parts of memory regions
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
     * Sets the destination; required for each request of a queue pair of type UD ({@code ibv_wr_set_ud_addr}).
     *
     * @param handle the address handle, of the protection domain of the queue pair; must stay open until the completion
     * @param queuePairNumber the number of the peer's queue pair, 24 bits
     * @param queueKey the Q_Key of the peer's queue pair; if the highest bit is set, the queue pair's own Q_Key is sent
     *        instead
     * @return this batch
     * @throws IllegalArgumentException if the number does not fit into 24 bits, or the handle belongs to another
     *        protection domain
     * @throws IllegalStateException if the queue pair is not of type UD, or the handle is closed
     */
    @CFunction("ibv_wr_set_ud_addr")
    public SendBatch datagram(AddressHandle handle, int queuePairNumber, int queueKey) {
        requireBegun();
        if (type != QueuePairType.UD) {
            throw new IllegalStateException("a queue pair of type " + type + " cannot send datagrams");
        }
        Arguments.requireBits("queue pair number", queuePairNumber, QUEUE_PAIR_NUMBER_BITS);
        handle.requireUsable(domain);
        destination = handle;
        remoteQueuePair = queuePairNumber;
        remoteQueueKey = queueKey;
        return this;
    }

    /**
     * Sets the shared receive queue of the peer; required for each request of a queue pair of type XRC_SEND, except
     * binds and local invalidations ({@code ibv_wr_set_xrc_srqn}).
     *
     * @param number the number of the peer's queue, from {@link SharedReceiveQueue#number()}
     * @return this batch
     * @throws IllegalStateException if the queue pair is not of type XRC_SEND
     */
    @CFunction("ibv_wr_set_xrc_srqn")
    public SendBatch remoteSharedReceiveQueue(int number) {
        requireBegun();
        if (type != QueuePairType.XRC_SEND) {
            throw new IllegalStateException("a queue pair of type " + type + " cannot address a shared receive queue");
        }
        sharedQueue = number;
        sharedQueueKnown = true;
        return this;
    }

    /**
     * Posts all requests and closes the batch ({@code ibv_wr_complete}).
     *
     * @throws IllegalStateException if the last request lacks its destination, or needs something that has been closed;
     *        the batch is unchanged then
     * @throws RdmaException if nothing was posted: ENOMEM or ENOSPC if the send queue has no room for all requests;
     *        EINVAL if one is invalid
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

    /**
     * Discards all requests, unless the batch has been completed ({@code ibv_wr_abort}). Has no effect if the batch is
     * closed.
     */
    @Override
    @CFunction("ibv_wr_abort")
    public void close() {
        // ended by complete(), or because the queue pair was closed
        if (!open) {
            return;
        }
        Bias bias;
        try {
            bias = lock.enter();
        } catch (IllegalStateException e) {
            // the queue pair has been closed meanwhile, which aborted the batch
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
            throw new IllegalStateException("the queue pair was created without " + next);
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

    /**
     * Passes the request that was started last to C. If it throws, C has not been called. Called with the lock held.
     */
    private void emit() {
        SendOperation current = operation;
        if (current == null) {
            return;
        }
        AddressHandle handle = destination;
        if (type == QueuePairType.UD) {
            if (handle == null) {
                throw new IllegalStateException(current + " on a queue pair of type UD needs a destination: call"
                        + " datagram()");
            }
            handle.requireUsable(domain);
        } else if (type == QueuePairType.XRC_SEND && !sharedQueueKnown && current != SendOperation.LOCAL_INV
                && current != SendOperation.BIND_MW) {
            throw new IllegalStateException(current + " on a queue pair of type XRC_SEND needs a destination: call"
                    + " remoteSharedReceiveQueue()");
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

    /** Ends binds that were not posted in reverse order, so that each restores what preceded it. */
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
        throw new IllegalStateException("no request has been started: call the method of an operation, such as send(),"
                + " first");
    }

    private IllegalStateException notOpen() {
        queue.requireOpen();
        return new IllegalStateException("the batch is closed: it was completed or aborted");
    }
}
