// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;

import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.work.Completion;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * Where a poll puts completions, and the cursor that reads them: an array of {@code struct ibv_wc}, allocated once and
 * used again for each poll. Nothing is copied to the Java heap unless {@link #copy()} is called.
 *
 * <pre>{@code
 * Completions completions = WorkCompletions.allocate(16);
 * queue.poll(completions);
 * while (completions.next()) {
 *     if (completions.succeeded()) {
 *         use(completions.workRequestId(), completions.byteLength());
 *     }
 * }
 * }</pre>
 *
 * <p>For one thread at a time. Needs no close: the memory goes with the object.
 */
public final class WorkCompletions implements Completion {
    private static final long SIZE = ibv_wc.sizeof();
    private static final long WR_ID = ibv_wc.wr_id$offset();
    private static final long STATUS = ibv_wc.status$offset();
    private static final long OPCODE = ibv_wc.opcode$offset();
    private static final long VENDOR_ERR = ibv_wc.vendor_err$offset();
    private static final long BYTE_LEN = ibv_wc.byte_len$offset();
    private static final long IMM_DATA = ibv_wc.imm_data$offset();
    private static final long QP_NUM = ibv_wc.qp_num$offset();
    private static final long SRC_QP = ibv_wc.src_qp$offset();
    private static final long WC_FLAGS = ibv_wc.wc_flags$offset();
    private static final int WITH_IMM = WorkCompletionFlag.WITH_IMM.bit();

    private final MemorySegment memory;
    private final long address;
    private final int capacity;
    // the address of the current one, before the first one when there is none
    private long current;
    private int size;

    private WorkCompletions(int capacity) {
        this.memory = Arena.ofAuto().allocate(SIZE * capacity, ibv_wc.layout().byteAlignment());
        this.address = memory.address();
        this.capacity = capacity;
        filled(0);
    }

    /**
     * Room for completions.
     *
     * @param capacity how many a poll takes at most, at least 1
     */
    public static WorkCompletions allocate(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity must be at least 1: " + capacity);
        }
        return new WorkCompletions(capacity);
    }

    /** How many a poll takes at most. */
    public int capacity() {
        return capacity;
    }

    /** How many the last poll took. */
    public int size() {
        return size;
    }

    /** The raw array of {@code struct ibv_wc}. */
    public MemorySegment memory() {
        return memory;
    }

    /** Goes to the next completion; false when there is none left. Before the first call none is current. */
    public boolean next() {
        long next = current + SIZE;
        if (next >= address + SIZE * size) {
            return false;
        }
        current = next;
        return true;
    }

    /**
     * Goes to one completion.
     *
     * @param index from 0 to one less than {@link #size()}
     * @return this
     */
    public WorkCompletions at(int index) {
        current = address + SIZE * Objects.checkIndex(index, size);
        return this;
    }

    /**
     * The id that the program gave the work request of one completion: for tight loops, which need no cursor.
     *
     * @param index from 0 to one less than {@link #size()}
     */
    public long workRequestId(int index) {
        long id = Memory.getLong(address, SIZE * Objects.checkIndex(index, size) + WR_ID);
        Reference.reachabilityFence(this);
        return id;
    }

    /**
     * Whether one ended well: for tight loops, which need no cursor.
     *
     * @param index from 0 to one less than {@link #size()}
     */
    public boolean succeeded(int index) {
        int status = Memory.getInt(address, SIZE * Objects.checkIndex(index, size) + STATUS);
        Reference.reachabilityFence(this);
        return status == 0;
    }

    /** The id that the program gave the work request. */
    @Override
    public long workRequestId() {
        long id = Memory.getLong(current(), WR_ID);
        Reference.reachabilityFence(this);
        return id;
    }

    /** Whether it ended well. */
    @Override
    public boolean succeeded() {
        return member(STATUS) == 0;
    }

    /** How it ended. */
    @Override
    public WorkCompletionStatus status() {
        return WorkCompletionStatus.of(member(STATUS));
    }

    /** What it was; only of successful ones. */
    @Override
    public WorkCompletionOpcode opcode() {
        return WorkCompletionOpcode.of(member(OPCODE));
    }

    /** The device's own code of an error. */
    @Override
    public int vendorError() {
        return member(VENDOR_ERR);
    }

    /** How many bytes were received, or read; only of successful receives, reads and atomics. */
    @Override
    public int byteLength() {
        return member(BYTE_LEN);
    }

    /** Whether the message came with an immediate value. */
    @Override
    public boolean hasImmediate() {
        return (flagBits() & WITH_IMM) != 0;
    }

    /** The immediate value of the sender, turned from network byte order; valid with {@link #hasImmediate()}. */
    @Override
    public int immediate() {
        return NetworkOrder.toHost(member(IMM_DATA));
    }

    /** The key that the sender invalidated; valid with {@link WorkCompletionFlag#WITH_INV}. */
    @Override
    public int invalidatedKey() {
        // shares its place with the immediate value, but is in the byte order of the machine
        return member(IMM_DATA);
    }

    /** The queue pair that it is of. */
    @Override
    public int queuePairNumber() {
        return member(QP_NUM);
    }

    /** The sender's queue pair; for datagrams. */
    @Override
    public int sourceQueuePair() {
        return member(SRC_QP);
    }

    /** The bits of {@code enum ibv_wc_flags}; only of successful ones. Allocates nothing, unlike {@link #flags()}. */
    @Override
    public int flagBits() {
        return member(WC_FLAGS);
    }

    /** A copy to keep. */
    @Override
    public WorkCompletion copy() {
        return new WorkCompletion(workRequestId(), status(), opcode(), vendorError(), byteLength(), immediate(),
                queuePairNumber(), sourceQueuePair(), flagBits());
    }

    /**
     * Does nothing when the current completion is a success.
     *
     * @throws WorkCompletionException otherwise
     */
    @Override
    public void check() throws WorkCompletionException {
        if (!succeeded()) {
            throw new WorkCompletionException(copy());
        }
    }

    long address() {
        return address;
    }

    /** The address of the current one, which must be of a message that came well. */
    long datagram() {
        boolean received = (member(OPCODE) & WorkCompletionOpcode.RECV.value()) != 0;
        if (!succeeded() || !received) {
            throw new IllegalArgumentException("not the completion of a received message: " + copy());
        }
        return current();
    }

    void filled(int count) {
        size = count;
        current = address - SIZE;
    }

    /** Of the current one. The memory stays until it is read, also when nobody needs this object afterwards. */
    private int member(long offset) {
        int value = Memory.getInt(current(), offset);
        Reference.reachabilityFence(this);
        return value;
    }

    private long current() {
        long now = current;
        if (now < address) {
            throw new IllegalStateException("no current completion: call next() first");
        }
        return now;
    }
}
