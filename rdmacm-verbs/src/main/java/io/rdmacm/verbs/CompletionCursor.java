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
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.work.Completion;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * A cursor over the completions of an {@link ExtendedCompletionQueue}, which reads them in place (ibv_create_cq_ex(3)):
 * each method asks the driver for one field, and nothing else is read, copied or allocated. The work request id and the
 * status are members of the struct, and need no call. A queue has one cursor, which
 * {@link ExtendedCompletionQueue#startPoll()} opens; {@link #close()} ends the poll.
 *
 * <p>If the status is not a success, only the work request id, the status, the vendor error and the queue pair number
 * are valid. All methods that read throw {@link IllegalStateException} if there is no current completion, or if the
 * queue was created without the field.
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

    // States of the poll. Numbers, because a stored reference costs more.
    /** No poll is in progress. */
    private static final int CLOSED = 0;
    /** Opened on an empty queue, or read to the end: there is no poll to end in C. */
    private static final int ENDED = 1;
    /** On a completion. */
    private static final int READING = 2;
    /** After the last completion: the poll in C must still be ended. */
    private static final int BEHIND_LAST = 3;
    /** There is none, and never will be. */
    private static final int REFUSED = -1;

    private final ExtendedCompletionQueue queue;
    private final BiasedLock lock;
    private final CompletionQueueExOps ops;
    private final int fields;
    private final boolean nextPoll;
    private final boolean waitsForBatches;
    private final MemorySegment memory = Arena.ofAuto().allocate(
            ibv_wc_tm_info.sizeof() + ibv_poll_cq_attr.sizeof(), Long.BYTES);
    private final long tagInfo = memory.address();
    private final long attributes = tagInfo + ibv_wc_tm_info.sizeof();
    // The poll in C, guarded by the lock.
    private int poll = CLOSED;
    private @Nullable Thread opener;
    // Whether there is a current completion, and whether next() has yet to move to the first one. Not guarded: whoever
    // asks C looks at the poll too.
    private boolean current;
    private boolean beforeFirst;
    // members of the struct, read with each completion
    private long id;
    private int status;

    CompletionCursor(ExtendedCompletionQueue queue, long address, int fields) {
        this.queue = queue;
        this.lock = queue.lock();
        this.waitsForBatches = queue.context().isEfa();
        this.ops = new CompletionQueueExOps(address, waitsForBatches);
        this.fields = fields;
        this.nextPoll = !queue.context().quirks().nextPollEnds();
    }

    /** Opens the cursor, and returns whether there is a completion. */
    boolean start() throws RdmaException {
        BiasedLock entered = lock;
        CompletionQueueExOps from = ops;
        requireNoBatchOfThisThread();
        Bias bias = entered.enter();
        int error;
        try {
            requireClosed();
            error = from.startPoll(attributes);
            if (error == 0) {
                id = from.id();
                status = from.status();
                poll = READING;
                beforeFirst = true;
            } else if (error == ENOENT) {
                poll = ENDED;
            }
            if (poll != CLOSED) {
                openedBy(Thread.currentThread());
                return error == 0;
            }
        } finally {
            entered.leave(bias);
        }
        throw Failures.of("ibv_start_poll", Math.abs(error));
    }

    private void requireNoBatchOfThisThread() {
        // looking into the map of the queue takes a nanosecond, twice for each completion that comes alone
        if (waitsForBatches) {
            queue.requireNoBatchOfThisThread();
        }
    }

    private void openedBy(Thread thread) {
        // almost always the same, and a stored reference costs more than the comparison
        if (opener != thread) {
            opener = thread;
        }
    }

    /** Checks that the cursor is closed, because other polls would wait for it forever. Called with the lock held. */
    void requireClosed() {
        if (poll == REFUSED) {
            throw new IllegalStateException("the completions of this queue have a format that the driver cannot read");
        }
        if (poll != CLOSED) {
            throw new IllegalStateException("a cursor of this completion queue is open: close it first");
        }
    }

    /** Refuses every poll from now on. Called before the queue is known to anyone. */
    void refuse() {
        poll = REFUSED;
    }

    /**
     * Checks that the cursor was not opened by a thread. Called without the lock: the thread sees what it wrote itself.
     */
    void requireNotOpenedBy(Thread thread) {
        if (poll != CLOSED && opener == thread) {
            throw new IllegalStateException("this thread has a cursor of the completion queue open: close it first");
        }
    }

    /**
     * Enters the lock alone, unless another thread is inside, or the poll in C has not ended yet, which has a lock of
     * its own.
     *
     * @throws IllegalStateException if the cursor is open, and the deadline has passed or the thread that opened it has
     *         ended
     */
    boolean tryEnterBetweenPolls(Deadline deadline) {
        if (!lock.tryEnterAlone()) {
            return false;
        }
        if (poll < READING) {
            return true;
        }
        Thread by = opener;
        lock.leave(null);
        boolean ended = by != null && !by.isAlive();
        if (ended || deadline.hasPassed()) {
            throw new IllegalStateException(by + (ended ? " has ended with a cursor" : " has left a cursor") + " of "
                    + queue + " open: close it first");
        }
        return false;
    }

    /** Ends the poll. Called with the lock held or closed. */
    void end() {
        if (poll == REFUSED) {
            return;
        }
        if (poll >= READING) {
            ops.endPoll();
        }
        poll = CLOSED;
        current = false;
        beforeFirst = false;
    }

    /**
     * Moves to the next completion ({@code ibv_next_poll}). The previous one can no longer be read.
     *
     * @return false if there are no more completions
     * @throws IllegalStateException if the cursor is closed
     * @throws RdmaException with the errno of the driver, if the queue has overrun or the device has failed
     */
    @CFunction("ibv_next_poll")
    public boolean next() throws RdmaException {
        if (beforeFirst) {
            beforeFirst = false;
            current = true;
            return true;
        }
        BiasedLock entered = lock;
        CompletionQueueExOps from = ops;
        requireNoBatchOfThisThread();
        int error;
        if (entered.enterAsFirst()) {
            try {
                error = advance(from);
            } finally {
                entered.leaveAsFirst();
            }
        } else {
            Bias bias = entered.enter();
            try {
                error = advance(from);
            } finally {
                entered.leave(bias);
            }
        }
        if (error == 0) {
            return true;
        }
        if (error == ENOENT) {
            return false;
        }
        throw Failures.of("ibv_next_poll", Math.abs(error));
    }

    /** Moves to the next completion, and returns 0 if there is one. */
    private int advance(CompletionQueueExOps from) {
        if (poll != READING) {
            if (poll == CLOSED) {
                throw closed();
            }
            return ENOENT;
        }
        int error = nextPoll ? from.nextPoll() : restart();
        if (error == 0) {
            id = from.id();
            status = from.status();
        } else {
            current = false;
            if (nextPoll) {
                poll = BEHIND_LAST;
            }
        }
        return error;
    }

    /** Moves on where a call of ibv_next_poll would end the poll. */
    private int restart() {
        ops.endPoll();
        poll = ENDED;
        int error = ops.startPoll(attributes);
        if (error == 0) {
            poll = READING;
        }
        return error;
    }

    /**
     * Ends the poll, and returns the completions that were read to the device ({@code ibv_end_poll}). The first
     * completion is consumed even if {@link #next()} was never called. Has no effect if the cursor is closed.
     *
     * @throws IllegalStateException on EFA, if this thread has a {@link SendBatch} open that reports to the queue
     */
    @Override
    @CFunction("ibv_end_poll")
    public void close() {
        if (!queue.isOpen()) {
            return;
        }
        requireNoBatchOfThisThread();
        Bias bias;
        try {
            bias = lock.enter();
        } catch (IllegalStateException e) {
            // the queue has been closed meanwhile, which ended the poll
            return;
        }
        try {
            end();
        } finally {
            lock.leave(bias);
        }
    }

    /** {@return the id that the program gave the work request ({@code wr_id})} */
    @Override
    public long workRequestId() {
        requireCurrent();
        return id;
    }

    /** {@return whether the status is {@link WorkCompletionStatus#SUCCESS}} */
    @Override
    public boolean succeeded() {
        requireCurrent();
        return status == 0;
    }

    /** {@return the status of the work request ({@code status})} */
    @Override
    public WorkCompletionStatus status() {
        requireCurrent();
        return WorkCompletionStatus.of(status);
    }

    /** {@return the operation of the work request ({@code ibv_wc_read_opcode}); valid if it succeeded} */
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

    /** {@return the vendor-specific error code ({@code ibv_wc_read_vendor_err})} */
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
     * {@return the bits of {@code enum ibv_wc_flags} ({@code ibv_wc_read_wc_flags}); valid if the work request
     * succeeded. Allocates nothing, unlike {@link #flags()}}
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

    /**
     * {@return the number of bytes received or read ({@code ibv_wc_read_byte_len}); valid for successful receives,
     * reads and atomic operations}
     */
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

    /** {@return whether the message has an immediate value ({@code IBV_WC_WITH_IMM})} */
    @Override
    public boolean hasImmediate() {
        return (flagBits() & WITH_IMM) != 0;
    }

    /**
     * {@return the immediate value of the message, in the byte order of the machine ({@code ibv_wc_read_imm_data});
     * valid if {@link #hasImmediate()}}
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
     * {@return the remote key that the sender invalidated ({@code ibv_wc_read_invalidated_rkey}); valid with
     * {@link WorkCompletionFlag#WITH_INV}}
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

    /** {@return the number of the local queue pair ({@code ibv_wc_read_qp_num}), 24 bits} */
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

    /** {@return the number of the sender's queue pair ({@code ibv_wc_read_src_qp}), 24 bits; valid for datagrams} */
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

    /** {@return the LID of the sender ({@code ibv_wc_read_slid}); valid for datagrams on InfiniBand} */
    @CFunction("ibv_wc_read_slid")
    public int sourceLid() {
        Bias bias = enter(SLID);
        try {
            return ops.readSlid();
        } finally {
            lock.leave(bias);
        }
    }

    /** {@return the service level ({@code ibv_wc_read_sl}); valid for datagrams} */
    @CFunction("ibv_wc_read_sl")
    public int serviceLevel() {
        Bias bias = enter(SL);
        try {
            return ops.readSl();
        } finally {
            lock.leave(bias);
        }
    }

    /**
     * {@return the path bits of the destination LID ({@code ibv_wc_read_dlid_path_bits}), which tell the LIDs of a port
     * apart; not valid for multicast}
     */
    @CFunction("ibv_wc_read_dlid_path_bits")
    public int destinationPathBits() {
        Bias bias = enter(DLID_PATH_BITS);
        try {
            return ops.readDlidPathBits();
        } finally {
            lock.leave(bias);
        }
    }

    /** {@return the time of the completion, in ticks of the device clock ({@code ibv_wc_read_completion_ts})} */
    @CFunction("ibv_wc_read_completion_ts")
    public long timestamp() {
        Bias bias = enter(TIMESTAMP);
        try {
            return ops.readCompletionTs();
        } finally {
            lock.leave(bias);
        }
    }

    /**
     * {@return the time of the completion, in nanoseconds since 1970-01-01 UTC
     * ({@code ibv_wc_read_completion_wallclock_ns})}
     */
    @CFunction("ibv_wc_read_completion_wallclock_ns")
    public long wallClockNanos() {
        Bias bias = enter(WALLCLOCK);
        try {
            return ops.readCompletionWallclockNs();
        } finally {
            lock.leave(bias);
        }
    }

    /** {@return the VLAN tag of the packet, 16 bits ({@code ibv_wc_read_cvlan})} */
    @CFunction("ibv_wc_read_cvlan")
    public int vlan() {
        Bias bias = enter(CVLAN);
        try {
            return ops.readCvlan();
        } finally {
            lock.leave(bias);
        }
    }

    /** {@return the tag of the flow rule that the packet matched, 0 if none ({@code ibv_wc_read_flow_tag})} */
    @CFunction("ibv_wc_read_flow_tag")
    public int flowTag() {
        Bias bias = enter(FLOW_TAG);
        try {
            return ops.readFlowTag();
        } finally {
            lock.leave(bias);
        }
    }

    /** {@return the tag of the message ({@code ibv_wc_read_tm_info}); valid with tag matching} */
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

    /**
     * {@return the opaque data that the sending application added to the tag ({@code ibv_wc_read_tm_info}); valid with
     * tag matching}
     */
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

    /** Calls a function of a driver that reads the current completion, and fits no method of this class. */
    long read(DriverCall function, long from, long to) {
        Bias bias = enter(ALWAYS);
        try {
            return function.call(from, to);
        } finally {
            lock.leave(bias);
        }
    }

    /** {@return an immutable copy of the current completion; fields that the queue was created without are 0} */
    @Override
    public WorkCompletion copy() {
        boolean good = succeeded();
        return new WorkCompletion(workRequestId(), status(), good ? opcode() : WorkCompletionOpcode.OTHER,
                vendorError(), good && has(BYTE_LEN) ? byteLength() : 0, good && has(IMM) ? immediate() : 0,
                has(QP_NUM) ? queuePairNumber() : 0, good && has(SRC_QP) ? sourceQueuePair() : 0,
                good ? flagBits() : 0);
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

    private boolean has(int field) {
        return (fields & field) == field;
    }

    /** Checks that there is a current completion. Called without the lock, for methods that read no native memory. */
    private void requireCurrent() {
        if (!current) {
            // throws the exception that says why not
            lock.leave(enter(ALWAYS));
        }
    }

    private Bias enter(int field) {
        Bias bias = lock.enter();
        if (poll != READING || !current || (fields & field) != field) {
            RuntimeException refusal = refusal(field);
            lock.leave(bias);
            throw refusal;
        }
        return bias;
    }

    private RuntimeException refusal(int field) {
        if (poll == CLOSED) {
            return closed();
        }
        if (poll != READING || !current) {
            return new IllegalStateException("no current completion: next() must return true first");
        }
        for (CompletionField wanted : CompletionField.values()) {
            if (wanted.bit() == field) {
                return new IllegalStateException("the completion queue was created without " + wanted);
            }
        }
        throw new AssertionError(field);
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("the cursor is closed");
    }
}
