// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;

import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.internal.Memory;

/**
 * A block of send work requests, allocated once and posted as often as wanted: an array of {@code struct ibv_send_wr}
 * with their scatter lists. For one thread at a time. Needs no close: the memory goes with the object.
 */
public final class SendRequests {
    private static final long SIZE = ibv_send_wr.sizeof();
    private static final long WR_ID = ibv_send_wr.wr_id$offset();

    private final MemorySegment memory;
    private final long address;
    private final int capacity;
    private final SendRequest[] requests;
    private final int maxScatterGather;
    // which part is linked; nothing, when it may have changed since
    private int chainFirst;
    private int chainCount;
    // the most of what its requests have
    private int demand;

    private SendRequests(int capacity, int maxScatterGather) {
        long listSize = ScatterList.ENTRY * maxScatterGather;
        this.memory = Arena.ofAuto().allocate(ScatterList.blockBytes(SIZE, capacity, maxScatterGather), 64);
        this.address = memory.address();
        this.capacity = capacity;
        this.requests = new SendRequest[capacity];
        this.maxScatterGather = maxScatterGather;
        this.demand = maxScatterGather;
        long lists = address(capacity);
        for (int i = 0; i < capacity; i++) {
            requests[i] = new SendRequest(this, address(i), lists + listSize * i);
        }
    }

    /**
     * A block.
     *
     * @param capacity how many requests, at least 1
     * @param maxScatterGather how many scatter/gather entries each has room for, at least 1
     */
    public static SendRequests allocate(int capacity, int maxScatterGather) {
        if (capacity < 1 || maxScatterGather < 1) {
            throw new IllegalArgumentException("a block needs at least one request with one scatter/gather entry, not "
                    + capacity + " with " + maxScatterGather);
        }
        return new SendRequests(capacity, maxScatterGather);
    }

    /** How many requests there are. */
    public int capacity() {
        return capacity;
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
    public SendRequest get(int index) {
        return requests[Objects.checkIndex(index, requests.length)];
    }

    /**
     * Sets the id of one request, as {@link SendRequest#id} does: for tight loops over a block.
     *
     * @param index from 0 to one less than the capacity
     * @param workRequestId comes back with the completion
     */
    public void id(int index, long workRequestId) {
        Memory.putLong(address, SIZE * Objects.checkIndex(index, capacity) + WR_ID, workRequestId);
        Reference.reachabilityFence(this);
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

    /** From now on one of them is to be looked at. */
    void becomeSpecial() {
        demand = SendRequest.SPECIAL;
    }

    /** What a queue must take, so that a post needs no look at each of them. */
    int demand() {
        return demand;
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
     * The raw array of {@code struct ibv_send_wr}, with the scatter lists behind it. What is written there is not
     * checked by a post, and {@code next} belongs to the posts.
     */
    public MemorySegment memory() {
        return memory;
    }
}
