// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.ibv_recv_wr;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * What a send and a receive work request have in common: {@code struct ibv_send_wr} begins as
 * {@code struct ibv_recv_wr} does, with the id, the next request and the scatter list.
 *
 * @param <B> the block that it belongs to
 */
abstract sealed class WorkRequest<B extends RequestBlock> permits SendRequest, ReceiveRequest {
    static final long WR_ID = ibv_recv_wr.wr_id$offset();

    private static final long NEXT = ibv_recv_wr.next$offset();
    private static final long SG_LIST = ibv_recv_wr.sg_list$offset();
    private static final long NUM_SGE = ibv_recv_wr.num_sge$offset();

    // has the memory; a request that is held alone keeps it alive
    final B block;
    final long address;
    final ScatterList list;
    private boolean chained;

    /**
     * A request.
     *
     * @param block which has its memory
     * @param address of its struct
     * @param list the address of its scatter list
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

    /** How many entries the scatter list has now. */
    final int entries() {
        return Memory.getInt(address + NUM_SGE);
    }

    /** Makes a part of a region the whole scatter list. */
    final void setData(MemoryRegion region, long offset, int length) {
        list.set(0, region, offset, length);
        Memory.putInt(address + NUM_SGE, 1);
    }

    /** Sets an entry of the scatter list, which ends with it. */
    final void setData(int index, MemoryRegion region, long offset, int length) {
        if (index > entries()) {
            throw new IllegalArgumentException("entry " + index + " would leave a gap: the list has " + entries());
        }
        list.set(index, region, offset, length);
        Memory.putInt(address + NUM_SGE, index + 1);
    }

    /** Empties the scatter list. */
    final void clearData() {
        Memory.putInt(address + NUM_SGE, 0);
    }

    /**
     * Links it to the request that is posted after it.
     *
     * @param next its address; 0 for none
     */
    final void linkTo(long next) {
        Memory.putLong(address + NEXT, next);
        chained = next != 0;
    }

    /** Unlinks it from the request after it, to be posted alone. */
    final void unchain() {
        if (chained) {
            linkTo(0);
            block.unchain();
        }
    }
}
