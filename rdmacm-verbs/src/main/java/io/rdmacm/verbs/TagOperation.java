// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ops_wr;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * One operation on the list of tagged buffers of a shared receive queue ({@code struct ibv_ops_wr},
 * ibv_post_srq_ops(3)), part of a {@link TagOperations} block: the setters write the struct in place. A new one is a
 * synchronisation without a count. For one thread at a time.
 */
public final class TagOperation {
    private static final long WR_ID = ibv_ops_wr.wr_id$offset();
    private static final long NEXT = ibv_ops_wr.next$offset();
    private static final long OPCODE = ibv_ops_wr.opcode$offset();
    private static final long FLAGS = ibv_ops_wr.flags$offset();
    private static final long UNEXPECTED = ibv_ops_wr.tm$offset() + ibv_ops_wr.tm.unexpected_cnt$offset();
    private static final long HANDLE = ibv_ops_wr.tm$offset() + ibv_ops_wr.tm.handle$offset();
    private static final long ADD = ibv_ops_wr.tm$offset() + ibv_ops_wr.tm.add$offset();
    private static final long RECV_WR_ID = ADD + ibv_ops_wr.tm.add.recv_wr_id$offset();
    private static final long SG_LIST = ADD + ibv_ops_wr.tm.add.sg_list$offset();
    private static final long NUM_SGE = ADD + ibv_ops_wr.tm.add.num_sge$offset();
    private static final long TAG = ADD + ibv_ops_wr.tm.add.tag$offset();
    private static final long MASK = ADD + ibv_ops_wr.tm.add.mask$offset();

    // the block's; an operation that is held alone keeps it alive
    private final MemorySegment memory;
    private final long address;
    private final ScatterList list;

    TagOperation(MemorySegment memory, long address, long list, int maxScatterGather) {
        this.memory = memory;
        this.address = address;
        this.list = new ScatterList(list, maxScatterGather);
        Memory.putLong(address + SG_LIST, list);
        opcode(Rdma.IBV_WR_TAG_SYNC());
    }

    /** The id that comes back with the completion of the operation itself. */
    public TagOperation id(long workRequestId) {
        Memory.putLong(address + WR_ID, workRequestId);
        return this;
    }

    /**
     * Adds a buffer: a message goes there when its tag, and-ed with the mask, is the tag.
     *
     * @param receiveId the id that comes back with the completion of the receive
     * @param tag what is looked for
     * @param mask which bits of it count
     */
    public TagOperation add(long receiveId, long tag, long mask) {
        Memory.putLong(address + RECV_WR_ID, receiveId);
        Memory.putLong(address + TAG, tag);
        Memory.putLong(address + MASK, mask);
        return opcode(Rdma.IBV_WR_TAG_ADD());
    }

    /**
     * Removes a buffer.
     *
     * @param handle of the operation that added it
     */
    public TagOperation delete(int handle) {
        Memory.putInt(address + HANDLE, handle);
        return opcode(Rdma.IBV_WR_TAG_DEL());
    }

    /** Changes nothing in the list: to tell {@link #unexpectedCount} only. */
    public TagOperation sync() {
        return opcode(Rdma.IBV_WR_TAG_SYNC());
    }

    /**
     * Tells the device, with this operation, how many unexpected messages the program has handled.
     *
     * @param count all of them since the queue was made
     */
    public TagOperation unexpectedCount(int count) {
        Memory.putInt(address + UNEXPECTED, count);
        return flag(Rdma.IBV_OPS_TM_SYNC(), true);
    }

    /** Whether the operation itself gives a completion. */
    public TagOperation signaled(boolean on) {
        return flag(Rdma.IBV_OPS_SIGNALED(), on);
    }

    /**
     * One entry of the scatter list of an added buffer; the list ends with the one that was set last.
     *
     * @param index from 0 on, in order
     * @param region open, with {@link AccessFlag#LOCAL_WRITE}
     * @param offset in bytes
     * @param length in bytes
     */
    public TagOperation data(int index, MemoryRegion region, long offset, int length) {
        int entries = Memory.getInt(address + NUM_SGE);
        if (index > entries) {
            throw new IllegalArgumentException("entry " + index + " would leave a gap: the list has " + entries);
        }
        list.set(index, region, offset, length);
        Memory.putInt(address + NUM_SGE, index + 1);
        return this;
    }

    /** What the device named the added buffer, for {@link #delete}; valid when the operation was posted. */
    public int handle() {
        return Memory.getInt(address + HANDLE);
    }

    long address() {
        return address;
    }

    void next(long operation) {
        Memory.putLong(address + NEXT, operation);
    }

    private TagOperation opcode(int opcode) {
        Memory.putInt(address + OPCODE, opcode);
        return this;
    }

    private TagOperation flag(int bit, boolean on) {
        int flags = Memory.getInt(address + FLAGS);
        Memory.putInt(address + FLAGS, on ? flags | bit : flags & ~bit);
        return this;
    }
}
