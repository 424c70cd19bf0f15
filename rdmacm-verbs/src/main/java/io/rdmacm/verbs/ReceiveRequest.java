// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.ibv_recv_wr;
import io.rdmacm.verbs.internal.Memory;

/**
 * One receive work request of a {@link ReceiveRequests} block ({@code struct ibv_recv_wr}, ibv_post_recv(3)): the
 * setters write the struct in place, and what is set stays for the next post. A new one has no memory and the id 0.
 *
 * <p>For one thread at a time. The request can be changed as soon as the post has returned; its memory belongs to the
 * device until the completion.
 */
public final class ReceiveRequest {
    private static final long WR_ID = ibv_recv_wr.wr_id$offset();
    private static final long NEXT = ibv_recv_wr.next$offset();
    private static final long SG_LIST = ibv_recv_wr.sg_list$offset();
    private static final long NUM_SGE = ibv_recv_wr.num_sge$offset();

    // has the memory; a request that is held alone keeps it alive
    private final ReceiveRequests block;
    private final long address;
    private final ScatterList list;
    private boolean chained;

    ReceiveRequest(ReceiveRequests block, long address, long list) {
        this.block = block;
        this.address = address;
        this.list = new ScatterList(list, block.maxScatterGather());
        Memory.putLong(address + SG_LIST, list);
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
        list.set(0, region, offset, length);
        Memory.putInt(address + NUM_SGE, 1);
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
        if (index > entries()) {
            throw new IllegalArgumentException("entry " + index + " would leave a gap: the list has " + entries());
        }
        requireWritable(region);
        list.set(index, region, offset, length);
        Memory.putInt(address + NUM_SGE, index + 1);
        return this;
    }

    /** No memory at all: for messages that are empty but for their immediate value. */
    public ReceiveRequest noData() {
        Memory.putInt(address + NUM_SGE, 0);
        return this;
    }

    // Else the message would be lost and the connection with it: the device reports a local protection error.
    private static void requireWritable(MemoryRegion region) {
        if (region.isReadOnlyForDevice()) {
            throw new IllegalArgumentException("a message cannot be received into a region without LOCAL_WRITE: "
                    + region);
        }
    }

    long address() {
        return address;
    }

    int entries() {
        return Memory.getInt(address + NUM_SGE);
    }

    int maxEntries() {
        return list.capacity();
    }

    /** Links it with the one that is posted behind it, or none. */
    void follow(long request) {
        Memory.putLong(address + NEXT, request);
        chained = request != 0;
    }

    /** To be posted without those behind it. */
    void unchain() {
        if (chained) {
            follow(0);
            block.unchain();
        }
    }
}
