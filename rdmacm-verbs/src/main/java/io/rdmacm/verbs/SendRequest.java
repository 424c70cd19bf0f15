// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.SendOpcode;

/**
 * One send work request of a {@link SendRequests} block ({@code struct ibv_send_wr}, ibv_post_send(3)): the setters
 * write the struct in place, and what is set stays for the next post. A new one is a signaled send of no data with the
 * id 0.
 *
 * <p>For one thread at a time. The request can be changed as soon as the post has returned; the data it names only
 * after its completion (inline data: after the post).
 */
public final class SendRequest extends WorkRequest<SendRequests> {
    /** The level of requests that every queue checks. */
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
    private static final int QUEUE_PAIR_NUMBER_BITS = 24;
    private static final long REMOTE_SRQN = ibv_send_wr.qp_type$offset() + ibv_send_wr.qp_type.xrc$offset()
            + ibv_send_wr.qp_type.xrc.remote_srqn$offset();
    private static final int INLINE = Rdma.IBV_SEND_INLINE();

    // whom wr.ud names; null when other members of the union were set since
    private AddressHandle destination;
    // what bind_mw names; null for all other opcodes
    private WindowBind windowBind;
    // null when it never was one
    private SegmentedSend segmentedSend;
    private boolean segmented;
    private int checkLevel;

    SendRequest(SendRequests block, long address, long list) {
        super(block, address, list);
        this.checkLevel = block.maxScatterGather();
        send().signaled(true);
    }

    /** The id that comes back with the completion. */
    public SendRequest id(long workRequestId) {
        Memory.putLong(address, WR_ID, workRequestId);
        return this;
    }

    /** A message into one of the peer's receives. */
    public SendRequest send() {
        return opcode(SendOpcode.SEND);
    }

    /**
     * A message with an immediate value.
     *
     * @param immediate in the byte order of the machine; travels in network order
     */
    public SendRequest sendWithImmediate(int immediate) {
        Memory.putInt(address + IMM_DATA, NetworkOrder.toNetwork(immediate));
        return opcode(SendOpcode.SEND_WITH_IMM);
    }

    /**
     * A message that invalidates a key of the peer.
     *
     * @param remoteKey of a memory window of the peer
     */
    public SendRequest sendWithInvalidate(int remoteKey) {
        Memory.putInt(address + INVALIDATE_RKEY, remoteKey);
        return opcode(SendOpcode.SEND_WITH_INV);
    }

    /**
     * Writes the data to the peer's memory.
     *
     * @param remoteAddress where to
     * @param remoteKey of the peer's region
     */
    public SendRequest rdmaWrite(long remoteAddress, int remoteKey) {
        return rdma(SendOpcode.RDMA_WRITE, remoteAddress, remoteKey);
    }

    /**
     * Writes the data to the peer's memory, and uses up one of its receives to tell it so.
     *
     * @param remoteAddress where to
     * @param remoteKey of the peer's region
     * @param immediate in the byte order of the machine; travels in network order
     */
    public SendRequest rdmaWriteWithImmediate(long remoteAddress, int remoteKey, int immediate) {
        Memory.putInt(address + IMM_DATA, NetworkOrder.toNetwork(immediate));
        return rdma(SendOpcode.RDMA_WRITE_WITH_IMM, remoteAddress, remoteKey);
    }

    /**
     * Reads from the peer's memory into the scatter list.
     *
     * @param remoteAddress where from
     * @param remoteKey of the peer's region
     */
    public SendRequest rdmaRead(long remoteAddress, int remoteKey) {
        return rdma(SendOpcode.RDMA_READ, remoteAddress, remoteKey);
    }

    /**
     * Compares 8 bytes of the peer's memory and swaps them when they are equal; what was there goes into the scatter
     * list.
     *
     * @param remoteAddress a multiple of 8
     * @param remoteKey of the peer's region
     * @param compare what is expected to be there
     * @param swap what it becomes
     */
    public SendRequest compareAndSwap(long remoteAddress, int remoteKey, long compare, long swap) {
        Memory.putLong(address + ATOMIC_SWAP, swap);
        return atomic(SendOpcode.ATOMIC_CMP_AND_SWP, remoteAddress, remoteKey, compare);
    }

    /**
     * Adds to 8 bytes of the peer's memory; what was there goes into the scatter list.
     *
     * @param remoteAddress a multiple of 8
     * @param remoteKey of the peer's region
     * @param add what is added
     */
    public SendRequest fetchAndAdd(long remoteAddress, int remoteKey, long add) {
        return atomic(SendOpcode.ATOMIC_FETCH_AND_ADD, remoteAddress, remoteKey, add);
    }

    /**
     * Invalidates a key of this side; without data.
     *
     * @param key the remote key of a memory window, or of a region of this side
     */
    public SendRequest localInvalidate(int key) {
        Memory.putInt(address + INVALIDATE_RKEY, key);
        return opcode(SendOpcode.LOCAL_INV);
    }

    /**
     * Binds a memory window of type 2 to a part of a region ({@code IBV_WR_BIND_MW}, ibv_post_send(3)). When the post
     * has succeeded, the key is the window's; the peer may use it after the completion.
     *
     * @param window of the protection domain of the queue pair; must be open when it is posted
     * @param remoteKey the key that it gets: {@link MemoryWindow#incrementKey} of the one that it has
     * @param binding to a region of the same protection domain, which must be open when it is posted
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
     * A TCP stream that the device cuts into packets ({@code IBV_WR_TSO}, ibv_post_send(3)), on raw packet and datagram
     * queue pairs of devices that can: {@link DeviceAttributesEx.Tso}. The data is the stream.
     *
     * @param headers of all layers up to and including TCP, for each packet; a copy is taken. When it is posted, at
     *        most as long as the queue pair was made for: {@link QueuePairInitAttributes#maxTsoHeader()}
     * @param maxSegmentSize how many bytes of the stream go into a packet at most, 1 to 65535
     */
    public SendRequest sendSegmented(MemorySegment headers, int maxSegmentSize) {
        if (segmentedSend == null) {
            segmentedSend = new SegmentedSend(address);
        }
        segmentedSend.set(headers, maxSegmentSize);
        opcode(SendOpcode.TSO);
        segmented = true;
        checkAlways();
        return this;
    }

    /**
     * Whom it is for, on a queue pair for datagrams: stays with it until it becomes an RDMA or atomic operation. A
     * datagram is one packet: at most {@link PortAttributes#activeMtu()} bytes; SoftRoCE drops longer ones and reports
     * success.
     *
     * @param handle of the protection domain of the queue pair; must be open when it is posted
     * @param remoteQueuePairNumber the peer, 24 bits
     * @param remoteQueueKey the key that the peer was given; with the highest bit set, the queue pair's own key is sent
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
     * Which shared receive queue of the peer gets the message, on an extended reliable connection.
     *
     * @param number of the peer's queue, see {@link SharedReceiveQueue#number()}
     */
    public SendRequest remoteSharedReceiveQueue(int number) {
        Memory.putInt(address + REMOTE_SRQN, number);
        return this;
    }

    /**
     * The data: one part of a region. The scatter list has one entry then.
     *
     * @param region open
     * @param offset in bytes
     * @param length in bytes
     */
    public SendRequest data(MemoryRegion region, long offset, int length) {
        setData(region, offset, length);
        return this;
    }

    /**
     * One entry of the scatter list; the list ends with the one that was set last.
     *
     * @param index from 0 on, in order
     * @param region open
     * @param offset in bytes
     * @param length in bytes
     */
    public SendRequest data(int index, MemoryRegion region, long offset, int length) {
        setData(index, region, offset, length);
        return this;
    }

    /** No data at all. */
    public SendRequest noData() {
        clearData();
        return this;
    }

    /** Whether a completion comes when it is done; it always comes for an error. */
    public SendRequest signaled(boolean on) {
        return flag(Rdma.IBV_SEND_SIGNALED(), on);
    }

    /** Whether the peer gets an event if it asked for solicited ones only. */
    public SendRequest solicited(boolean on) {
        return flag(Rdma.IBV_SEND_SOLICITED(), on);
    }

    /** Whether it begins only when the reads and atomics before it are done. */
    public SendRequest fence(boolean on) {
        return flag(Rdma.IBV_SEND_FENCE(), on);
    }

    /** Whether the post takes the data with it, so that the memory is free again when it returns. */
    public SendRequest inline(boolean on) {
        if (on) {
            checkAlways();
        }
        return flag(INLINE, on);
    }

    /**
     * All flags at once: those in the set are on, the others off.
     *
     * @param flags such as {@code EnumSet.of(SendFlag.SIGNALED)}
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
     * How closely it must be checked: a queue whose own level is at least this high posts it unchecked. That is the
     * number of scatter/gather entries it has room for, or {@link #ALWAYS_CHECKED} once it had inline data, bound a
     * window or was segmented.
     */
    int checkLevel() {
        return checkLevel;
    }

    private void checkAlways() {
        checkLevel = ALWAYS_CHECKED;
        block.checkAlways();
    }

    /**
     * Refuses inline data that is too long, for which drivers give no reason, or whose memory is freed, which could
     * crash them. With the lock of the send queue held, so that a region that is open now stays so until the post is
     * over.
     */
    void checkInline(int maxInline, ProtectionDomain sender) {
        if ((Memory.getInt(address + SEND_FLAGS) & INLINE) == 0) {
            return;
        }
        long bytes = list.bytes(entries());
        if (bytes > maxInline) {
            throw new IllegalArgumentException("inline data of " + bytes + " bytes on a queue pair that takes "
                    + maxInline);
        }
        list.requireReadable(entries(), sender);
    }

    /**
     * Refuses a datagram without an address handle, or with a closed one, which could crash a driver. With the lock of
     * the send queue held, so that a handle that is open now stays so until the post is over.
     */
    void checkDestination(ProtectionDomain domain) {
        if (destination == null) {
            throw new IllegalArgumentException("a request for a datagram needs an address handle: call datagram()");
        }
        destination.requireUsable(domain);
    }

    /** Whether it binds a memory window: then the post is between {@link #beginBind} and {@link #endBind}. */
    boolean bindsWindow() {
        return windowBind != null;
    }

    /** Refuses a bind of what is closed, which could crash a driver; with the lock of the send queue held. */
    void checkBind(ProtectionDomain sender) {
        if (windowBind != null) {
            windowBind.check(sender);
        }
    }

    /** Refuses a segmented send with longer headers than the queue pair was made for, which could crash a driver. */
    void checkSegmented(int maxTsoHeader) {
        if (segmented) {
            segmentedSend.check(maxTsoHeader);
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
