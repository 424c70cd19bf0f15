// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.internal.life.LockGroup;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.SendOpcode;
import org.jspecify.annotations.Nullable;

/**
 * A send work request of a {@link SendRequests} block ({@code struct ibv_send_wr}, ibv_post_send(3)). The setters write
 * to the struct in place, and the values stay set for later posts. A new request is a signaled send without data, with
 * the id 0.
 *
 * <p>A request may be used by one thread at a time. It can be changed as soon as the post has returned, but its data
 * only after the completion; inline data can be changed after the post.
 */
public final class SendRequest extends WorkRequest<SendRequests> {
    /** The check level of requests that every queue checks. */
    static final int ALWAYS_CHECKED = Integer.MAX_VALUE;

    private static final long OPCODE = ibv_send_wr.opcode$offset();
    private static final long SEND_FLAGS = ibv_send_wr.send_flags$offset();
    private static final long IMM_DATA = ibv_send_wr.imm_data$offset();
    private static final long INVALIDATE_RKEY = ibv_send_wr.invalidate_rkey$offset();
    private static final long WR = ibv_send_wr.wr$offset();
    private static final long RDMA = WR + ibv_send_wr.wr.rdma$offset();
    private static final long RDMA_ADDR = RDMA + ibv_send_wr.wr.rdma.remote_addr$offset();
    private static final long RDMA_RKEY = RDMA + ibv_send_wr.wr.rdma.rkey$offset();
    private static final long ATOMIC = WR + ibv_send_wr.wr.atomic$offset();
    private static final long ATOMIC_ADDR = ATOMIC + ibv_send_wr.wr.atomic.remote_addr$offset();
    private static final long ATOMIC_COMPARE_ADD = ATOMIC + ibv_send_wr.wr.atomic.compare_add$offset();
    private static final long ATOMIC_SWAP = ATOMIC + ibv_send_wr.wr.atomic.swap$offset();
    private static final long ATOMIC_RKEY = ATOMIC + ibv_send_wr.wr.atomic.rkey$offset();
    private static final long UD = WR + ibv_send_wr.wr.ud$offset();
    private static final long UD_AH = UD + ibv_send_wr.wr.ud.ah$offset();
    private static final long UD_QPN = UD + ibv_send_wr.wr.ud.remote_qpn$offset();
    private static final long UD_QKEY = UD + ibv_send_wr.wr.ud.remote_qkey$offset();
    private static final long NEVER = -1;
    private static final int QUEUE_PAIR_NUMBER_BITS = 24;
    private static final long REMOTE_SRQN = ibv_send_wr.qp_type$offset() + ibv_send_wr.qp_type.xrc$offset()
            + ibv_send_wr.qp_type.xrc.remote_srqn$offset();
    private static final int INLINE = Rdma.IBV_SEND_INLINE();

    // the address handle in wr.ud; null if another member of the union has been set since
    private @Nullable AddressHandle destination;
    // the bind in bind_mw; null for all other opcodes
    private @Nullable WindowBind windowBind;
    // null until tso is called for the first time
    private @Nullable Tso tso;
    private boolean segmented;
    private int checkLevel;
    // For which posts the inline data was last found to be readable, when (see LockGroup.changes()), and its length.
    private @Nullable LockGroup checkedFor;
    private long checkedAt = NEVER;
    private long inlineBytes;

    SendRequest(SendRequests block, long address, long list) {
        super(block, address, list);
        this.checkLevel = block.maxScatterGather();
        send().signaled(true);
    }

    /**
     * Sets the work request id ({@code wr_id}).
     *
     * @param workRequestId an arbitrary value, which the completion returns
     * @return this request
     */
    public SendRequest id(long workRequestId) {
        Memory.putLong(address, WR_ID, workRequestId);
        return this;
    }

    /**
     * Turns this request into a send: a message that consumes one of the peer's receives ({@code IBV_WR_SEND}).
     *
     * @return this request
     */
    public SendRequest send() {
        return opcode(SendOpcode.SEND);
    }

    /**
     * Turns this request into a send with an immediate value ({@code IBV_WR_SEND_WITH_IMM}).
     *
     * @param immediate the value, in the byte order of the machine; it is sent in network byte order
     * @return this request
     */
    public SendRequest sendWithImmediate(int immediate) {
        Memory.putInt(address + IMM_DATA, NetworkOrder.toNetwork(immediate));
        return opcode(SendOpcode.SEND_WITH_IMM);
    }

    /**
     * Turns this request into a send that invalidates one of the peer's remote keys ({@code IBV_WR_SEND_WITH_INV}).
     *
     * @param remoteKey the remote key of a memory window of the peer
     * @return this request
     */
    public SendRequest sendWithInvalidate(int remoteKey) {
        Memory.putInt(address + INVALIDATE_RKEY, remoteKey);
        return opcode(SendOpcode.SEND_WITH_INV);
    }

    /**
     * Turns this request into a write of the data to the peer's memory ({@code IBV_WR_RDMA_WRITE}).
     *
     * @param remoteAddress the address to write to
     * @param remoteKey the remote key of the peer's memory region or window
     * @return this request
     */
    public SendRequest rdmaWrite(long remoteAddress, int remoteKey) {
        return rdma(SendOpcode.RDMA_WRITE, remoteAddress, remoteKey);
    }

    /**
     * Like {@link #rdmaWrite(long, int)}; the data is not compared with the length of the memory.
     *
     * @param remote the memory to write to, from its first byte on
     * @return this request
     */
    public SendRequest rdmaWrite(RemoteMemory remote) {
        return rdmaWrite(remote.address(), remote.key());
    }

    /**
     * Turns this request into a write of the data to the peer's memory that also consumes one of the peer's receives,
     * whose completion contains an immediate value ({@code IBV_WR_RDMA_WRITE_WITH_IMM}).
     *
     * @param remoteAddress the address to write to
     * @param remoteKey the remote key of the peer's memory region or window
     * @param immediate the value, in the byte order of the machine; it is sent in network byte order
     * @return this request
     */
    public SendRequest rdmaWriteWithImmediate(long remoteAddress, int remoteKey, int immediate) {
        Memory.putInt(address + IMM_DATA, NetworkOrder.toNetwork(immediate));
        return rdma(SendOpcode.RDMA_WRITE_WITH_IMM, remoteAddress, remoteKey);
    }

    /**
     * Like {@link #rdmaWriteWithImmediate(long, int, int)}; the data is not compared with the length of the memory.
     *
     * @param remote the memory to write to, from its first byte on
     * @param immediate the value, in the byte order of the machine
     * @return this request
     */
    public SendRequest rdmaWriteWithImmediate(RemoteMemory remote, int immediate) {
        return rdmaWriteWithImmediate(remote.address(), remote.key(), immediate);
    }

    /**
     * Turns this request into a read from the peer's memory into the scatter/gather list ({@code IBV_WR_RDMA_READ}).
     *
     * @param remoteAddress the address to read from
     * @param remoteKey the remote key of the peer's memory region or window
     * @return this request
     */
    public SendRequest rdmaRead(long remoteAddress, int remoteKey) {
        return rdma(SendOpcode.RDMA_READ, remoteAddress, remoteKey);
    }

    /**
     * Like {@link #rdmaRead(long, int)}; the data is not compared with the length of the memory.
     *
     * @param remote the memory to read from, from its first byte on
     * @return this request
     */
    public SendRequest rdmaRead(RemoteMemory remote) {
        return rdmaRead(remote.address(), remote.key());
    }

    /**
     * Turns this request into an atomic compare-and-swap: 8 bytes of the peer's memory are replaced if they have the
     * expected value ({@code IBV_WR_ATOMIC_CMP_AND_SWP}). Their original value is written to the scatter/gather list,
     * in the byte order of the machine.
     *
     * @param remoteAddress the address of the 8 bytes, a multiple of 8
     * @param remoteKey the remote key of the peer's memory region or window
     * @param compare the expected value
     * @param swap the value that replaces it
     * @return this request
     */
    public SendRequest compareAndSwap(long remoteAddress, int remoteKey, long compare, long swap) {
        Memory.putLong(address + ATOMIC_SWAP, swap);
        return atomic(SendOpcode.ATOMIC_CMP_AND_SWP, remoteAddress, remoteKey, compare);
    }

    /**
     * Like {@link #compareAndSwap(long, int, long, long)}.
     *
     * @param remote the memory, whose first 8 bytes are meant
     * @param compare the expected value
     * @param swap the value that replaces it
     * @return this request
     * @throws IndexOutOfBoundsException if it is shorter
     */
    public SendRequest compareAndSwap(RemoteMemory remote, long compare, long swap) {
        return compareAndSwap(remote.addressOf(0, Long.BYTES), remote.key(), compare, swap);
    }

    /**
     * Turns this request into an atomic fetch-and-add on 8 bytes of the peer's memory
     * ({@code IBV_WR_ATOMIC_FETCH_AND_ADD}). Their original value is written to the scatter/gather list, in the byte
     * order of the machine.
     *
     * @param remoteAddress the address of the 8 bytes, a multiple of 8
     * @param remoteKey the remote key of the peer's memory region or window
     * @param add the value to add
     * @return this request
     */
    public SendRequest fetchAndAdd(long remoteAddress, int remoteKey, long add) {
        return atomic(SendOpcode.ATOMIC_FETCH_AND_ADD, remoteAddress, remoteKey, add);
    }

    /**
     * Like {@link #fetchAndAdd(long, int, long)}.
     *
     * @param remote the memory, whose first 8 bytes are meant
     * @param add the value to add
     * @return this request
     * @throws IndexOutOfBoundsException if it is shorter
     */
    public SendRequest fetchAndAdd(RemoteMemory remote, long add) {
        return fetchAndAdd(remote.addressOf(0, Long.BYTES), remote.key(), add);
    }

    /**
     * Turns this request into the invalidation of a local key ({@code IBV_WR_LOCAL_INV}). It carries no data.
     *
     * @param key the remote key of a memory window or memory region of this side
     * @return this request
     */
    public SendRequest localInvalidate(int key) {
        Memory.putInt(address + INVALIDATE_RKEY, key);
        return opcode(SendOpcode.LOCAL_INV);
    }

    /**
     * Turns this request into the bind of a type 2 memory window to a part of a memory region ({@code IBV_WR_BIND_MW}).
     * The window has the new key as soon as the post has succeeded; the peer may use it after the completion.
     *
     * @param window the window, of the protection domain of the queue pair; must be open when the request is posted
     * @param remoteKey the new key of the window: {@link MemoryWindow#incrementKey} of the current one
     * @param binding the part of a memory region of the same protection domain, which must be open when the request is
     *        posted
     * @return this request
     * @throws IllegalArgumentException if the window is not of type 2, or the region belongs to another protection
     *        domain
     */
    public SendRequest bindMemoryWindow(MemoryWindow window, int remoteKey, MemoryWindowBinding binding) {
        WindowBind bind = WindowBind.inRequest(address, window, remoteKey, binding);
        // drivers refuse a bind with data or an immediate value
        noData();
        Memory.putInt(address + IMM_DATA, 0);
        opcode(SendOpcode.BIND_MW);
        windowBind = bind;
        checkAlways();
        return this;
    }

    /**
     * Turns this request into a segmented send: the device splits a TCP stream, which is the data of the request, into
     * packets ({@code IBV_WR_TSO}). Only for types UD and RAW_PACKET, on devices that support it:
     * {@link DeviceAttributesEx.Tso}.
     *
     * @param headers the headers of all layers up to and including TCP, which precede each packet; they are copied.
     *        When the request is posted, they must not be longer than the
     *        {@link QueuePairInitAttributes#maxTsoHeader()} of the queue pair
     * @param maxSegmentSize the maximum number of bytes of the stream in one packet, from 1 to 65535
     * @return this request
     * @throws IllegalArgumentException if the headers are longer than 65535 bytes, or the segment size is out of range
     */
    public SendRequest tso(MemorySegment headers, int maxSegmentSize) {
        if (tso == null) {
            tso = new Tso(address);
        }
        tso.set(headers, maxSegmentSize);
        opcode(SendOpcode.TSO);
        segmented = true;
        checkAlways();
        return this;
    }

    /**
     * Sets the destination, for queue pairs of type UD. It stays set until this request becomes an RDMA or atomic
     * operation. A datagram is a single packet of at most {@link PortAttributes#activeMtu()} bytes; SoftRoCE drops
     * longer ones and reports success.
     *
     * @param handle the address handle, of the protection domain of the queue pair; must stay open until the completion
     * @param remoteQueuePairNumber the number of the peer's queue pair, 24 bits
     * @param remoteQueueKey the Q_Key of the peer's queue pair; if the highest bit is set, the queue pair's own Q_Key
     *        is sent instead
     * @return this request
     * @throws IllegalArgumentException if the number does not fit into 24 bits
     */
    public SendRequest datagram(AddressHandle handle, int remoteQueuePairNumber, int remoteQueueKey) {
        handle.life().ensureOpen();
        Arguments.requireBits("queue pair number", remoteQueuePairNumber, QUEUE_PAIR_NUMBER_BITS);
        destination = handle;
        Memory.putLong(address + UD_AH, handle.address());
        Memory.putInt(address + UD_QPN, remoteQueuePairNumber);
        Memory.putInt(address + UD_QKEY, remoteQueueKey);
        return this;
    }

    /**
     * Sets the shared receive queue of the peer that receives the message, for queue pairs of type XRC_SEND.
     *
     * @param number the number of the peer's queue, from {@link SharedReceiveQueue#number()}
     * @return this request
     */
    public SendRequest remoteSharedReceiveQueue(int number) {
        Memory.putInt(address + REMOTE_SRQN, number);
        return this;
    }

    /**
     * Sets the data to one part of a memory region. The scatter/gather list then has one entry.
     *
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this request
     * @throws IndexOutOfBoundsException if the range is not within the region
     */
    public SendRequest data(MemoryRegion region, long offset, long length) {
        checkedAt = NEVER;
        setData(region, offset, length);
        return this;
    }

    /**
     * Sets one entry of the scatter/gather list. The list ends with the entry that was set last.
     *
     * @param index the index of the entry; entries are set in order, from 0
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this request
     * @throws IndexOutOfBoundsException if the range is not within the region, or the request has no room for the entry
     * @throws IllegalArgumentException if the index would leave a gap
     */
    public SendRequest data(int index, MemoryRegion region, long offset, long length) {
        checkedAt = NEVER;
        setData(index, region, offset, length);
        return this;
    }

    /**
     * Removes the data: the scatter/gather list is empty then.
     *
     * @return this request
     */
    public SendRequest noData() {
        checkedAt = NEVER;
        clearData();
        return this;
    }

    /**
     * Sets whether this request generates a completion when it succeeds ({@code IBV_SEND_SIGNALED}). A request that
     * fails always does.
     *
     * @param on true by default
     * @return this request
     */
    public SendRequest signaled(boolean on) {
        return flag(Rdma.IBV_SEND_SIGNALED(), on);
    }

    /**
     * Sets whether the message raises an event at a peer that asked for solicited events only
     * ({@code IBV_SEND_SOLICITED}).
     *
     * @param on false by default
     * @return this request
     */
    public SendRequest solicited(boolean on) {
        return flag(Rdma.IBV_SEND_SOLICITED(), on);
    }

    /**
     * Sets whether this request starts only after the preceding reads and atomic operations have finished
     * ({@code IBV_SEND_FENCE}).
     *
     * @param on false by default
     * @return this request
     */
    public SendRequest fence(boolean on) {
        return flag(Rdma.IBV_SEND_FENCE(), on);
    }

    /**
     * Sets whether the post copies the data, so that the memory can be reused as soon as it returns
     * ({@code IBV_SEND_INLINE}). The region must be open when the request is posted, and its memory not mapped from a
     * file: the driver would end the JVM if the file was truncated.
     *
     * @param on false by default
     * @return this request
     */
    public SendRequest inline(boolean on) {
        if (on) {
            checkAlways();
        }
        return flag(INLINE, on);
    }

    /**
     * Sets all flags: those in the set are on, all others off.
     *
     * @param flags such as {@code EnumSet.of(SendFlag.SIGNALED)}
     * @return this request
     */
    public SendRequest flags(Set<SendFlag> flags) {
        int mask = SendFlag.mask(flags);
        if ((mask & INLINE) != 0) {
            checkAlways();
        }
        Memory.putInt(address + SEND_FLAGS, mask);
        return this;
    }

    /**
     * Returns how closely the request must be checked: a queue whose own level is at least this high posts it
     * unchecked. The level is the number of scatter/gather entries that the request has room for, or
     * {@link #ALWAYS_CHECKED} once it has had inline data, bound a window or been segmented.
     */
    int checkLevel() {
        return checkLevel;
    }

    private void checkAlways() {
        checkLevel = ALWAYS_CHECKED;
        block.checkAlways();
    }

    /** Returns whether the operation is one that iWARP did not have at first, which drivers refuse without a reason. */
    boolean exceedsIwarp() {
        int opcode = Memory.getInt(address, OPCODE);
        return opcode != SendOpcode.SEND.value() && opcode != SendOpcode.SEND_WITH_INV.value()
                && opcode != SendOpcode.RDMA_WRITE.value() && opcode != SendOpcode.RDMA_READ.value();
    }

    boolean isRead() {
        return Memory.getInt(address, OPCODE) == SendOpcode.RDMA_READ.value();
    }

    /**
     * Checks that inline data is not too long, for which drivers give no reason, and that its memory is not freed,
     * which could crash them. Called with the lock of the send queue held, so that a region that is open now stays open
     * until the post is over.
     */
    void checkInline(int entries, int maxInline, ProtectionDomain sender) {
        if ((Memory.getInt(address, SEND_FLAGS) & INLINE) == 0) {
            return;
        }
        LockGroup posts = sender.posts();
        if (posts != checkedFor || posts.changes() != checkedAt) {
            checkInlineAnew(entries, sender);
        }
        if (inlineBytes > maxInline) {
            throw new IllegalArgumentException("the inline data has " + inlineBytes + " bytes; the queue pair allows "
                    + maxInline);
        }
    }

    /**
     * Returns whether all checks would pass, because nothing that matters to them has changed since the last post, and
     * there is nothing to check but inline data.
     */
    boolean isChecked(LockGroup posts, long changes, int maxEntries, int maxInline) {
        return checkedFor == posts && checkedAt == changes && inlineBytes <= maxInline && entries() <= maxEntries
                && windowBind == null && !segmented;
    }

    private void checkInlineAnew(int entries, ProtectionDomain sender) {
        checkedAt = NEVER;
        // read first: what changes after that is checked once more by the next post
        long changes = sender.posts().changes();
        inlineBytes = list.readableBytes(entries, sender);
        if (list.ownsMemory(entries)) {
            if (checkedFor != sender.posts()) {
                checkedFor = sender.posts();
            }
            checkedAt = changes;
        }
    }

    /**
     * Checks that a datagram has an address handle that is open, because drivers could crash otherwise. Called with the
     * lock of the send queue held, so that a handle that is open now stays open until the post is over.
     */
    void checkDestination(ProtectionDomain domain) {
        if (destination == null) {
            throw new IllegalArgumentException("a datagram needs an address handle: call datagram()");
        }
        destination.requireUsable(domain);
    }

    /**
     * Returns whether the request binds a memory window: it is then posted between {@link #beginBind} and
     * {@link #endBind}.
     */
    boolean bindsWindow() {
        return windowBind != null;
    }

    /**
     * Checks that what is bound is open, because drivers could crash otherwise. Called with the lock of the send queue
     * held.
     */
    void checkBind(ProtectionDomain sender) {
        if (windowBind != null) {
            windowBind.check(sender);
        }
    }

    /**
     * Checks that the headers are not longer than the queue pair was created for, because drivers could crash
     * otherwise.
     */
    void checkTso(int maxTsoHeader) {
        if (segmented && tso != null) {
            tso.check(maxTsoHeader);
        }
    }

    void beginBind() {
        if (windowBind != null) {
            windowBind.begin();
        }
    }

    void endBind(boolean posted) {
        if (windowBind != null) {
            windowBind.end(posted);
        }
    }

    /** {@return the operation that was set last} */
    public SendOpcode opcode() {
        int value = Memory.getInt(address + OPCODE);
        return Arrays.stream(SendOpcode.values()).filter(opcode -> opcode.value() == value).findFirst().orElseThrow();
    }

    private SendRequest opcode(SendOpcode opcode) {
        windowBind = null;
        segmented = false;
        Memory.putInt(address + OPCODE, opcode.value());
        return this;
    }

    private SendRequest rdma(SendOpcode opcode, long remoteAddress, int remoteKey) {
        destination = null;
        Memory.putLong(address + RDMA_ADDR, remoteAddress);
        Memory.putInt(address + RDMA_RKEY, remoteKey);
        return opcode(opcode);
    }

    private SendRequest atomic(SendOpcode opcode, long remoteAddress, int remoteKey, long compareOrAdd) {
        destination = null;
        Memory.putLong(address + ATOMIC_ADDR, remoteAddress);
        Memory.putLong(address + ATOMIC_COMPARE_ADD, compareOrAdd);
        Memory.putInt(address + ATOMIC_RKEY, remoteKey);
        return opcode(opcode);
    }

    private SendRequest flag(int bit, boolean on) {
        int flags = Memory.getInt(address + SEND_FLAGS);
        Memory.putInt(address + SEND_FLAGS, on ? flags | bit : flags & ~bit);
        return this;
    }
}
