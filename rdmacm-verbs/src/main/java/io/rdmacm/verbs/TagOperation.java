// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ops_wr;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * One operation on the tag matching list of a shared receive queue of type TM ({@code struct ibv_ops_wr},
 * ibv_post_srq_ops(3)), part of a {@link TagOperations} block. The setters write to the struct in place, and the values
 * stay set for later posts. A new operation is a synchronisation without a count. It may be used by one thread at a
 * time.
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

    // the block's memory; a program that holds only the operation keeps it alive through this
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

    /**
     * Sets the work request id of the operation itself ({@code wr_id}).
     *
     * @param workRequestId an arbitrary value, which the completion of the operation returns
     * @return this operation
     */
    public TagOperation id(long workRequestId) {
        Memory.putLong(address + WR_ID, workRequestId);
        return this;
    }

    /**
     * Turns this operation into the addition of a tagged buffer ({@code IBV_WR_TAG_ADD}). The buffer receives a message
     * whose tag, ANDed with the mask, equals the tag given here.
     *
     * @param receiveId the work request id that the completion of the receive returns
     * @param tag the tag to match
     * @param mask the bits of a message's tag to compare
     * @return this operation
     */
    public TagOperation add(long receiveId, long tag, long mask) {
        Memory.putLong(address + RECV_WR_ID, receiveId);
        Memory.putLong(address + TAG, tag);
        Memory.putLong(address + MASK, mask);
        return opcode(Rdma.IBV_WR_TAG_ADD());
    }

    /**
     * Turns this operation into the removal of a tagged buffer ({@code IBV_WR_TAG_DEL}). If a message has already
     * consumed the buffer, the operation completes with the status TM_ERR.
     *
     * @param handle the {@link #handle()} of the operation that added it to the same queue; drivers do not check
     *        whether there is a buffer with this handle
     * @return this operation
     */
    public TagOperation delete(int handle) {
        Memory.putInt(address + HANDLE, handle);
        return opcode(Rdma.IBV_WR_TAG_DEL());
    }

    /**
     * Turns this operation into a synchronisation, which leaves the list unchanged and only reports the
     * {@link #unexpectedCount} ({@code IBV_WR_TAG_SYNC}).
     *
     * @return this operation
     */
    public TagOperation sync() {
        return opcode(Rdma.IBV_WR_TAG_SYNC());
    }

    /**
     * Reports the number of unexpected messages that the program has handled, along with this operation
     * ({@code IBV_OPS_TM_SYNC}).
     *
     * @param count the total number since the queue was created
     * @return this operation
     */
    public TagOperation unexpectedCount(int count) {
        Memory.putInt(address + UNEXPECTED, count);
        return flag(Rdma.IBV_OPS_TM_SYNC(), true);
    }

    /**
     * Sets whether the operation itself generates a completion ({@code IBV_OPS_SIGNALED}).
     *
     * @param on false by default
     * @return this operation
     */
    public TagOperation signaled(boolean on) {
        return flag(Rdma.IBV_OPS_SIGNALED(), on);
    }

    /**
     * Sets one entry of the scatter/gather list of an added buffer. The list ends with the entry that was set last.
     *
     * @param index the index of the entry; entries are set in order, from 0
     * @param region the memory region, which must be open and have {@link AccessFlag#LOCAL_WRITE}
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this operation
     * @throws IndexOutOfBoundsException if the range is not within the region, or the operation has no room for the
     *        entry
     * @throws IllegalArgumentException if the index would leave a gap
     */
    public TagOperation data(int index, MemoryRegion region, long offset, long length) {
        int entries = Memory.getInt(address + NUM_SGE);
        if (index > entries) {
            throw new IllegalArgumentException("entry " + index + " would leave a gap: the list has " + entries);
        }
        list.set(index, region, offset, length);
        Memory.putInt(address + NUM_SGE, index + 1);
        return this;
    }

    /**
     * {@return the handle by which {@link #delete} identifies the added buffer; valid once the operation has been
     * posted}
     */
    public int handle() {
        return Memory.getInt(address + HANDLE);
    }

    long address() {
        return address;
    }

    /** Refuses a handle that no operation of a queue can have: libmlx5 would write beyond its list. */
    void requireHandle(int maxTags) {
        if (Memory.getInt(address + OPCODE) == Rdma.IBV_WR_TAG_DEL() && (handle() < 0 || handle() > maxTags)) {
            throw new IllegalArgumentException("no tagged buffer of a queue with at most " + maxTags
                    + " has the handle " + handle());
        }
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
