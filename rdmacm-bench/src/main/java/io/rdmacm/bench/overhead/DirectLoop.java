// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.mlx5.RawQueues;

/**
 * Posts and polls without a call into C: changes the entries that libmlx5 has written, rings the doorbell, and reads
 * completions, all in the memory that the card shares ({@link RawQueues}). Nothing is checked but the result of each
 * request: an experiment, to see what the calls cost.
 */
final class DirectLoop implements Placement.Loop {
    private static final VarHandle INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN).varHandle();
    private static final VarHandle SHORT = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN).varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN).varHandle();
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private static final int RDMA_WRITE = 8;
    private static final long COMPLETION_COUNTER = 60;
    private static final long COMPLETION_OWNER = 63;
    private static final int NO_COMPLETION = 0xf;
    private static final long SENDS = 4;

    private final MemorySegment entries;
    private final MemorySegment record;
    private final MemorySegment register;
    private final MemorySegment completions;
    private final MemorySegment consumedRecord;
    private final long[] ids;
    private final int stride;
    private final int completionBytes;
    private final int completionCount;
    private final long secondWord;
    private final int batch;
    private int posted;
    private int consumed;

    /**
     * Creates a loop, and has libmlx5 write all entries once.
     *
     * @param stack the objects to use, whose completion queue nobody has polled; completions have been foreseen
     * @param batch the number of requests per post
     */
    DirectLoop(VerbsStack stack, int batch) throws RdmaException {
        RawQueues.Pair queues = RawQueues.of(stack.pair(0));
        this.entries = queues.send();
        this.stride = queues.sendStride();
        this.record = queues.doorbellRecord();
        this.register = queues.register();
        this.ids = new long[queues.sendEntries()];
        this.batch = batch;
        new PublicLoop(stack, 1, 1, Payload.ONE_ENTRY).run(ids.length);
        this.posted = ids.length;
        this.consumed = ids.length;
        this.secondWord = Integer.toUnsignedLong((int) INT.get(entries, Integer.BYTES));
        RawQueues.Completions raw = RawQueues.of(stack.queue());
        this.completions = raw.completions();
        this.completionBytes = raw.entryBytes();
        this.completionCount = raw.entries();
        this.consumedRecord = raw.doorbellRecord();
    }

    /** Returns how many entries the send queue has, which libmlx5 has posted. */
    int entries() {
        return ids.length;
    }

    @Override
    public long run(int operations) {
        int count = batch;
        long sum = 0;
        for (int done = 0; done < operations; done += count) {
            post(count);
            sum += poll(count);
        }
        return sum;
    }

    private void post(int count) {
        MemorySegment to = entries;
        long[] wanted = ids;
        int next = posted;
        int first = 0;
        for (int i = 0; i < count; i++) {
            int slot = next & (wanted.length - 1);
            wanted[slot] = next;
            first = (next & 0xffff) << 8 | RDMA_WRITE;
            INT.set(to, (long) slot * stride, first);
            next++;
        }
        posted = next;
        VarHandle.releaseFence();
        INT.set(record, SENDS, next & 0xffff);
        // Stores to a register that combines writes are ordered and flushed by no fence of Java but the full one.
        VarHandle.fullFence();
        LONG.set(register, 0L, Integer.toUnsignedLong(first) << Integer.SIZE | secondWord);
        VarHandle.fullFence();
    }

    private long poll(int count) {
        MemorySegment from = completions;
        long[] wanted = ids;
        int next = consumed;
        long sum = 0;
        for (int i = 0; i < count; i++) {
            long at = (long) (next & (completionCount - 1)) * completionBytes;
            int owner = await(from, at + COMPLETION_OWNER, (next & completionCount) == 0 ? 0 : 1);
            if (owner >> 4 != 0) {
                throw new IllegalStateException("completion " + next + " has opcode " + (owner >> 4));
            }
            sum += wanted[(short) SHORT.get(from, at + COMPLETION_COUNTER) & (wanted.length - 1)];
            next++;
        }
        consumed = next;
        INT.set(consumedRecord, 0L, next & 0xffffff);
        return sum;
    }

    private static int await(MemorySegment from, long at, int lap) {
        while (true) {
            int owner = Byte.toUnsignedInt((byte) BYTE.getAcquire(from, at));
            if ((owner & 1) == lap && owner >> 4 != NO_COMPLETION) {
                return owner;
            }
            Thread.onSpinWait();
        }
    }
}
