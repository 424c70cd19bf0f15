// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.ibv_recv_wr;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * The common part of send and receive work requests: {@code struct ibv_send_wr} starts with the members of
 * {@code struct ibv_recv_wr}, which are the id, the next request and the scatter/gather list.
 *
 * @param <B> the block that the request belongs to
 */
abstract sealed class WorkRequest<B extends RequestBlock> permits SendRequest, ReceiveRequest {
    static final long WR_ID = ibv_recv_wr.wr_id$offset();

    private static final long NEXT = ibv_recv_wr.next$offset();
    private static final long SG_LIST = ibv_recv_wr.sg_list$offset();
    private static final long NUM_SGE = ibv_recv_wr.num_sge$offset();

    // owns the memory; a program that holds only the request keeps it alive through this
    final B block;
    final long address;
    final ScatterList list;
    private boolean chained;

    /**
     * Creates a request.
     *
     * @param block the block that owns its memory
     * @param address the address of its struct
     * @param list the address of its scatter/gather list
     */
    WorkRequest(B block, long address, long list) {
        this.block = block;
        this.address = address;
        this.list = new ScatterList(list, block.maxScatterGather);
        Memory.putLong(address + SG_LIST, list);
    }

    final long address() {
        return address;
    }

    /** Returns where C writes the address of a request that it refuses. */
    final long refusedAddress() {
        return block.refusedAddress();
    }

    /** Forgets which request C has refused, because it was this one. */
    final void forgetRefused() {
        block.refused(0, 1);
    }

    /** Returns the current number of entries in the scatter/gather list. */
    final int entries() {
        return Memory.getInt(address, NUM_SGE);
    }

    /** Makes one part of a region the whole scatter/gather list. */
    final void setData(MemoryRegion region, long offset, long length) {
        list.set(0, region, offset, length);
        Memory.putInt(address + NUM_SGE, 1);
    }

    /** Sets an entry of the scatter/gather list, which then ends with it. */
    final void setData(int index, MemoryRegion region, long offset, long length) {
        if (index > entries()) {
            throw new IllegalArgumentException("entry " + index + " would leave a gap: the list has " + entries());
        }
        list.set(index, region, offset, length);
        Memory.putInt(address + NUM_SGE, index + 1);
    }

    /** Empties the scatter/gather list. */
    final void clearData() {
        Memory.putInt(address + NUM_SGE, 0);
    }

    /**
     * Links this request to the one that is posted after it.
     *
     * @param next the address of the next request; 0 for none
     */
    final void linkTo(long next) {
        Memory.putLong(address + NEXT, next);
        chained = next != 0;
    }

    /** Unlinks this request from the next one, so that it is posted alone. */
    final void unchain() {
        if (chained) {
            linkTo(0);
            block.unchain();
        }
    }
}
