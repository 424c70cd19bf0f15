// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_poll_cq_attr;
import io.rdmacm.bindings.ibv_wc_tm_info;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.driver.CompletionQueueExOps;
import io.rdmacm.verbs.internal.driver.DriverQuirks;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.work.Completion;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * The completions of an {@link ExtendedCompletionQueue}, read in place: each method asks the driver for one field, and
 * nothing is read, copied or allocated that was not asked for. A queue has one cursor, which
 * {@link ExtendedCompletionQueue#startPoll()} opens; {@link #close()} ends the poll.
 *
 * <p>When the status is not a success, only the work request id, the status, the vendor error and the queue pair number
 * mean something. Methods that read throw IllegalStateException when there is no current completion, and when the queue
 * was made without the field.
 */
public final class CompletionCursor implements Completion, AutoCloseable {
    private static final int BYTE_LEN = CompletionField.BYTE_LEN.bit();
    private static final int IMM = CompletionField.IMM.bit();
    private static final int QP_NUM = CompletionField.QP_NUM.bit();
    private static final int SRC_QP = CompletionField.SRC_QP.bit();
    private static final int SLID = CompletionField.SLID.bit();
    private static final int SL = CompletionField.SL.bit();
    private static final int DLID_PATH_BITS = CompletionField.DLID_PATH_BITS.bit();
    private static final int TIMESTAMP = CompletionField.COMPLETION_TIMESTAMP.bit();
    private static final int CVLAN = CompletionField.CVLAN.bit();
    private static final int FLOW_TAG = CompletionField.FLOW_TAG.bit();
    private static final int TM_INFO = CompletionField.TM_INFO.bit();
    private static final int WALLCLOCK = CompletionField.COMPLETION_TIMESTAMP_WALLCLOCK.bit();
    private static final int ALWAYS = 0;
    private static final int WITH_IMM = WorkCompletionFlag.WITH_IMM.bit();
    private static final int ENOENT = Rdma.ENOENT();

    private final ExtendedCompletionQueue queue;
    private final BiasedLock lock;
    private final CompletionQueueExOps ops;
    private final int fields;
    private final boolean nextPoll;
    private final MemorySegment memory = Arena.ofAuto().allocate(
            ibv_wc_tm_info.sizeof() + ibv_poll_cq_attr.sizeof(), Long.BYTES);
    private final long tagInfo = memory.address();
    private final long attributes = tagInfo + ibv_wc_tm_info.sizeof();
    // guarded by the lock
    private State state = State.CLOSED;
    private Thread opener;
    // of the current completion: what every reader wants to know, so that it needs no more than these
    private long id;
    private int status;

    private enum State {
        /** Nothing is under way. */
        CLOSED,
        /** Opened on an empty queue, or read to its end: C knows nothing of it (any more). */
        ENDED,
        /** On the first completion, which next() has not shown yet. */
        BEFORE_FIRST,
        /** On a completion. */
        CURRENT,
        /** Behind the last completion; the poll is to be ended. */
        BEHIND_LAST
    }

    CompletionCursor(ExtendedCompletionQueue queue, long address, int fields) {
        this.queue = queue;
        this.lock = queue.lock();
        this.ops = new CompletionQueueExOps(address);
        this.fields = fields;
        this.nextPoll = !DriverQuirks.nextPollEnds(queue.context().deviceName());
    }

    /** Opens; true when there is a completion. */
    boolean start() throws RdmaException {
        Bias bias = lock.enter();
        int error;
        try {
            requireClosed();
            error = startNative();
            if (error == 0 || error == ENOENT) {
                opener = Thread.currentThread();
                state = error == 0 ? State.BEFORE_FIRST : State.ENDED;
                return error == 0;
            }
        } finally {
            lock.leave(bias);
        }
        throw Failures.of("ibv_start_poll", Math.abs(error));
    }

    private int startNative() {
        return ops.startPoll(attributes);
    }

    /** Inside the guard: other ways to poll would wait for this one for ever. */
    void requireClosed() {
        if (state != State.CLOSED) {
            throw new IllegalStateException("a cursor of this completion queue is open: close it first");
        }
    }

    /** Outside the guard: what the opener itself wrote, it sees. */
    void requireNotOpenedBy(Thread thread) {
        if (opener == thread) {
            throw new IllegalStateException("this thread has a cursor of the completion queue open: close it first");
        }
    }

    /** Inside the guard, or with everybody kept out of it. */
    void end() {
        if (state == State.BEFORE_FIRST || state == State.CURRENT || state == State.BEHIND_LAST) {
            ops.endPoll();
        }
        opener = null;
        state = State.CLOSED;
    }

    /**
     * Goes to the next completion ({@code ibv_next_poll}); the one before is no longer there then.
     *
     * @return false when there is none
     * @throws RdmaException when the queue has overrun or the device failed
     */
    @CFunction("ibv_next_poll")
    public boolean next() throws RdmaException {
        Bias bias = lock.enter();
        int error;
        try {
            switch (state) {
                case CLOSED -> throw closed();
                case ENDED, BEHIND_LAST -> {
                    return false;
                }
                case BEFORE_FIRST -> {
                    become();
                    return true;
                }
                case CURRENT -> {
                    error = advance();
                    if (error == 0) {
                        return true;
                    }
                    if (error == ENOENT) {
                        return false;
                    }
                }
                default -> throw new AssertionError(state);
            }
        } finally {
            lock.leave(bias);
        }
        throw Failures.of("ibv_next_poll", Math.abs(error));
    }

    private int advance() {
        if (nextPoll) {
            int error = ops.nextPoll();
            if (error == 0) {
                become();
            } else {
                state = State.BEHIND_LAST;
            }
            return error;
        }
        ops.endPoll();
        state = State.ENDED;
        int error = startNative();
        if (error == 0) {
            become();
        }
        return error;
    }

    private void become() {
        id = ops.id();
        status = ops.status();
        state = State.CURRENT;
    }

    /**
     * Ends the poll, and gives the completions that were read back to the device ({@code ibv_end_poll}). When the first
     * completion was not read, it is gone all the same. Does nothing when closed.
     */
    @Override
    @CFunction("ibv_end_poll")
    public void close() {
        if (!queue.isOpen()) {
            return;
        }
        Bias bias;
        try {
            bias = lock.enter();
        } catch (IllegalStateException e) {
            // the queue was closed meanwhile, which ends the poll
            return;
        }
        try {
            end();
        } finally {
            lock.leave(bias);
        }
    }

    /** The id that the program gave the work request. */
    @Override
    public long workRequestId() {
        requireCurrent();
        return id;
    }

    /** Whether it ended well. */
    @Override
    public boolean succeeded() {
        requireCurrent();
        return status == 0;
    }

    /** How it ended. */
    @Override
    public WorkCompletionStatus status() {
        requireCurrent();
        return WorkCompletionStatus.of(status);
    }

    /** What it was; only of successful ones ({@code ibv_wc_read_opcode}). */
    @Override
    @CFunction("ibv_wc_read_opcode")
    public WorkCompletionOpcode opcode() {
        Bias bias = enter(ALWAYS);
        try {
            return WorkCompletionOpcode.of(ops.readOpcode());
        } finally {
            lock.leave(bias);
        }
    }

    /** The device's own code of an error ({@code ibv_wc_read_vendor_err}). */
    @Override
    @CFunction("ibv_wc_read_vendor_err")
    public int vendorError() {
        Bias bias = enter(ALWAYS);
        try {
            return ops.readVendorErr();
        } finally {
            lock.leave(bias);
        }
    }

    /**
     * The bits of {@code enum ibv_wc_flags}; only of successful ones ({@code ibv_wc_read_wc_flags}). Allocates nothing,
     * unlike {@link #flags()}.
     */
    @Override
    @CFunction("ibv_wc_read_wc_flags")
    public int flagBits() {
        Bias bias = enter(ALWAYS);
        try {
            return ops.readWcFlags();
        } finally {
            lock.leave(bias);
        }
    }

    /** How many bytes were received, or read ({@code ibv_wc_read_byte_len}). */
    @Override
    @CFunction("ibv_wc_read_byte_len")
    public int byteLength() {
        Bias bias = enter(BYTE_LEN);
        try {
            return ops.readByteLen();
        } finally {
            lock.leave(bias);
        }
    }

    /** Whether the message came with an immediate value. */
    @Override
    public boolean hasImmediate() {
        return (flagBits() & WITH_IMM) != 0;
    }

    /**
     * The immediate value of the sender, turned from network byte order; valid with {@link #hasImmediate()}
     * ({@code ibv_wc_read_imm_data}).
     */
    @Override
    @CFunction("ibv_wc_read_imm_data")
    public int immediate() {
        Bias bias = enter(IMM);
        try {
            return NetworkOrder.toHost(ops.readImmData());
        } finally {
            lock.leave(bias);
        }
    }

    /**
     * The key that the sender invalidated; valid with {@link WorkCompletionFlag#WITH_INV}
     * ({@code ibv_wc_read_invalidated_rkey}).
     */
    @Override
    @CFunction("ibv_wc_read_invalidated_rkey")
    public int invalidatedKey() {
        Bias bias = enter(IMM);
        try {
            return ops.readInvalidatedRkey();
        } finally {
            lock.leave(bias);
        }
    }

    /** The queue pair that it is of ({@code ibv_wc_read_qp_num}). */
    @Override
    @CFunction("ibv_wc_read_qp_num")
    public int queuePairNumber() {
        Bias bias = enter(QP_NUM);
        try {
            return ops.readQpNum();
        } finally {
            lock.leave(bias);
        }
    }

    /** The sender's queue pair; for datagrams ({@code ibv_wc_read_src_qp}). */
    @Override
    @CFunction("ibv_wc_read_src_qp")
    public int sourceQueuePair() {
        Bias bias = enter(SRC_QP);
        try {
            return ops.readSrcQp();
        } finally {
            lock.leave(bias);
        }
    }

    /** The sender's local identifier; for datagrams on InfiniBand ({@code ibv_wc_read_slid}). */
    @CFunction("ibv_wc_read_slid")
    public int sourceLid() {
        Bias bias = enter(SLID);
        try {
            return ops.readSlid();
        } finally {
            lock.leave(bias);
        }
    }

    /** The service level; for datagrams ({@code ibv_wc_read_sl}). */
    @CFunction("ibv_wc_read_sl")
    public int serviceLevel() {
        Bias bias = enter(SL);
        try {
            return ops.readSl();
        } finally {
            lock.leave(bias);
        }
    }

    /** Which of the local identifiers of this port it was sent to ({@code ibv_wc_read_dlid_path_bits}). */
    @CFunction("ibv_wc_read_dlid_path_bits")
    public int destinationPathBits() {
        Bias bias = enter(DLID_PATH_BITS);
        try {
            return ops.readDlidPathBits();
        } finally {
            lock.leave(bias);
        }
    }

    /** When it was done, in ticks of the device's clock ({@code ibv_wc_read_completion_ts}). */
    @CFunction("ibv_wc_read_completion_ts")
    public long timestamp() {
        Bias bias = enter(TIMESTAMP);
        try {
            return ops.readCompletionTs();
        } finally {
            lock.leave(bias);
        }
    }

    /** When it was done, in nanoseconds since 1970 ({@code ibv_wc_read_completion_wallclock_ns}). */
    @CFunction("ibv_wc_read_completion_wallclock_ns")
    public long wallClockNanos() {
        Bias bias = enter(WALLCLOCK);
        try {
            return ops.readCompletionWallclockNs();
        } finally {
            lock.leave(bias);
        }
    }

    /** The VLAN tag of the packet, 16 bits ({@code ibv_wc_read_cvlan}). */
    @CFunction("ibv_wc_read_cvlan")
    public int vlan() {
        Bias bias = enter(CVLAN);
        try {
            return ops.readCvlan();
        } finally {
            lock.leave(bias);
        }
    }

    /** The tag of the flow rule that the packet matched; 0 for none ({@code ibv_wc_read_flow_tag}). */
    @CFunction("ibv_wc_read_flow_tag")
    public int flowTag() {
        Bias bias = enter(FLOW_TAG);
        try {
            return ops.readFlowTag();
        } finally {
            lock.leave(bias);
        }
    }

    /** The tag that the sender gave the message; for tag matching ({@code ibv_wc_read_tm_info}). */
    @CFunction("ibv_wc_read_tm_info")
    public long tag() {
        Bias bias = enter(TM_INFO);
        try {
            ops.readTmInfo(tagInfo);
            return ibv_wc_tm_info.tag(memory);
        } finally {
            lock.leave(bias);
        }
    }

    /** What the sender's application gave along with the tag ({@code ibv_wc_read_tm_info}). */
    @CFunction("ibv_wc_read_tm_info")
    public int tagApplicationData() {
        Bias bias = enter(TM_INFO);
        try {
            ops.readTmInfo(tagInfo);
            return ibv_wc_tm_info.priv(memory);
        } finally {
            lock.leave(bias);
        }
    }

    /** A copy to keep; what the queue was made without is 0. */
    @Override
    public WorkCompletion copy() {
        boolean good = succeeded();
        return new WorkCompletion(workRequestId(), status(), good ? opcode() : WorkCompletionOpcode.OTHER,
                vendorError(), good && has(BYTE_LEN) ? byteLength() : 0, good && has(IMM) ? immediate() : 0,
                has(QP_NUM) ? queuePairNumber() : 0, good && has(SRC_QP) ? sourceQueuePair() : 0,
                good ? flagBits() : 0);
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

    private boolean has(int field) {
        return (fields & field) == field;
    }

    /** Outside the guard: for what needs no native memory. */
    private void requireCurrent() {
        if (state != State.CURRENT) {
            // says why not
            lock.leave(enter(ALWAYS));
        }
    }

    private Bias enter(int field) {
        Bias bias = lock.enter();
        if (state != State.CURRENT || (fields & field) != field) {
            RuntimeException refusal = refusal(field);
            lock.leave(bias);
            throw refusal;
        }
        return bias;
    }

    private RuntimeException refusal(int field) {
        if (state == State.CLOSED) {
            return closed();
        }
        if (state != State.CURRENT) {
            return new IllegalStateException("no current completion: next() has to return true before");
        }
        for (CompletionField wanted : CompletionField.values()) {
            if (wanted.bit() == field) {
                return new IllegalStateException("the completion queue was made without " + wanted);
            }
        }
        throw new AssertionError(field);
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("the cursor is closed");
    }
}
