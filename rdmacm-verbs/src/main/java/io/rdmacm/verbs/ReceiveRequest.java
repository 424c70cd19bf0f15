// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * A receive work request of a {@link ReceiveRequests} block ({@code struct ibv_recv_wr}, ibv_post_recv(3)). The setters
 * write to the struct in place, and the values stay set for later posts. A new request has no memory, and the id 0.
 *
 * <p>A request may be used by one thread at a time. It can be changed as soon as the post has returned; its memory
 * belongs to the device until the completion.
 */
public final class ReceiveRequest extends WorkRequest<ReceiveRequests> {
    ReceiveRequest(ReceiveRequests block, long address, long list) {
        super(block, address, list);
    }

    /**
     * Sets the work request id ({@code wr_id}).
     *
     * @param workRequestId an arbitrary value, which the completion returns
     * @return this request
     */
    public ReceiveRequest id(long workRequestId) {
        Memory.putLong(address + WR_ID, workRequestId);
        return this;
    }

    /**
     * Receives the message into one part of a memory region. The scatter/gather list then has one entry.
     *
     * @param region the memory region, which must be open and have {@link AccessFlag#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes; for datagrams 40 more than the message, because the global route header
     *        precedes it
     * @return this request
     * @throws IndexOutOfBoundsException if the range is not within the region
     * @throws IllegalArgumentException if the region does not have {@link AccessFlag#LOCAL_WRITE}
     */
    public ReceiveRequest data(MemoryRegion region, long offset, long length) {
        requireWritable(region);
        setData(region, offset, length);
        return this;
    }

    /**
     * Sets one entry of the scatter/gather list. The list ends with the entry that was set last.
     *
     * @param index the index of the entry; entries are set in order, from 0
     * @param region the memory region, which must be open and have {@link AccessFlag#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this request
     * @throws IndexOutOfBoundsException if the range is not within the region, or the request has no room for the entry
     * @throws IllegalArgumentException if the region does not have {@link AccessFlag#LOCAL_WRITE}, or the index would
     *        leave a gap
     */
    public ReceiveRequest data(int index, MemoryRegion region, long offset, long length) {
        requireWritable(region);
        setData(index, region, offset, length);
        return this;
    }

    /**
     * Removes the memory: for messages that consist of an immediate value only.
     *
     * @return this request
     */
    public ReceiveRequest noData() {
        clearData();
        return this;
    }

    // Otherwise the device would report a local protection error, and the message and the connection would be lost.
    private static void requireWritable(MemoryRegion region) {
        if (region.isReadOnlyForDevice()) {
            throw new IllegalArgumentException("a message cannot be received into a region without LOCAL_WRITE: "
                    + region);
        }
    }

    /** Returns the number of entries that the scatter/gather list has room for. */
    int maxEntries() {
        return list.capacity();
    }
}
