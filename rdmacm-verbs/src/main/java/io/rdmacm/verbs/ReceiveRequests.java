// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.bindings.ibv_recv_wr;

/**
 * A block of receive work requests, allocated once and posted as often as wanted: an array of
 * {@code struct ibv_recv_wr} with their scatter lists. For one thread at a time. Needs no close: the memory goes with
 * the object.
 */
public final class ReceiveRequests extends RequestBlock {
    private static final long SIZE = ibv_recv_wr.sizeof();

    private final ReceiveRequest[] requests;

    private ReceiveRequests(MemorySegment memory, ReceiveRequest[] requests, int maxScatterGather) {
        super(SIZE, memory, requests, maxScatterGather);
        this.requests = requests;
        for (int i = 0; i < capacity; i++) {
            requests[i] = new ReceiveRequest(this, address(i), listAddress(i));
        }
    }

    /**
     * A block.
     *
     * @param capacity how many requests, at least 1
     * @param maxScatterGather how many scatter/gather entries each has room for, at least 1
     */
    public static ReceiveRequests allocate(int capacity, int maxScatterGather) {
        MemorySegment memory = allocate(SIZE, capacity, maxScatterGather);
        return new ReceiveRequests(memory, new ReceiveRequest[capacity], maxScatterGather);
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
    public ReceiveRequest get(int index) {
        return requests[Objects.checkIndex(index, requests.length)];
    }

    /** The address of a request. */
    long address(int index) {
        return address + SIZE * index;
    }

    /** The index of the request at an address. */
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
