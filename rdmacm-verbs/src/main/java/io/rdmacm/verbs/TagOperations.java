// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.bindings.ibv_ops_wr;

/**
 * A block of operations on the list of tagged buffers of a shared receive queue, allocated once and posted as often as
 * wanted: an array of {@code struct ibv_ops_wr} with their scatter lists. For one thread at a time. Needs no close: the
 * memory goes with the object.
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
     * A block.
     *
     * @param capacity how many operations, at least 1
     * @param maxScatterGather how many scatter/gather entries each has room for, at least 1
     */
    public static TagOperations allocate(int capacity, int maxScatterGather) {
        if (capacity < 1 || maxScatterGather < 1) {
            throw new IllegalArgumentException("a block needs at least one operation with one scatter/gather entry,"
                    + " not " + capacity + " with " + maxScatterGather);
        }
        return new TagOperations(capacity, maxScatterGather);
    }

    /** How many operations there are. */
    public int capacity() {
        return operations.length;
    }

    /** How many scatter/gather entries each has room for. */
    public int maxScatterGather() {
        return maxScatterGather;
    }

    /**
     * One of the operations.
     *
     * @param index from 0 to one less than the capacity
     */
    public TagOperation get(int index) {
        return operations[Objects.checkIndex(index, operations.length)];
    }

    /** Links a part of the block into a chain, which is how C takes a batch. */
    void chain(int first, int count) {
        int last = first + count - 1;
        for (int i = first; i < last; i++) {
            operations[i].next(operations[i + 1].address());
        }
        operations[last].next(0);
    }

    /** Which operation is at an address. */
    int indexOf(long address) {
        return (int) ((address - memory.address()) / ibv_ops_wr.sizeof());
    }

    /** The raw array of {@code struct ibv_ops_wr}, with the scatter lists behind it. */
    public MemorySegment memory() {
        return memory;
    }
}
