// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.bindings.ibv_recv_wr;

/**
 * A block of receive work requests, allocated once and posted as often as wanted: an array of
 * {@code struct ibv_recv_wr} with their scatter lists. For one thread at a time. Needs no close: the memory goes with
 * the object.
 */
public final class ReceiveRequests {
    private static final long SIZE = ibv_recv_wr.sizeof();

    private final MemorySegment memory;
    private final long address;
    private final ReceiveRequest[] requests;
    private final int maxScatterGather;
    // which part is linked; nothing, when it may have changed since
    private int chainFirst;
    private int chainCount;

    private ReceiveRequests(int capacity, int maxScatterGather) {
        long listSize = ScatterList.ENTRY * maxScatterGather;
        this.memory = Arena.ofAuto().allocate(ScatterList.blockBytes(SIZE, capacity, maxScatterGather), 64);
        this.address = memory.address();
        this.requests = new ReceiveRequest[capacity];
        this.maxScatterGather = maxScatterGather;
        long lists = address(capacity);
        for (int i = 0; i < capacity; i++) {
            requests[i] = new ReceiveRequest(this, address(i), lists + listSize * i);
        }
    }

    /**
     * A block.
     *
     * @param capacity how many requests, at least 1
     * @param maxScatterGather how many scatter/gather entries each has room for, at least 1
     */
    public static ReceiveRequests allocate(int capacity, int maxScatterGather) {
        if (capacity < 1 || maxScatterGather < 1) {
            throw new IllegalArgumentException("a block needs at least one request with one scatter/gather entry, not "
                    + capacity + " with " + maxScatterGather);
        }
        return new ReceiveRequests(capacity, maxScatterGather);
    }

    /** How many requests there are. */
    public int capacity() {
        return requests.length;
    }

    /** How many scatter/gather entries each has room for. */
    public int maxScatterGather() {
        return maxScatterGather;
    }

    /**
     * One of the requests.
     *
     * @param index from 0 to one less than the capacity
     */
    public ReceiveRequest get(int index) {
        return requests[Objects.checkIndex(index, requests.length)];
    }

    /** Links a part of the block into a chain, which is how C takes a batch. */
    void chain(int first, int count) {
        if (first == chainFirst && count == chainCount) {
            return;
        }
        chainFirst = first;
        chainCount = count;
        int last = first + count - 1;
        for (int i = first; i < last; i++) {
            requests[i].follow(requests[i + 1].address());
        }
        requests[last].follow(0);
    }

    /** One of them was posted alone. */
    void unchain() {
        chainCount = 0;
    }

    /** Where a request is. */
    long address(int index) {
        return address + SIZE * index;
    }

    /** Which request is at an address. */
    int indexOf(long request) {
        return (int) ((request - address) / SIZE);
    }

    /**
     * The raw array of {@code struct ibv_recv_wr}, with the scatter lists behind it. What is written there is not
     * checked by a post, and {@code next} belongs to the posts.
     */
    public MemorySegment memory() {
        return memory;
    }
}
