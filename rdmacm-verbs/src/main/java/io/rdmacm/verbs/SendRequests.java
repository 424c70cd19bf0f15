// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;

import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.life.LockGroup;

/**
 * A block of send work requests that is allocated once and posted any number of times: an array of
 * {@code struct ibv_send_wr} with their scatter/gather lists (ibv_post_send(3)). It may be used by one thread at a
 * time. It need not be closed: its memory is freed with the object.
 */
public final class SendRequests extends RequestBlock {
    private static final long SIZE = ibv_send_wr.sizeof();

    private final SendRequest[] requests;
    // the highest check level of its requests
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
     * Allocates a block.
     *
     * @param capacity the number of requests, at least 1
     * @param maxScatterGather the number of scatter/gather entries that each request has room for, at least 1
     * @return the block
     * @throws IllegalArgumentException if a number is less than 1, or the block would be too large
     * @throws OutOfMemoryError if the limit of native memory of the JVM (-XX:MaxDirectMemorySize) is reached
     */
    public static SendRequests allocate(int capacity, int maxScatterGather) {
        MemorySegment memory = allocate(SIZE, capacity, maxScatterGather);
        return new SendRequests(memory, new SendRequest[capacity], maxScatterGather);
    }

    /** {@return the number of requests} */
    public int capacity() {
        return capacity;
    }

    /** {@return the number of scatter/gather entries that each request has room for} */
    public int maxScatterGather() {
        return maxScatterGather;
    }

    /**
     * Returns one of the requests.
     *
     * @param index from 0 to one less than the capacity
     * @return the request, the same object for each call
     */
    public SendRequest get(int index) {
        return requests[Objects.checkIndex(index, requests.length)];
    }

    /**
     * Sets the id of one request, as {@link SendRequest#id} does: for tight loops over a block.
     *
     * @param index from 0 to one less than the capacity
     * @param workRequestId an arbitrary value, which the completion returns
     */
    public void id(int index, long workRequestId) {
        Memory.putLong(address, SIZE * Objects.checkIndex(index, capacity) + SendRequest.WR_ID, workRequestId);
        Reference.reachabilityFence(this);
    }

    /** From now on, requests of this block are checked at each post. */
    void checkAlways() {
        checkLevel = SendRequest.ALWAYS_CHECKED;
    }

    /**
     * Returns the highest check level of the requests: a queue whose own level is at least this high posts them
     * unchecked.
     */
    int checkLevel() {
        return checkLevel;
    }

    /**
     * Returns the first of some requests that {@link SendRequest#isChecked} is not true of, or the end. It is a loop of
     * its own, because a call in the loop would make the compiler read all fields anew for each request.
     */
    int firstUnchecked(int first, int end, LockGroup posts, int maxEntries, int maxInline) {
        long changes = posts.changes();
        int next = first;
        while (next < end && requests[next].isChecked(posts, changes, maxEntries, maxInline)) {
            next++;
        }
        return next;
    }

    /** Returns the address of a request. */
    long address(int index) {
        return address + SIZE * index;
    }

    /**
     * {@return the raw array of {@code struct ibv_send_wr}, followed by the scatter/gather lists; values written to it
     * are not checked, and posts overwrite the member {@code next}}
     */
    public MemorySegment memory() {
        return memory;
    }
}
