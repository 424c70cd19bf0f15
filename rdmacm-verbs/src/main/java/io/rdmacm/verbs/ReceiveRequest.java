// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * One receive work request of a {@link ReceiveRequests} block ({@code struct ibv_recv_wr}, ibv_post_recv(3)): the
 * setters write the struct in place, and what is set stays for the next post. A new one has no memory and the id 0.
 *
 * <p>For one thread at a time. The request can be changed as soon as the post has returned; its memory belongs to the
 * device until the completion.
 */
public final class ReceiveRequest extends WorkRequest<ReceiveRequests> {
    ReceiveRequest(ReceiveRequests block, long address, long list) {
        super(block, address, list);
    }

    /** The id that comes back with the completion. */
    public ReceiveRequest id(long workRequestId) {
        Memory.putLong(address + WR_ID, workRequestId);
        return this;
    }

    /**
     * Where the message goes: one part of a region. The scatter list has one entry then.
     *
     * @param region open, with {@link AccessFlag#LOCAL_WRITE}
     * @param offset in bytes
     * @param length in bytes; for datagrams 40 more than the message, for the route header
     * @throws IllegalArgumentException also for a region without {@link AccessFlag#LOCAL_WRITE}
     */
    public ReceiveRequest data(MemoryRegion region, long offset, int length) {
        requireWritable(region);
        setData(region, offset, length);
        return this;
    }

    /**
     * One entry of the scatter list; the list ends with the one that was set last.
     *
     * @param index from 0 on, in order
     * @param region open, with {@link AccessFlag#LOCAL_WRITE}
     * @param offset in bytes
     * @param length in bytes
     * @throws IllegalArgumentException also for a region without {@link AccessFlag#LOCAL_WRITE}
     */
    public ReceiveRequest data(int index, MemoryRegion region, long offset, int length) {
        requireWritable(region);
        setData(index, region, offset, length);
        return this;
    }

    /** No memory at all: for messages that are empty but for their immediate value. */
    public ReceiveRequest noData() {
        clearData();
        return this;
    }

    // Else the message would be lost and the connection with it: the device reports a local protection error.
    private static void requireWritable(MemoryRegion region) {
        if (region.isReadOnlyForDevice()) {
            throw new IllegalArgumentException("a message cannot be received into a region without LOCAL_WRITE: "
                    + region);
        }
    }

    /** How many entries the scatter list has room for. */
    int maxEntries() {
        return list.capacity();
    }
}
