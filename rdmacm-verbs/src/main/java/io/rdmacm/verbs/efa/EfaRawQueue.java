// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.efa.efadv_cq_attr;
import io.rdmacm.bindings.efa.efadv_wq_attr;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * Where a queue is in memory, for programs that fill or read it themselves (efadv_query_qp_wqs(3), efadv_query_cq(3);
 * since rdma-core 59). Once the queue pair or completion queue is closed, an access throws
 * {@link IllegalStateException}. <b>Nothing else protects this memory</b>: what is written to it confuses the driver,
 * which keeps its own count.
 *
 * @param entries the entries; those of a send queue may only be written
 * @param entrySize the size of an entry
 * @param capacity the number of entries
 * @param doorbell the 4 bytes that tell the device of new entries; an empty segment if there are none
 * @param maxBatch the maximum number of entries for one ring of the doorbell; 0 for a completion queue
 */
public record EfaRawQueue(MemorySegment entries, int entrySize, int capacity, MemorySegment doorbell, int maxBatch) {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction QUERY_WQS = NativeFunction.of("efadv_query_qp_wqs");
    private static final NativeFunction QUERY_CQ = NativeFunction.of("efadv_query_cq");

    /**
     * Returns the send queue of a queue pair ({@code efadv_query_qp_wqs}).
     *
     * @param pair a queue pair of an EFA device
     * @return its send queue
     * @throws NativeLibraryException if libefa is not installed, or older than rdma-core 59
     * @throws RdmaUnsupportedException if it is not an EFA device
     * @throws RdmaException never otherwise: the library knows the answer
     */
    @CFunction("efadv_query_qp_wqs")
    public static EfaRawQueue sendsOf(QueuePair pair) throws RdmaException {
        return query(pair, true);
    }

    /**
     * Returns the receive queue of a queue pair ({@code efadv_query_qp_wqs}). Its entries hold one scatter/gather entry
     * each.
     *
     * @param pair a queue pair of an EFA device
     * @return its receive queue
     * @throws NativeLibraryException if libefa is not installed, or older than rdma-core 59
     * @throws RdmaUnsupportedException if it is not an EFA device
     * @throws RdmaException never otherwise: the library knows the answer
     */
    @CFunction("efadv_query_qp_wqs")
    public static EfaRawQueue receivesOf(QueuePair pair) throws RdmaException {
        return query(pair, false);
    }

    /**
     * Returns where a completion queue is ({@code efadv_query_cq}).
     *
     * @param queue a completion queue of an EFA device
     * @return the entries
     * @throws NativeLibraryException if libefa is not installed, or older than rdma-core 59
     * @throws RdmaUnsupportedException if it is not an EFA device
     * @throws RdmaException never otherwise: the library knows the answer
     */
    @CFunction("efadv_query_cq")
    public static EfaRawQueue of(CompletionQueue queue) throws RdmaException {
        return VERBS.inside(queue, (address, arena) -> {
            long struct = arena.allocate(efadv_cq_attr.layout()).address();
            Check.returned(QUERY_CQ, QUERY_CQ.callInt(address, struct, efadv_cq_attr.sizeof()));
            return of(queue, Memory.getLong(struct + efadv_cq_attr.buffer$offset()),
                    Memory.getInt(struct + efadv_cq_attr.entry_size$offset()),
                    Memory.getInt(struct + efadv_cq_attr.num_entries$offset()),
                    Memory.getLong(struct + efadv_cq_attr.doorbell$offset()), 0);
        });
    }

    private static EfaRawQueue query(QueuePair pair, boolean sends) throws RdmaException {
        return VERBS.inside(pair, (address, arena) -> {
            long sendQueue = arena.allocate(efadv_wq_attr.layout()).address();
            long receiveQueue = arena.allocate(efadv_wq_attr.layout()).address();
            Check.returned(QUERY_WQS, QUERY_WQS.callInt(address, sendQueue, receiveQueue,
                    efadv_wq_attr.sizeof()));
            long struct = sends ? sendQueue : receiveQueue;
            return of(pair, Memory.getLong(struct + efadv_wq_attr.buffer$offset()),
                    Memory.getInt(struct + efadv_wq_attr.entry_size$offset()),
                    Memory.getInt(struct + efadv_wq_attr.num_entries$offset()),
                    Memory.getLong(struct + efadv_wq_attr.doorbell$offset()),
                    Memory.getInt(struct + efadv_wq_attr.max_batch$offset()));
        });
    }

    private static EfaRawQueue of(NativeObject owner, long buffer, int entrySize, int capacity, long doorbell,
            int maxBatch) {
        Lifetime life = VERBS.lifeOf(owner);
        return new EfaRawQueue(life.view(buffer, (long) entrySize * capacity), entrySize, capacity,
                doorbell == 0 ? MemorySegment.NULL : life.view(doorbell, Integer.BYTES), maxBatch);
    }
}
