// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_cq;
import io.rdmacm.bindings.mlx5.mlx5dv_obj;
import io.rdmacm.bindings.mlx5.mlx5dv_qp;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairType;

/**
 * The memory of queues that the device reads and writes ({@code mlx5dv_init_obj}, mlx5dv_init_obj(3)): for programs
 * that write entries, ring doorbells and read completions themselves. As with {@link QueuePair#handle()},
 * using the segments once the object is closed throws {@link IllegalStateException}; nothing checks what is written to
 * them.
 */
public final class RawQueues {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction INIT_OBJ = NativeFunction.of("mlx5dv_init_obj");
    private static final int DOORBELL_RECORD = 8;

    private RawQueues() {
    }

    /**
     * The queues of a queue pair.
     *
     * @param doorbellRecord 8 bytes: the counters of receives and sends, in network byte order
     * @param send the entries of the send queue
     * @param sendEntries how many there are
     * @param sendStride the size of one in bytes
     * @param receive the entries of the receive queue
     * @param receiveEntries how many there are
     * @param receiveStride the size of one in bytes
     * @param register the doorbell register, to be written to
     * @param blueFlameBytes the size of entries that may be written to the register; 0 if only 8 bytes may
     */
    public record Pair(MemorySegment doorbellRecord, MemorySegment send, int sendEntries, int sendStride,
            MemorySegment receive, int receiveEntries, int receiveStride, MemorySegment register,
            int blueFlameBytes) {
    }

    /**
     * A completion queue.
     *
     * @param doorbellRecord 8 bytes: the counters of what was read and of arming, in network byte order
     * @param completions the entries
     * @param entries how many there are
     * @param cqeSize the size of one in bytes
     * @param number the number by which the device knows the queue
     */
    public record Completions(MemorySegment doorbellRecord, MemorySegment completions, int entries, int cqeSize,
            int number) {
    }

    /**
     * Returns the queues of a queue pair ({@code MLX5DV_OBJ_QP}).
     *
     * @param pair a queue pair of type RC, UC, UD, XRC_SEND or RAW_PACKET, without receive side scaling, or an
     *        initiator of dynamic connections
     * @return its queues
     * @throws IllegalArgumentException if it is of another type
     * @throws RdmaUnsupportedException if the device is not one of mlx5
     * @throws RdmaException as the driver reports it
     */
    @CFunction("mlx5dv_init_obj")
    public static Pair of(QueuePair pair) throws RdmaException {
        boolean initiator = pair instanceof Mlx5QueuePair own && own.attributes().isDci();
        if (!initiator && (pair.type() == QueuePairType.XRC_RECV || pair.receiveSideScaling().isPresent()
                || pair.type() == QueuePairType.DRIVER)) {
            throw new IllegalArgumentException(pair + " has no queues of its own");
        }
        Lifetime life = VERBS.lifeOf(pair);
        return VERBS.inside(pair, (address, arena) -> queues(life, initPair(address, arena)));
    }

    /**
     * Returns a completion queue ({@code MLX5DV_OBJ_CQ}). From then on, the driver does not count what is read, and
     * does not poll correctly any more: only the program may.
     *
     * @param queue a completion queue
     * @return its memory
     * @throws RdmaUnsupportedException if the device is not one of mlx5
     * @throws RdmaException as the driver reports it
     */
    @CFunction("mlx5dv_init_obj")
    public static Completions of(CompletionQueue queue) throws RdmaException {
        return VERBS.inside(queue, (address, arena) -> {
            long out = init(address, mlx5dv_obj.cq$offset(), mlx5dv_cq.layout(), Mlx5.MLX5DV_OBJ_CQ(), arena);
            int entries = Memory.getInt(out + mlx5dv_cq.cqe_cnt$offset());
            int bytes = Memory.getInt(out + mlx5dv_cq.cqe_size$offset());
            Lifetime life = VERBS.lifeOf(queue);
            return new Completions(view(life, out + mlx5dv_cq.dbrec$offset(), DOORBELL_RECORD),
                    view(life, out + mlx5dv_cq.buf$offset(), (long) entries * bytes), entries, bytes,
                    Memory.getInt(out + mlx5dv_cq.cqn$offset()));
        });
    }

    /** Returns how many blocks of 64 bytes the send queue has. */
    static int sendBlocks(long pair) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long sends = initPair(pair, arena) + mlx5dv_qp.sq$offset();
            return Memory.getInt(sends + mlx5dv_qp.sq.wqe_cnt$offset())
                    * Memory.getInt(sends + mlx5dv_qp.sq.stride$offset()) / Wqe.BLOCK;
        }
    }

    private static long initPair(long pair, Arena arena) throws RdmaException {
        return init(pair, mlx5dv_obj.qp$offset(), mlx5dv_qp.layout(), Mlx5.MLX5DV_OBJ_QP(), arena);
    }

    private static Pair queues(Lifetime life, long out) {
        long sends = out + mlx5dv_qp.sq$offset();
        long receives = out + mlx5dv_qp.rq$offset();
        long register = out + mlx5dv_qp.bf$offset();
        int sendEntries = Memory.getInt(sends + mlx5dv_qp.sq.wqe_cnt$offset());
        int sendStride = Memory.getInt(sends + mlx5dv_qp.sq.stride$offset());
        int receiveEntries = Memory.getInt(receives + mlx5dv_qp.rq.wqe_cnt$offset());
        int receiveStride = Memory.getInt(receives + mlx5dv_qp.rq.stride$offset());
        int blueFlame = Memory.getInt(register + mlx5dv_qp.bf.size$offset());
        return new Pair(view(life, out + mlx5dv_qp.dbrec$offset(), DOORBELL_RECORD),
                view(life, sends + mlx5dv_qp.sq.buf$offset(), (long) sendEntries * sendStride), sendEntries,
                sendStride, view(life, receives + mlx5dv_qp.rq.buf$offset(), (long) receiveEntries * receiveStride),
                receiveEntries, receiveStride,
                view(life, register + mlx5dv_qp.bf.reg$offset(), Math.max(Long.BYTES, blueFlame)), blueFlame);
    }

    /** Calls C for one object, and returns the address of the struct that it has filled. */
    private static long init(long object, long member, MemoryLayout layout, int type, Arena arena)
            throws RdmaException {
        long both = arena.allocate(mlx5dv_obj.layout()).address() + member;
        long out = arena.allocate(layout).address();
        // a pointer to the object, then one to the struct, whatever the object
        Memory.putLong(both, object);
        Memory.putLong(both + Long.BYTES, out);
        Check.returned(INIT_OBJ, INIT_OBJ.callInt(both - member, type));
        return out;
    }

    private static MemorySegment view(Lifetime life, long pointer, long bytes) {
        return life.view(Memory.getLong(pointer), bytes);
    }
}
