// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.Addressing;
import io.rdmacm.verbs.internal.driver.QueuePairExOps;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.EntryLength;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.PlacementType;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SelectivityLevel;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.SendOperation;
import org.jspecify.annotations.Nullable;

/**
 * A batch of send work requests that are posted together with one doorbell (ibv_wr_post(3)): {@link #complete()} posts
 * either all of them or none. It requires a queue pair that was created with {@link SendOperation}s. A queue pair has
 * one batch, which {@link QueuePair#startBatch()} opens.
 *
 * <pre>{@code
 * try (SendBatch batch = queuePair.startBatch()) {
 *     batch.id(1).signaled(false).rdmaWrite(remote).data(region, 0, 4096);
 *     batch.id(2).signaled(true).inline(true).send().inlineData(message, 0, 16);
 *     batch.complete();
 * }
 * }</pre>
 *
 * <p>Each method calls C at once, so the order is that of C. The id and the flags come first: they apply to all
 * requests that are started after them, until they are changed. An opened batch has the id 0, and only
 * {@link #signaled(boolean)} is on. A method that is named after an operation starts the next request. It throws
 * {@link IllegalStateException} if the batch is closed, the queue pair was created without the operation, or the
 * previous request lacks its destination. Then follow the destination, if one is needed, and the data, in any order and
 * each at most once; a request without data sends none. These methods throw {@link IllegalStateException} if the
 * request that was started last does not take what they give. Setting the id or a flag ends the previous request.
 *
 * <p>A method that throws leaves the batch unchanged. Only binds allocate memory.
 *
 * <p>A batch may be used by one thread at a time, up to its close: each start returns the same object. While it is
 * open, other posts to the queue pair are refused. Closing the queue pair aborts it.
 *
 * <p>This class cannot be extended outside this library.
 */
public class SendBatch implements AutoCloseable {
    private static final int QUEUE_PAIR_NUMBER_BITS = 24;
    private static final int SIGNALED = SendFlag.SIGNALED.bit();
    private static final int INLINE = Rdma.IBV_SEND_INLINE();

    // States: what the request that was started last may still be given. None of these: the next one can be started.
    private static final int READY = 0;
    /** The batch is not open. */
    private static final int CLOSED = 1;
    /** It takes parts of regions. */
    private static final int PARTS = 1 << 1;
    /** It takes inline data. */
    private static final int INLINE_DATA = 1 << 2;
    /** It takes data, but the queue pair allows none. */
    private static final int NO_PARTS = 1 << 3;
    /** It needs the address of a datagram. */
    private static final int ADDRESS = 1 << 4;
    /** It needs the shared receive queue of the peer. */
    private static final int SHARED_QUEUE = 1 << 5;
    /** It needs a target, by a function of the driver. */
    private static final int TARGET = 1 << 6;

    // What an operation takes; constants of each caller, which the JIT compiler folds.
    /** Neither a destination other than that of a datagram, nor data. */
    private static final int LOCAL = 0;
    /** A destination. */
    private static final int REMOTE = 1;
    /** A destination, and parts of regions. */
    private static final int DATA = 2;
    /** A destination, and parts of regions or inline data. */
    private static final int INLINABLE = 3;

    /** Calls the function that starts a request in C. It captures nothing, so that nothing is allocated. */
    private interface Start {
        void in(QueuePairExOps to, int key, long address, long x, long y);
    }

    private final SendQueue queue;
    private final BiasedLock lock;
    private final QueuePairExOps ops;
    private final QueuePairType type;
    private final Addressing addressing;
    private final ProtectionDomain domain;
    // the completion queue, which must know whether the batch is open; null except on EFA
    private final @Nullable CompletionQueue informed;
    private final int operations;
    private final SendBatchData data;
    // the states after an operation
    private final int afterLocal;
    private final int afterRemote;
    private final int afterParts;
    // who opened the batch, if the completion queue must know
    private volatile @Nullable Thread opener;
    // The state of the batch in C, and the fields below as far as they mirror it, are guarded by the lock.
    private int state = CLOSED;
    // the state after an operation that can carry inline data
    private int afterInlinable;
    private long id;
    private int flags;
    // the operation that was started last, for messages; null if the request was ended
    private @Nullable SendOperation started;
    // the binds that have been passed to C
    private final List<WindowBind> binds = new ArrayList<>();

    /**
     * Creates the closed batch of a queue pair.
     *
     * @param pair the queue pair
     * @param extended the address of its {@code struct ibv_qp_ex}
     * @hidden
     */
    protected SendBatch(QueuePair pair, long extended) {
        QueuePairInitAttributes attributes = pair.initAttributes();
        QueuePairCapabilities capabilities = pair.capabilities();
        this.queue = pair.sends();
        this.lock = queue;
        this.ops = new QueuePairExOps(extended, queue.isInUserSpace());
        this.type = attributes.type();
        this.addressing = pair.addressing();
        this.domain = pair.protectionDomain();
        this.informed = domain.context().isEfa() ? attributes.sendCompletionQueue().orElse(null) : null;
        this.operations = Flags.mask(attributes.sendOperations(), SendOperation::bit);
        this.data = new SendBatchData(ops, domain, capabilities.maxSendScatterGather(), capabilities.maxInlineData(),
                attributes.maxTsoHeader(), domain.context().quirks().miscountsLists());
        this.afterLocal = addressing == Addressing.DATAGRAM ? ADDRESS : READY;
        this.afterRemote = switch (addressing) {
            case SHARED_QUEUE -> SHARED_QUEUE;
            case DCT -> TARGET;
            default -> afterLocal;
        };
        this.afterParts = afterRemote | (capabilities.maxSendScatterGather() > 0 ? PARTS : NO_PARTS);
    }

    void start() {
        Bias bias = lock.enter();
        try {
            requireClosed();
            ops.start();
            inform(true);
            state = READY;
            afterInlinable = afterParts;
            id = 0;
            flags = SIGNALED;
            started = null;
        } finally {
            lock.leave(bias);
        }
    }

    private void inform(boolean opened) {
        if (informed != null) {
            opener = opened ? Thread.currentThread() : null;
            informed.countBatches(opened ? 1 : -1);
        }
    }

    boolean isOpenedBy(Thread thread) {
        return opener == thread;
    }

    /** Checks that the batch is not open, because other posts would have to wait for it. Called with the lock held. */
    void requireClosed() {
        if (state != CLOSED) {
            throw new IllegalStateException("a batch of this queue pair is open: complete or close it first");
        }
    }

    /** Lets the completion queue know this batch, if it must know whether it is open. */
    void begin() {
        if (informed != null) {
            informed.remember(this);
        }
    }

    /** Undoes {@link #begin}: the queue pair is gone. */
    void end() {
        if (informed != null) {
            informed.forget(this);
        }
    }

    /** Aborts the batch if it is open. Called with the lock held or closed. */
    void abortOpen() {
        if (state != CLOSED) {
            ops.abort();
            state = CLOSED;
            inform(false);
            endBinds(false);
        }
    }

    /**
     * Sets the work request id ({@code wr_id}) of the requests that are started from now on.
     *
     * @param workRequestId an arbitrary value, which the completion returns
     * @return this batch
     */
    public SendBatch id(long workRequestId) {
        requireReady();
        id = workRequestId;
        return this;
    }

    /**
     * Sets whether the requests that are started from now on generate a completion when they succeed
     * ({@code IBV_SEND_SIGNALED}). A request that fails always does.
     *
     * @param on true in an opened batch
     * @return this batch
     */
    public SendBatch signaled(boolean on) {
        return flag(SIGNALED, on);
    }

    /**
     * Sets whether the messages of the requests that are started from now on raise an event at a peer that asked for
     * solicited events only ({@code IBV_SEND_SOLICITED}).
     *
     * @param on false in an opened batch
     * @return this batch
     */
    public SendBatch solicited(boolean on) {
        return flag(SendFlag.SOLICITED.bit(), on);
    }

    /**
     * Sets whether the requests that are started from now on begin only after the preceding reads and atomic operations
     * have finished ({@code IBV_SEND_FENCE}).
     *
     * @param on false in an opened batch
     * @return this batch
     */
    public SendBatch fence(boolean on) {
        return flag(SendFlag.FENCE.bit(), on);
    }

    /**
     * Sets whether the device computes the IPv4 and the TCP or UDP checksum of the requests that are started from now
     * on ({@code IBV_SEND_IP_CSUM}).
     *
     * @param on false in an opened batch
     * @return this batch
     */
    public SendBatch ipChecksum(boolean on) {
        return flag(SendFlag.IP_CSUM.bit(), on);
    }

    /**
     * Sets whether the requests that are started from now on carry inline data ({@code IBV_SEND_INLINE}), which is
     * given with one of the methods {@code inlineData}. It has no effect on operations that cannot carry inline data.
     *
     * @param on false in an opened batch
     * @return this batch
     */
    public SendBatch inline(boolean on) {
        flag(INLINE, on);
        afterInlinable = on ? afterRemote | INLINE_DATA : afterParts;
        return this;
    }

    /**
     * Starts a request that sends a message, which consumes a receive of the peer ({@code ibv_wr_send}).
     *
     * @return this batch
     */
    @CFunction("ibv_wr_send")
    public SendBatch send() {
        return request(SendOperation.SEND, INLINABLE, (to, key, at, x, y) -> to.send());
    }

    /**
     * Starts a request that sends one part of a memory region, as {@link #send()} and then {@link #data data}, or
     * {@link #inlineData inlineData} if {@link #inline(boolean)} is on. It costs less than these two.
     *
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the region
     * @throws IllegalArgumentException if the queue pair does not allow as much data, or the data is inline and the
     *         region belongs to another protection domain
     */
    @CFunction({"ibv_wr_send", "ibv_wr_set_sge", "ibv_wr_set_inline_data"})
    public SendBatch send(MemoryRegion region, long offset, long length) {
        return withPart(SendOperation.SEND, INLINABLE, (to, key, at, x, y) -> to.send(), 0, 0, region, offset, length);
    }

    /**
     * Starts a request that sends a message with an immediate value ({@code ibv_wr_send_imm}).
     *
     * @param immediate the value, in the byte order of the machine; it is sent in network byte order
     * @return this batch
     */
    @CFunction("ibv_wr_send_imm")
    public SendBatch sendWithImmediate(int immediate) {
        return request(SendOperation.SEND_WITH_IMM, INLINABLE, (to, key, at, x, y) -> to.sendImm((int) x),
                0, 0, NetworkOrder.toNetwork(immediate), 0);
    }

    /**
     * Starts a request that sends a message which invalidates a remote key of the peer ({@code ibv_wr_send_inv}).
     *
     * @param remoteKey the remote key of a memory window of the peer
     * @return this batch
     */
    @CFunction("ibv_wr_send_inv")
    public SendBatch sendWithInvalidate(int remoteKey) {
        return request(SendOperation.SEND_WITH_INV, INLINABLE, (to, key, at, x, y) -> to.sendInv(key), remoteKey, 0);
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
    public SendBatch tso(MemorySegment headers, int maxSegmentSize) {
        Tso.checkSegmentSize(maxSegmentSize);
        return request(SendOperation.TSO, DATA, (to, key, at, x, y) -> to.sendTso(at, (int) x, (int) y), 0,
                data.copyHeaders(headers), headers.byteSize(), maxSegmentSize);
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
        return request(SendOperation.RDMA_WRITE, INLINABLE, (to, key, at, x, y) -> to.rdmaWrite(key, at),
                remoteKey, address);
    }

    /**
     * Like {@link #rdmaWrite(long, int)}; the data is not compared with the length of the memory.
     *
     * @param remote the memory to write to, from its first byte on
     * @return this batch
     */
    @CFunction("ibv_wr_rdma_write")
    public SendBatch rdmaWrite(RemoteMemory remote) {
        return rdmaWrite(remote.address(), remote.key());
    }

    /**
     * Starts a request that writes one part of a memory region to the peer's memory, as {@link #rdmaWrite(long, int)}
     * and then {@link #data data}, or {@link #inlineData inlineData} if {@link #inline(boolean)} is on. It costs less
     * than these two.
     *
     * @param remoteAddress the remote address to write to
     * @param remoteKey the remote key of the peer's memory region or window
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the region
     * @throws IllegalArgumentException if the queue pair does not allow as much data, or the data is inline and the
     *         region belongs to another protection domain
     */
    @CFunction({"ibv_wr_rdma_write", "ibv_wr_set_sge", "ibv_wr_set_inline_data"})
    public SendBatch rdmaWrite(long remoteAddress, int remoteKey, MemoryRegion region, long offset, long length) {
        return withPart(SendOperation.RDMA_WRITE, INLINABLE, (to, key, at, x, y) -> to.rdmaWrite(key, at), remoteKey,
                remoteAddress, region, offset, length);
    }

    /**
     * Like {@link #rdmaWrite(long, int, MemoryRegion, long, long)}.
     *
     * @param remote the memory to write to
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the region, or longer than the remote memory
     */
    @CFunction({"ibv_wr_rdma_write", "ibv_wr_set_sge", "ibv_wr_set_inline_data"})
    public SendBatch rdmaWrite(RemoteMemory remote, MemoryRegion region, long offset, long length) {
        return rdmaWrite(remote.addressOf(0, length), remote.key(), region, offset, length);
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
        return request(SendOperation.RDMA_WRITE_WITH_IMM, INLINABLE,
                (to, key, at, x, y) -> to.rdmaWriteImm(key, at, (int) x),
                remoteKey, address, NetworkOrder.toNetwork(immediate), 0);
    }

    /**
     * Like {@link #rdmaWriteWithImmediate(long, int, int)}; the data is not compared with the length of the memory.
     *
     * @param remote the memory to write to, from its first byte on
     * @param immediate the value, in the byte order of the machine
     * @return this batch
     */
    @CFunction("ibv_wr_rdma_write_imm")
    public SendBatch rdmaWriteWithImmediate(RemoteMemory remote, int immediate) {
        return rdmaWriteWithImmediate(remote.address(), remote.key(), immediate);
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
        return request(SendOperation.RDMA_READ, DATA, (to, key, at, x, y) -> to.rdmaRead(key, at), remoteKey, address);
    }

    /**
     * Like {@link #rdmaRead(long, int)}; the data is not compared with the length of the memory.
     *
     * @param remote the memory to read from, from its first byte on
     * @return this batch
     */
    @CFunction("ibv_wr_rdma_read")
    public SendBatch rdmaRead(RemoteMemory remote) {
        return rdmaRead(remote.address(), remote.key());
    }

    /**
     * Starts a request that reads from the peer's memory into one part of a memory region, as
     * {@link #rdmaRead(long, int)} and then {@link #data data}. It costs less than these two.
     *
     * @param remoteAddress the remote address to read from
     * @param remoteKey the remote key of the peer's memory region or window
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the region
     * @throws IllegalArgumentException if the queue pair allows no scatter/gather entries
     */
    @CFunction({"ibv_wr_rdma_read", "ibv_wr_set_sge"})
    public SendBatch rdmaRead(long remoteAddress, int remoteKey, MemoryRegion region, long offset, long length) {
        return withPart(SendOperation.RDMA_READ, DATA, (to, key, at, x, y) -> to.rdmaRead(key, at), remoteKey,
                remoteAddress, region, offset, length);
    }

    /**
     * Like {@link #rdmaRead(long, int, MemoryRegion, long, long)}.
     *
     * @param remote the memory to read from
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the region, or longer than the remote memory
     */
    @CFunction({"ibv_wr_rdma_read", "ibv_wr_set_sge"})
    public SendBatch rdmaRead(RemoteMemory remote, MemoryRegion region, long offset, long length) {
        return rdmaRead(remote.addressOf(0, length), remote.key(), region, offset, length);
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
        return request(SendOperation.ATOMIC_CMP_AND_SWP, DATA, QueuePairExOps::atomicCmpSwp,
                remoteKey, address, expected, replacement);
    }

    /**
     * Like {@link #compareAndSwap(long, int, long, long)}.
     *
     * @param remote the memory, whose first 8 bytes are meant
     * @param expected the expected value
     * @param replacement the value that replaces it
     * @return this batch
     * @throws IndexOutOfBoundsException if it is shorter
     */
    @CFunction("ibv_wr_atomic_cmp_swp")
    public SendBatch compareAndSwap(RemoteMemory remote, long expected, long replacement) {
        return compareAndSwap(remote.addressOf(0, Long.BYTES), remote.key(), expected, replacement);
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
        return request(SendOperation.ATOMIC_FETCH_AND_ADD, DATA, (to, key, at, x, y) -> to.atomicFetchAdd(key, at, x),
                remoteKey, address, add, 0);
    }

    /**
     * Like {@link #fetchAndAdd(long, int, long)}.
     *
     * @param remote the memory, whose first 8 bytes are meant
     * @param add the value to add
     * @return this batch
     * @throws IndexOutOfBoundsException if it is shorter
     */
    @CFunction("ibv_wr_atomic_fetch_add")
    public SendBatch fetchAndAdd(RemoteMemory remote, long add) {
        return fetchAndAdd(remote.addressOf(0, Long.BYTES), remote.key(), add);
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
        return request(SendOperation.ATOMIC_WRITE, REMOTE, (to, key, at, x, y) -> to.atomicWrite(key, at, x),
                remoteKey, address, data.value(value), 0);
    }

    /**
     * Like {@link #atomicWrite(long, int, long)}.
     *
     * @param remote the memory, whose first 8 bytes are meant
     * @param value the value, in the byte order of the machine
     * @return this batch
     * @throws IndexOutOfBoundsException if it is shorter
     */
    @CFunction("ibv_wr_atomic_write")
    public SendBatch atomicWrite(RemoteMemory remote, long value) {
        return atomicWrite(remote.addressOf(0, Long.BYTES), remote.key(), value);
    }

    /**
     * Starts a request that completes only when data which earlier requests of this queue pair have written to the
     * peer's memory is placed as desired ({@code ibv_wr_flush}). It has no data of its own. Only for types RC and
     * XRC_SEND.
     *
     * @param address the remote address of the first byte to flush
     * @param remoteKey the remote key of the peer's memory region, which needs the access flag of the placement
     * @param length the number of bytes to flush, less than 2<sup>32</sup>
     * @param placement how the data must be placed
     * @param level what is flushed: with {@link SelectivityLevel#MR} the address and the length do not matter
     * @return this batch
     * @throws IllegalArgumentException if the length is out of range
     */
    @CFunction("ibv_wr_flush")
    public SendBatch flush(long address, int remoteKey, long length, PlacementType placement, SelectivityLevel level) {
        return flush(address, remoteKey, length, placement.bit(), level);
    }

    /**
     * Like {@link #flush(long, int, long, PlacementType, SelectivityLevel)}.
     *
     * @param remote the memory to flush, less than 2<sup>32</sup> bytes
     * @param placement how the data must be placed
     * @param level what is flushed: with {@link SelectivityLevel#MR} the address and the length do not matter
     * @return this batch
     * @throws IllegalArgumentException if the length is out of range
     */
    @CFunction("ibv_wr_flush")
    public SendBatch flush(RemoteMemory remote, PlacementType placement, SelectivityLevel level) {
        return flush(remote.address(), remote.key(), remote.length(), placement, level);
    }

    /**
     * Like {@link #flush(long, int, long, PlacementType, SelectivityLevel)}, for several placements at once.
     *
     * @param address the remote address of the first byte to flush
     * @param remoteKey the remote key of the peer's memory region, which needs the access flags of the placements
     * @param length the number of bytes to flush, less than 2<sup>32</sup>
     * @param placements how the data must be placed, at least one
     * @param level what is flushed: with {@link SelectivityLevel#MR} the address and the length do not matter
     * @return this batch
     * @throws IllegalArgumentException if the length is out of range, or there is no placement
     */
    @CFunction("ibv_wr_flush")
    public SendBatch flush(long address, int remoteKey, long length, Set<PlacementType> placements,
            SelectivityLevel level) {
        int type = PlacementType.mask(placements);
        if (type == 0) {
            throw new IllegalArgumentException("a flush needs at least one placement type");
        }
        return flush(address, remoteKey, length, type, level);
    }

    private SendBatch flush(long address, int remoteKey, long length, int type, SelectivityLevel level) {
        // 32 bits on the wire
        if (length >>> Integer.SIZE != 0) {
            throw new IllegalArgumentException("the length of a flush must be from 0 to 4294967295, not " + length);
        }
        return request(SendOperation.FLUSH, REMOTE,
                (to, key, at, x, y) -> to.flush(key, at, x, (int) y, (int) (y >>> Integer.SIZE)),
                remoteKey, address, length, (long) level.value() << Integer.SIZE | type);
    }

    /**
     * Starts a request that invalidates a key of this side ({@code ibv_wr_local_inv}). It has no data.
     *
     * @param localKey the remote key of a local memory window
     * @return this batch
     */
    @CFunction("ibv_wr_local_inv")
    public SendBatch localInvalidate(int localKey) {
        return request(SendOperation.LOCAL_INV, LOCAL, (to, key, at, x, y) -> to.localInv(key), localKey, 0);
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
        Bias bias = lock.enter();
        try {
            next.check(domain);
            begin(ops, SendOperation.BIND_MW, LOCAL);
            bind(next);
            state = afterLocal;
        } finally {
            lock.leave(bias);
        }
        return this;
    }

    /**
     * Gives the request one part of a memory region as its data ({@code ibv_wr_set_sge}).
     *
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the region
     * @throws IllegalArgumentException if the queue pair allows no scatter/gather entries
     * @throws IllegalStateException if the request takes no data, has data, or was started for inline data
     */
    @CFunction("ibv_wr_set_sge")
    public SendBatch data(MemoryRegion region, long offset, long length) {
        BiasedLock entered = lock;
        QueuePairExOps to = ops;
        Bias bias = entered.enter();
        try {
            int now = state;
            if ((now & PARTS) == 0) {
                throw refusedData();
            }
            long address = region.entryAddress(offset, length);
            to.setSge(region.localKeyUnchecked(), address, (int) length);
            state = now & ~PARTS;
        } finally {
            entered.leave(bias);
        }
        return this;
    }

    /**
     * Gives the request parts of memory regions as its data ({@code ibv_wr_set_sge_list}).
     *
     * @param parts the parts, in order; may be empty
     * @return this batch
     * @throws IllegalArgumentException if there are more parts than the queue pair allows; on SoftRoCE also if the
     *        parts differ in length, because its driver assumes that all are as long as the first
     * @throws IllegalStateException if the request takes no data, has data, or was started for inline data
     */
    @CFunction("ibv_wr_set_sge_list")
    public SendBatch data(ScatterGatherList parts) {
        BiasedLock entered = lock;
        Bias bias = entered.enter();
        try {
            if ((state & PARTS) == 0) {
                throw refusedData();
            }
            data.setParts(parts);
            state &= ~PARTS;
        } finally {
            entered.leave(bias);
        }
        return this;
    }

    /**
     * Gives the request a part of a memory region as inline data ({@code ibv_wr_set_inline_data}). It is copied, so it
     * can be changed as soon as this method returns.
     *
     * @param region the memory region, of the protection domain of the queue pair, in memory of this process
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the region
     * @throws IllegalArgumentException if the inline data exceeds what the queue pair allows, or the region belongs to
     *        another protection domain
     * @throws IllegalStateException if the request was not started with {@link #inline(boolean)}, cannot have inline
     *        data or has it already, or the region is closed or cannot be read by this process
     */
    @CFunction("ibv_wr_set_inline_data")
    public SendBatch inlineData(MemoryRegion region, long offset, long length) {
        BiasedLock entered = lock;
        Bias bias = entered.enter();
        try {
            requireInline();
            data.setInline(region, offset, length);
            state &= ~INLINE_DATA;
        } finally {
            entered.leave(bias);
        }
        return this;
    }

    /**
     * Gives the request a copy of memory, which need not be registered, as inline data
     * ({@code ibv_wr_set_inline_data}).
     *
     * @param source the memory to copy; it can be changed as soon as this method returns
     * @param offset the offset in the segment, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this batch
     * @throws IndexOutOfBoundsException if the range is not within the segment
     * @throws IllegalArgumentException if the inline data exceeds what the queue pair allows
     * @throws IllegalStateException if the request was not started with {@link #inline(boolean)}, cannot have inline
     *        data or has it already
     */
    @CFunction("ibv_wr_set_inline_data")
    public SendBatch inlineData(MemorySegment source, long offset, long length) {
        BiasedLock entered = lock;
        Bias bias = entered.enter();
        try {
            requireInline();
            data.setInline(source, offset, length);
            state &= ~INLINE_DATA;
        } finally {
            entered.leave(bias);
        }
        return this;
    }

    /**
     * Gives the request parts of memory regions as inline data ({@code ibv_wr_set_inline_data_list}). They are copied,
     * so they can be changed as soon as this method returns.
     *
     * @param parts the parts, in order, of regions as for {@link #inlineData(MemoryRegion, long, long)}
     * @return this batch
     * @throws IllegalArgumentException if the inline data exceeds what the queue pair allows, there are more parts than
     *        it allows scatter/gather entries, or a region belongs to another protection domain
     * @throws IllegalStateException if the request was not started with {@link #inline(boolean)}, cannot have inline
     *        data or has it already, or a region is closed or cannot be read by this process
     */
    @CFunction("ibv_wr_set_inline_data_list")
    public SendBatch inlineData(ScatterGatherList parts) {
        BiasedLock entered = lock;
        Bias bias = entered.enter();
        try {
            requireInline();
            data.setInline(parts);
            state &= ~INLINE_DATA;
        } finally {
            entered.leave(bias);
        }
        return this;
    }

    /**
     * Gives the request its destination; required for each request of a queue pair of type UD
     * ({@code ibv_wr_set_ud_addr}).
     *
     * @param handle the address handle, of the protection domain of the queue pair; must stay open until the completion
     * @param queuePairNumber the number of the peer's queue pair, 24 bits
     * @param queueKey the Q_Key of the peer's queue pair; if the highest bit is set, the queue pair's own Q_Key is sent
     *        instead
     * @return this batch
     * @throws IllegalArgumentException if the number does not fit into 24 bits, or the handle belongs to another
     *        protection domain
     * @throws IllegalStateException if the queue pair is not of type UD, the handle is closed, or the request has its
     *        destination already
     */
    @CFunction("ibv_wr_set_ud_addr")
    public SendBatch datagram(AddressHandle handle, int queuePairNumber, int queueKey) {
        Arguments.requireBits("queue pair number", queuePairNumber, QUEUE_PAIR_NUMBER_BITS);
        Bias bias = lock.enter();
        try {
            if ((state & ADDRESS) == 0) {
                throw refusedDestination(Addressing.DATAGRAM, "send datagrams");
            }
            // C reads the handle now, and a close of it waits for this lock
            handle.requireUsable(domain);
            ops.setUdAddr(handle.address(), queuePairNumber, queueKey);
            state &= ~ADDRESS;
        } finally {
            lock.leave(bias);
        }
        return this;
    }

    /**
     * Gives the request the shared receive queue of the peer; required for each request of a queue pair of type
     * XRC_SEND, except binds and local invalidations ({@code ibv_wr_set_xrc_srqn}).
     *
     * @param number the number of the peer's queue, from {@link SharedReceiveQueue#number()}
     * @return this batch
     * @throws IllegalStateException if the queue pair is not of type XRC_SEND, or the request needs no queue or has it
     *        already
     */
    @CFunction("ibv_wr_set_xrc_srqn")
    public SendBatch remoteSharedReceiveQueue(int number) {
        Bias bias = lock.enter();
        try {
            if ((state & SHARED_QUEUE) == 0) {
                throw refusedDestination(Addressing.SHARED_QUEUE, "address a shared receive queue");
            }
            ops.setXrcSrqn(number);
            state &= ~SHARED_QUEUE;
        } finally {
            lock.leave(bias);
        }
        return this;
    }

    /**
     * Enters the queue, for calls of functions of the driver. Before that, another thread may be using the batch, too:
     * nothing that the calls need may be kept in its fields.
     *
     * @return for {@link #leaveQueue}
     * @hidden
     */
    @SuppressWarnings("exports")
    protected final Bias enterQueue() {
        return lock.enter();
    }

    /**
     * Leaves the queue.
     *
     * @param bias what {@link #enterQueue} returned
     * @hidden
     */
    protected final void leaveQueue(@SuppressWarnings("exports") Bias bias) {
        lock.leave(bias);
    }

    /**
     * Starts a request that functions of the driver complete: it takes neither data nor a destination. Called inside
     * the queue.
     *
     * @param more flags of this request, in addition to those of the batch
     * @hidden
     */
    protected final void driverRequest(int more) {
        if (state != READY) {
            endRequest();
        }
        started = null;
        ops.next(id, flags & ~INLINE | more);
    }

    /**
     * Starts to give the request a target, which a function of the driver completes. Called inside the queue, so that a
     * close of the handle waits for that function.
     *
     * @param handle the address handle, of the protection domain of the queue pair
     * @hidden
     */
    protected final void driverTarget(AddressHandle handle) {
        if ((state & TARGET) == 0) {
            throw refusedDestination(Addressing.DCT, "send to DCTs");
        }
        handle.requireUsable(domain);
        state &= ~TARGET;
    }

    /**
     * Gives the request memory that is no region of this library's, by its key.
     *
     * @param key the local key
     * @param address the address in work requests
     * @param length the length in bytes, less than 2 GiB
     * @hidden
     */
    protected final void driverData(int key, long address, long length) {
        int entry = (int) EntryLength.require(length);
        Bias bias = lock.enter();
        try {
            if ((state & PARTS) == 0) {
                throw refusedData();
            }
            ops.setSge(key, address, entry);
            state &= ~PARTS;
        } finally {
            lock.leave(bias);
        }
    }

    /**
     * Posts all requests and closes the batch ({@code ibv_wr_complete}). A program has to count its requests, and not
     * to batch more than the queue has room for: if there is room for none, libmlx5 reports it only after it has
     * overwritten the request that was posted last, which the device may not have executed yet.
     *
     * @throws IllegalStateException if the last request lacks its destination; the batch is unchanged then
     * @throws RdmaException if nothing was posted: ENOMEM or ENOSPC if the send queue has no room for all requests;
     *        EINVAL if one is invalid
     */
    @CFunction("ibv_wr_complete")
    public void complete() throws RdmaException {
        Bias bias = lock.enter();
        int error;
        try {
            if (state != READY) {
                endRequest();
            }
            state = CLOSED;
            error = ops.complete();
            inform(false);
            if (!binds.isEmpty()) {
                endBinds(error == 0);
            }
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
        if (state == CLOSED) {
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

    /** Starts a request. */
    private SendBatch request(SendOperation next, int takes, Start function) {
        return request(next, takes, function, 0, 0, 0, 0);
    }

    private SendBatch request(SendOperation next, int takes, Start function, int key, long address) {
        return request(next, takes, function, key, address, 0, 0);
    }

    private SendBatch request(SendOperation next, int takes, Start function, int key, long address, long x, long y) {
        BiasedLock entered = lock;
        QueuePairExOps to = ops;
        Bias bias = entered.enter();
        try {
            begin(to, next, takes);
            function.in(to, key, address, x, y);
            state = after(takes);
        } finally {
            entered.leave(bias);
        }
        return this;
    }

    /** Starts a request of one part. */
    private SendBatch withPart(SendOperation next, int takes, Start function, int key, long remoteAddress,
            MemoryRegion region, long offset, long length) {
        BiasedLock entered = lock;
        if (entered.enterAsFirst()) {
            try {
                start(next, takes, function, key, remoteAddress, region, offset, length);
            } finally {
                entered.leaveAsFirst();
            }
        } else {
            Bias bias = entered.enter();
            try {
                start(next, takes, function, key, remoteAddress, region, offset, length);
            } finally {
                entered.leave(bias);
            }
        }
        return this;
    }

    private void start(SendOperation next, int takes, Start function, int key, long remoteAddress,
            MemoryRegion region, long offset, long length) {
        QueuePairExOps to = ops;
        int after = after(takes);
        // checked before the operation that it belongs to
        long address = region.entryAddress(offset, length);
        if ((after & PARTS) == 0) {
            if ((after & INLINE_DATA) == 0) {
                throw SendQueue.tooMany(1, "queue pair", 0);
            }
            data.checkInline(region, address, length);
        }
        begin(to, next, takes);
        function.in(to, key, remoteAddress, 0, 0);
        state = after;
        if ((after & PARTS) != 0) {
            to.setSge(region.localKeyUnchecked(), address, (int) length);
        } else {
            to.setInlineData(address, length);
        }
        state = after & ~(PARTS | INLINE_DATA);
    }

    /** Returns the state after an operation, by what it takes. */
    private int after(int takes) {
        return switch (takes) {
            case LOCAL -> afterLocal;
            case REMOTE -> afterRemote;
            case DATA -> afterParts;
            default -> afterInlinable;
        };
    }

    /** Prepares C for a request: its id and flags. Called with the lock held. */
    private void begin(QueuePairExOps to, SendOperation next, int takes) {
        boolean other = started != next;
        if (other) {
            // before the previous request is ended: a refused operation changes nothing
            require(next);
        }
        if (state != READY) {
            endRequest();
        }
        if (other) {
            started = next;
        }
        to.next(id, takes == INLINABLE ? flags : flags & ~INLINE);
    }

    private void require(SendOperation next) {
        if (state == CLOSED) {
            throw notOpen();
        }
        if ((operations & next.bit()) == 0) {
            throw new IllegalStateException("the queue pair was created without " + next);
        }
    }

    /**
     * Ends the request that was started last: if it may have data but has none, C is told so, because the request is
     * complete only then. Called with the lock held.
     */
    private void endRequest() {
        int now = state;
        if (now == CLOSED) {
            throw notOpen();
        }
        if ((now & ADDRESS) != 0) {
            throw new IllegalStateException(started + " on a queue pair of type " + type + " needs a destination: call"
                    + " datagram()");
        }
        if ((now & TARGET) != 0) {
            throw new IllegalStateException(started + " of a DCI needs a destination: call"
                    + " dct()");
        }
        if ((now & SHARED_QUEUE) != 0) {
            throw new IllegalStateException(started + " on a queue pair of type XRC_SEND needs a destination: call"
                    + " remoteSharedReceiveQueue()");
        }
        if ((now & (PARTS | NO_PARTS)) != 0) {
            data.setNoParts();
        } else if ((now & INLINE_DATA) != 0) {
            data.setNoInline();
        }
        state = READY;
    }

    private void bind(WindowBind next) {
        boolean bound = false;
        binds.add(next);
        try {
            next.begin(ops);
            bound = true;
        } finally {
            if (!bound) {
                binds.removeLast();
            }
        }
    }

    /** Ends binds that were not posted in reverse order, so that each restores what preceded it. */
    private void endBinds(boolean posted) {
        while (!binds.isEmpty()) {
            (posted ? binds.removeFirst() : binds.removeLast()).end(posted);
        }
    }

    private SendBatch flag(int bit, boolean on) {
        requireReady();
        flags = on ? flags | bit : flags & ~bit;
        return this;
    }

    /** Checks that the next request can be started, after the end of the previous one. */
    private void requireReady() {
        if (state != READY) {
            Bias bias = lock.enter();
            try {
                if (state != READY) {
                    endRequest();
                }
                started = null;
            } finally {
                lock.leave(bias);
            }
        }
    }

    private void requireInline() {
        if ((state & INLINE_DATA) == 0) {
            throw refusedInline();
        }
    }

    private RuntimeException refusedData() {
        if ((state & INLINE_DATA) != 0) {
            return new IllegalStateException(started + " was started for inline data: call inline(false) before the"
                    + " operation");
        }
        if ((state & NO_PARTS) != 0) {
            return SendQueue.tooMany(1, "queue pair", 0);
        }
        return refused(started == null || started.takesData(), "data");
    }

    private RuntimeException refusedInline() {
        if ((state & (PARTS | NO_PARTS)) != 0 && started != null
                && started.takesInlineData()) {
            return new IllegalStateException(started + " was not started for inline data: call inline(true) before the"
                    + " operation");
        }
        return refused(started == null || started.takesInlineData(), "inline data");
    }

    private RuntimeException refused(boolean taken, String what) {
        if (state == CLOSED) {
            return notOpen();
        }
        if (started == null) {
            return notStarted();
        }
        return new IllegalStateException(taken ? started + " already has its data: give several parts as a list"
                : started + " takes no " + what);
    }

    private RuntimeException refusedDestination(Addressing wanted, String what) {
        if (state == CLOSED) {
            return notOpen();
        }
        if (addressing != wanted) {
            return new IllegalStateException("a queue pair of type " + type + " cannot " + what);
        }
        return started == null ? notStarted()
                : new IllegalStateException(started + " needs no destination, or already has it");
    }

    private static IllegalStateException notStarted() {
        return new IllegalStateException("no request has been started: call the method of an operation, such as send(),"
                + " first, after those for its id and flags");
    }

    private IllegalStateException notOpen() {
        queue.requireOpen();
        return new IllegalStateException("the batch is closed: it was completed or aborted");
    }
}
