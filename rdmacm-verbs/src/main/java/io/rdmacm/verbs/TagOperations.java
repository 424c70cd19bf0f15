// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.bindings.ibv_ops_wr;

/**
 * A block of operations on the tag matching list of a shared receive queue, allocated once and posted any number of
 * times: an array of {@code struct ibv_ops_wr} with their scatter/gather lists (ibv_post_srq_ops(3)). It may be used by
 * one thread at a time. It need not be closed: its memory is freed with the object.
 */
public final class TagOperations {
    private final MemorySegment memory;
    private final TagOperation[] operations;
    private final int maxScatterGather;

    private TagOperations(int capacity, int maxScatterGather) {
        long size = ibv_ops_wr.sizeof();
        long listSize = ScatterList.ENTRY * maxScatterGather;
        this.memory = Arena.ofAuto().allocate(ScatterList.blockBytes(size, capacity, maxScatterGather), 64);
        this.operations = new TagOperation[capacity];
        this.maxScatterGather = maxScatterGather;
        long lists = memory.address() + size * capacity;
        for (int i = 0; i < capacity; i++) {
            operations[i] = new TagOperation(memory, memory.address() + size * i, lists + listSize * i,
                    maxScatterGather);
        }
    }

    /**
     * Allocates a block.
     *
     * @param capacity the number of operations, at least 1
     * @param maxScatterGather the number of scatter/gather entries that each operation has room for, at least 1
     * @return the block
     * @throws IllegalArgumentException if a number is less than 1, or the block would be too large
     * @throws OutOfMemoryError if the limit of native memory of the JVM (-XX:MaxDirectMemorySize) is reached
     */
    public static TagOperations allocate(int capacity, int maxScatterGather) {
        if (capacity < 1 || maxScatterGather < 1) {
            throw new IllegalArgumentException("a block needs at least one operation with one scatter/gather entry,"
                    + " not " + capacity + " with " + maxScatterGather);
        }
        return new TagOperations(capacity, maxScatterGather);
    }

    /** {@return the number of operations} */
    public int capacity() {
        return operations.length;
    }

    /** {@return the number of scatter/gather entries that each operation has room for} */
    public int maxScatterGather() {
        return maxScatterGather;
    }

    /**
     * Returns one of the operations.
     *
     * @param index from 0 to one less than the capacity
     * @return the operation, the same object for each call
     */
    public TagOperation get(int index) {
        return operations[Objects.checkIndex(index, operations.length)];
    }

    /** Checks consecutive operations, and links them into a chain, which is how C takes several of them. */
    void prepare(int first, int count, int maxTags) {
        int last = first + count - 1;
        for (int i = first; i <= last; i++) {
            operations[i].requireHandle(maxTags);
            operations[i].next(i < last ? operations[i + 1].address() : 0);
        }
    }

    /** Returns the index of the operation whose address C has written, of those that were posted together. */
    int refused(long refusedAddress, int first, int count) {
        return SendQueue.refused(refusedAddress, memory.address(), ibv_ops_wr.sizeof(), first, count);
    }

    /**
     * {@return the raw array of {@code struct ibv_ops_wr}, followed by the scatter/gather lists; values written to it
     * are not checked, and posts overwrite the member {@code next}}
     */
    public MemorySegment memory() {
        return memory;
    }
}
