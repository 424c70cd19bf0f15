// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.bindings.ibv_send_wr;

/**
 * A block of send work requests, allocated once and posted as often as wanted: an array of {@code struct ibv_send_wr}
 * with their scatter lists. For one thread at a time. Needs no close: the memory goes with the object.
 */
public final class SendRequests {
    private final MemorySegment memory;
    private final SendRequest[] requests;
    private final int maxScatterGather;

    private SendRequests(int capacity, int maxScatterGather) {
        long size = ibv_send_wr.sizeof();
        long listSize = ScatterList.ENTRY * maxScatterGather;
        this.memory = Arena.ofAuto().allocate((size + listSize) * capacity, 64);
        this.requests = new SendRequest[capacity];
        this.maxScatterGather = maxScatterGather;
        long lists = memory.address() + size * capacity;
        for (int i = 0; i < capacity; i++) {
            requests[i] = new SendRequest(memory, memory.address() + size * i, lists + listSize * i, maxScatterGather);
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
    public SendRequest get(int index) {
        return requests[Objects.checkIndex(index, requests.length)];
    }

    /** Links a part of the block into a chain, which is how C takes a batch. */
    void chain(int first, int count) {
        int last = first + count - 1;
        for (int i = first; i < last; i++) {
            requests[i].next(requests[i + 1].address());
        }
        requests[last].next(0);
    }

    /** Which request is at an address. */
    int indexOf(long address) {
        return (int) ((address - memory.address()) / ibv_send_wr.sizeof());
    }

    /** The raw array of {@code struct ibv_send_wr}, with the scatter lists behind it. */
    public MemorySegment memory() {
        return memory;
    }
}
