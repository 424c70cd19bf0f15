// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.bindings.ibv_recv_wr;

/**
 * A block of receive work requests that is allocated once and posted any number of times: an array of
 * {@code struct ibv_recv_wr} with their scatter/gather lists (ibv_post_recv(3)). It may be used by one thread at a
 * time. It need not be closed: its memory is freed with the object.
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
     * Allocates a block.
     *
     * @param capacity the number of requests, at least 1
     * @param maxScatterGather the number of scatter/gather entries that each request has room for, at least 1
     * @return the block
     * @throws IllegalArgumentException if a number is less than 1, or the block would be too large
     * @throws OutOfMemoryError if the limit of native memory of the JVM (-XX:MaxDirectMemorySize) is reached
     */
    public static ReceiveRequests allocate(int capacity, int maxScatterGather) {
        MemorySegment memory = allocate(SIZE, capacity, maxScatterGather);
        return new ReceiveRequests(memory, new ReceiveRequest[capacity], maxScatterGather);
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
    public ReceiveRequest get(int index) {
        return requests[Objects.checkIndex(index, requests.length)];
    }

    /** Returns the address of a request. */
    long address(int index) {
        return address + SIZE * index;
    }

    /**
     * {@return the raw array of {@code struct ibv_recv_wr}, followed by the scatter/gather lists; values written to it
     * are not checked, and posts overwrite the member {@code next}}
     */
    public MemorySegment memory() {
        return memory;
    }
}
