// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The common part of blocks of send and of receive requests: an array of structs followed by their scatter/gather
 * lists, and the chain of requests that was last posted together.
 */
abstract sealed class RequestBlock permits SendRequests, ReceiveRequests {
    private static final int ALIGNMENT = 64;

    final MemorySegment memory;
    final long address;
    final int capacity;
    final int maxScatterGather;
    private final long structSize;
    private final long refusedAddress;
    private final WorkRequest<?>[] requests;
    private final long lists;
    // the requests that are linked to each other; none if the links may have changed since
    private int chainFirst;
    private int chainCount;

    /**
     * Creates a block.
     *
     * @param structSize the size of each struct in bytes
     * @param memory the memory from {@link #allocate}
     * @param requests an array that the subclass fills
     * @param maxScatterGather the number of scatter/gather entries that each request has room for
     */
    RequestBlock(long structSize, MemorySegment memory, WorkRequest<?>[] requests, int maxScatterGather) {
        long size = memory.byteSize() - Long.BYTES;
        this.memory = memory.asSlice(0, size);
        this.address = memory.address();
        this.capacity = requests.length;
        this.maxScatterGather = maxScatterGather;
        this.requests = requests;
        this.structSize = structSize;
        this.lists = address + structSize * capacity;
        this.refusedAddress = address + size;
    }

    /**
     * Allocates the memory of a block, zeroed.
     *
     * @throws IllegalArgumentException if the block would be empty or too large
     */
    static MemorySegment allocate(long structSize, int capacity, int maxScatterGather) {
        if (capacity < 1 || maxScatterGather < 1) {
            throw new IllegalArgumentException("a block needs at least one request with one scatter/gather entry, not "
                    + capacity + " with " + maxScatterGather);
        }
        return Arena.ofAuto().allocate(ScatterList.blockBytes(structSize, capacity, maxScatterGather) + Long.BYTES,
                ALIGNMENT);
    }

    /** Returns where C writes the address of a request that it refuses. */
    final long refusedAddress() {
        return refusedAddress;
    }

    /** Returns the index of the request that C has refused, of those that were posted together. */
    final int refused(int first, int count) {
        return SendQueue.refused(refusedAddress, address, structSize, first, count);
    }

    /** Returns the address of the scatter/gather list of a request. */
    final long listAddress(int index) {
        return lists + ScatterList.ENTRY * maxScatterGather * index;
    }

    /** Links consecutive requests into a chain, which is how C takes several of them. */
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

    /** Forgets the chain, because one of its requests was posted alone. */
    final void unchain() {
        chainCount = 0;
    }
}
