// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * What a block of send requests and one of receive requests have in common: an array of structs with their scatter
 * lists behind it, and the chain in which a part of it was posted last.
 */
abstract sealed class RequestBlock permits SendRequests, ReceiveRequests {
    private static final int ALIGNMENT = 64;

    final MemorySegment memory;
    final long address;
    final int capacity;
    final int maxScatterGather;
    private final WorkRequest<?>[] requests;
    private final long lists;
    // the part that is linked; none when the links may have changed since
    private int chainFirst;
    private int chainCount;

    /**
     * A block.
     *
     * @param structSize how many bytes each struct takes
     * @param memory from {@link #allocate}
     * @param requests to be filled by the subclass
     * @param maxScatterGather how many scatter/gather entries each has room for
     */
    RequestBlock(long structSize, MemorySegment memory, WorkRequest<?>[] requests, int maxScatterGather) {
        this.memory = memory;
        this.address = memory.address();
        this.capacity = requests.length;
        this.maxScatterGather = maxScatterGather;
        this.requests = requests;
        this.lists = address + structSize * capacity;
    }

    /**
     * The memory of a block, zeroed.
     *
     * @throws IllegalArgumentException when the block would be empty or too large
     */
    static MemorySegment allocate(long structSize, int capacity, int maxScatterGather) {
        if (capacity < 1 || maxScatterGather < 1) {
            throw new IllegalArgumentException("a block needs at least one request with one scatter/gather entry, not "
                    + capacity + " with " + maxScatterGather);
        }
        return Arena.ofAuto().allocate(ScatterList.blockBytes(structSize, capacity, maxScatterGather), ALIGNMENT);
    }

    /** The address of the scatter list of a request. */
    final long listAddress(int index) {
        return lists + ScatterList.ENTRY * maxScatterGather * index;
    }

    /** Links a part of the block into a chain, which is how C takes a batch. */
    final void chain(int first, int count) {
        if (first == chainFirst && count == chainCount) {
            return;
        }
        chainFirst = first;
        chainCount = count;
        int last = first + count - 1;
        for (int i = first; i < last; i++) {
            requests[i].linkTo(requests[i + 1].address());
        }
        requests[last].linkTo(0);
    }

    /** Forgets the chain: one of its requests was posted alone. */
    final void unchain() {
        chainCount = 0;
    }
}
