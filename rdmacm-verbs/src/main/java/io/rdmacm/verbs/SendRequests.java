// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;

import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * A block of send work requests, allocated once and posted as often as wanted: an array of {@code struct ibv_send_wr}
 * with their scatter lists. For one thread at a time. Needs no close: the memory goes with the object.
 */
public final class SendRequests extends RequestBlock {
    private static final long SIZE = ibv_send_wr.sizeof();

    private final SendRequest[] requests;
    // the highest of its requests
    private int checkLevel;

    private SendRequests(MemorySegment memory, SendRequest[] requests, int maxScatterGather) {
        super(SIZE, memory, requests, maxScatterGather);
        this.requests = requests;
        this.checkLevel = maxScatterGather;
        for (int i = 0; i < capacity; i++) {
            requests[i] = new SendRequest(this, address(i), listAddress(i));
        }
    }

    /**
     * A block.
     *
     * @param capacity how many requests, at least 1
     * @param maxScatterGather how many scatter/gather entries each has room for, at least 1
     */
    public static SendRequests allocate(int capacity, int maxScatterGather) {
        MemorySegment memory = allocate(SIZE, capacity, maxScatterGather);
        return new SendRequests(memory, new SendRequest[capacity], maxScatterGather);
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
        Memory.putLong(address, SIZE * Objects.checkIndex(index, capacity) + SendRequest.WR_ID, workRequestId);
        Reference.reachabilityFence(this);
    }

    /** From now on its requests are checked at each post. */
    void checkAlways() {
        checkLevel = SendRequest.ALWAYS_CHECKED;
    }

    /** The highest level of its requests: a queue whose own is at least this high posts all of them unchecked. */
    int checkLevel() {
        return checkLevel;
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
     * The raw array of {@code struct ibv_send_wr}, with the scatter lists behind it. What is written there is not
     * checked by a post, and {@code next} belongs to the posts.
     */
    public MemorySegment memory() {
        return memory;
    }
}
