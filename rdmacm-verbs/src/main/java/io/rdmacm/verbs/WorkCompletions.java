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
 * A buffer that a poll fills with completions, and a cursor that reads them: an array of {@code struct ibv_wc},
 * allocated once and reused for each poll (ibv_poll_cq(3)). Nothing is copied to the Java heap unless {@link #copy()}
 * is called.
 *
 * <pre>{@code
 * WorkCompletions completions = WorkCompletions.allocate(16);
 * queue.poll(completions);
 * while (completions.next()) {
 *     if (completions.succeeded()) {
 *         use(completions.workRequestId(), completions.byteLength());
 *     }
 * }
 * }</pre>
 *
 * <p>The methods without an index read the current completion, and throw {@link IllegalStateException} if there is
 * none. If the status is not a success, only the work request id, the status, the vendor error and the queue pair
 * number are valid.
 *
 * <p>A buffer may be used by one thread at a time. It need not be closed: its memory is freed with the object.
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
    // the address of the current completion; before the first one if there is none
    private long current;
    private int size;

    private WorkCompletions(int capacity) {
        this.memory = Arena.ofAuto().allocate(SIZE * capacity, ibv_wc.layout().byteAlignment());
        this.address = memory.address();
        this.capacity = capacity;
        filled(0);
    }

    /**
     * Allocates a buffer.
     *
     * @param capacity the maximum number of completions that a poll takes, at least 1
     * @return the buffer
     * @throws IllegalArgumentException if the capacity is less than 1
     * @throws OutOfMemoryError if the limit of native memory of the JVM (-XX:MaxDirectMemorySize) is reached
     */
    public static WorkCompletions allocate(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("the capacity must be at least 1, not " + capacity);
        }
        return new WorkCompletions(capacity);
    }

    /** {@return the maximum number of completions that a poll takes} */
    public int capacity() {
        return capacity;
    }

    /** {@return the number of completions that the last poll took} */
    public int size() {
        return size;
    }

    /** {@return the raw array of {@code struct ibv_wc}} */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * Moves to the next completion. Before the first call after a poll, there is no current completion.
     *
     * @return false if there are no more completions
     */
    public boolean next() {
        long next = current + SIZE;
        if (next >= address + SIZE * size) {
            return false;
        }
        current = next;
        return true;
    }

    /**
     * Moves to a completion.
     *
     * @param index from 0 to one less than {@link #size()}
     * @return this buffer
     */
    public WorkCompletions at(int index) {
        current = address + SIZE * Objects.checkIndex(index, size);
        return this;
    }

    /**
     * Returns the work request id of a completion, without moving to it: for tight loops.
     *
     * @param index from 0 to one less than {@link #size()}
     * @return the id that the program gave the work request
     */
    public long workRequestId(int index) {
        long id = Memory.getLong(address, SIZE * Objects.checkIndex(index, size) + WR_ID);
        Reference.reachabilityFence(this);
        return id;
    }

    /**
     * Returns whether a completion is a success, without moving to it: for tight loops.
     *
     * @param index from 0 to one less than {@link #size()}
     * @return true if the status is {@link WorkCompletionStatus#SUCCESS}
     */
    public boolean succeeded(int index) {
        int status = Memory.getInt(address, SIZE * Objects.checkIndex(index, size) + STATUS);
        Reference.reachabilityFence(this);
        return status == 0;
    }

    /** {@return the id that the program gave the work request ({@code wr_id})} */
    @Override
    public long workRequestId() {
        long id = Memory.getLong(current(), WR_ID);
        Reference.reachabilityFence(this);
        return id;
    }

    /** {@return whether the status is {@link WorkCompletionStatus#SUCCESS}} */
    @Override
    public boolean succeeded() {
        return member(STATUS) == 0;
    }

    /** {@return the status of the work request ({@code status})} */
    @Override
    public WorkCompletionStatus status() {
        return WorkCompletionStatus.of(member(STATUS));
    }

    /** {@return the operation of the work request ({@code opcode}); valid if it succeeded} */
    @Override
    public WorkCompletionOpcode opcode() {
        return WorkCompletionOpcode.of(member(OPCODE));
    }

    /** {@return the vendor-specific error code ({@code vendor_err})} */
    @Override
    public int vendorError() {
        return member(VENDOR_ERR);
    }

    /**
     * {@return the number of bytes received or read ({@code byte_len}); valid for successful receives, reads and atomic
     * operations}
     */
    @Override
    public int byteLength() {
        return member(BYTE_LEN);
    }

    /** {@return whether the message has an immediate value ({@code IBV_WC_WITH_IMM})} */
    @Override
    public boolean hasImmediate() {
        return (flagBits() & WITH_IMM) != 0;
    }

    /**
     * {@return the immediate value of the message, in the byte order of the machine ({@code imm_data}); valid if
     * {@link #hasImmediate()}}
     */
    @Override
    public int immediate() {
        return NetworkOrder.toHost(member(IMM_DATA));
    }

    /**
     * {@return the remote key that the sender invalidated ({@code invalidated_rkey}); valid with
     * {@link WorkCompletionFlag#WITH_INV}}
     */
    @Override
    public int invalidatedKey() {
        // in a union with the immediate value, but in the byte order of the machine
        return member(IMM_DATA);
    }

    /** {@return the number of the local queue pair ({@code qp_num}), 24 bits} */
    @Override
    public int queuePairNumber() {
        return member(QP_NUM);
    }

    /** {@return the number of the sender's queue pair ({@code src_qp}), 24 bits; valid for datagrams} */
    @Override
    public int sourceQueuePair() {
        return member(SRC_QP);
    }

    /**
     * {@return the bits of {@code enum ibv_wc_flags} ({@code wc_flags}); valid if the work request succeeded. Allocates
     * nothing, unlike {@link #flags()}}
     */
    @Override
    public int flagBits() {
        return member(WC_FLAGS);
    }

    /**
     * Copies the current completion. If it is a failure, what is not valid then is 0 in the copy, and the opcode OTHER.
     *
     * @return an immutable copy
     */
    @Override
    public WorkCompletion copy() {
        return succeeded()
                ? new WorkCompletion(workRequestId(), status(), opcode(), vendorError(), byteLength(), immediate(),
                        queuePairNumber(), sourceQueuePair(), flagBits())
                : new WorkCompletion(workRequestId(), status(), WorkCompletionOpcode.OTHER, vendorError(), 0, 0,
                        queuePairNumber(), 0, 0);
    }

    /**
     * Checks that the current completion is a success.
     *
     * @throws WorkCompletionException if it is not
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

    /** Returns the address of the current completion, which must be that of a message received successfully. */
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

    /** Returns a member of the current completion. Keeps the memory alive until it is read. */
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
