// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.invoke.VarHandle;
import java.util.Map;

import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** A completion queue that is read where the card writes it ({@code struct mlx5_cqe64}). Not thread-safe. */
final class DirectCompletions {
    // The last 64 bytes of an entry matter, and of these the last ones.
    private static final int VENDOR_ERROR = -10;
    private static final int SYNDROME = -9;
    private static final int COUNTER = -4;
    private static final int OWNER = -1;
    private static final int OPERATION_SHIFT = 4;
    private static final int NUMBER = 0xff_ffff;
    private static final Map<Integer, WorkCompletionStatus> STATUS = Map.ofEntries(
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR(), WorkCompletionStatus.LOC_LEN_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR(), WorkCompletionStatus.LOC_QP_OP_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR(), WorkCompletionStatus.LOC_PROT_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_WR_FLUSH_ERR(), WorkCompletionStatus.WR_FLUSH_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_MW_BIND_ERR(), WorkCompletionStatus.MW_BIND_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_BAD_RESP_ERR(), WorkCompletionStatus.BAD_RESP_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR(), WorkCompletionStatus.LOC_ACCESS_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR(), WorkCompletionStatus.REM_INV_REQ_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR(), WorkCompletionStatus.REM_ACCESS_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_REMOTE_OP_ERR(), WorkCompletionStatus.REM_OP_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR(), WorkCompletionStatus.RETRY_EXC_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR(), WorkCompletionStatus.RNR_RETRY_EXC_ERR),
            Map.entry(Mlx5.MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR(), WorkCompletionStatus.REM_ABORT_ERR));

    private final long ends;
    private final int cqeSize;
    private final int count;
    private final long doorbellRecord;
    private final int pairNumber;
    private int consumed;

    DirectCompletions(RawQueues.Completions queue, int pairNumber) {
        this.cqeSize = queue.cqeSize();
        this.ends = queue.completions().address() + cqeSize;
        this.count = queue.entries();
        this.doorbellRecord = queue.doorbellRecord().address();
        this.pairNumber = pairNumber;
    }

    /** Returns the index of the entry that the next completion is of, 16 bits; -1 if there is none. */
    int next() {
        long end = end();
        byte owner = Memory.getByte(end + OWNER);
        // The bit tells the lap in which the card has written the entry.
        boolean thisLap = ((owner & Mlx5.MLX5_CQE_OWNER_MASK()) == 0) == ((consumed & count) == 0);
        if (!thisLap || operation(owner) == Mlx5.MLX5_CQE_INVALID()) {
            return -1;
        }
        VarHandle.acquireFence();
        return Short.toUnsignedInt(NetworkOrder.toHost(Memory.getShort(end + COUNTER)));
    }

    /** Returns whether the completion that {@link #next} has found is an error. */
    boolean failed() {
        return operation(Memory.getByte(end() + OWNER)) != Mlx5.MLX5_CQE_REQ();
    }

    /** Goes on to the next completion. */
    void advance() {
        consumed++;
    }

    /** Tells the card which entries it may use again. */
    void finish() {
        // the entries are read before
        VarHandle.releaseFence();
        Memory.putInt(doorbellRecord, NetworkOrder.toNetwork(consumed & NUMBER));
    }

    /** Returns the error that {@link #next} has found. */
    WorkCompletion failure(long id) {
        long end = end();
        int syndrome = Byte.toUnsignedInt(Memory.getByte(end + SYNDROME));
        return new WorkCompletion(id, STATUS.getOrDefault(syndrome, WorkCompletionStatus.GENERAL_ERR),
                WorkCompletionOpcode.OTHER, Byte.toUnsignedInt(Memory.getByte(end + VENDOR_ERROR)), 0, 0, pairNumber,
                0, 0);
    }

    private long end() {
        return ends + (long) (consumed & (count - 1)) * cqeSize;
    }

    private static int operation(byte owner) {
        return Byte.toUnsignedInt(owner) >> OPERATION_SHIFT;
    }
}
