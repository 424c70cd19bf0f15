// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

import io.rdmacm.bindings.ibv_cq_ex;

/**
 * The functions of one {@code ibv_cq_ex}, which the inline functions {@code ibv_start_poll} and {@code ibv_wc_read_*}
 * of verbs.h call: the pointers are read once, when the queue is made. For the data path, with addresses as numbers.
 * Which fields may be read is said by the {@code wc_flags} that the queue was made with: the caller has to check them,
 * for an old driver has other memory where the newest pointers are. A null pointer is an IllegalArgumentException.
 *
 * <p>A driver may keep a spin lock from {@link #startPoll} to {@link #endPoll}. So startPoll is not a critical call: a
 * thread that spins inside one keeps the whole JVM from a safepoint, and the owner of the lock may be stopped for just
 * that. The others only touch memory, with every driver.
 */
public final class CompletionQueueExOps {
    private static final boolean CRITICAL = FastPath.CRITICAL_ALLOWED;
    private static final MethodHandle START = Shape.plain(false, ValueLayout.JAVA_INT, 2);
    private static final MethodHandle VOID_1 = Shape.plain(CRITICAL, null, 1);
    private static final MethodHandle VOID_2 = Shape.plain(CRITICAL, null, 2);
    private static final MethodHandle BYTE = Shape.plain(CRITICAL, ValueLayout.JAVA_BYTE, 1);
    private static final MethodHandle SHORT = Shape.plain(CRITICAL, ValueLayout.JAVA_SHORT, 1);
    private static final MethodHandle INT = Shape.plain(CRITICAL, ValueLayout.JAVA_INT, 1);
    private static final MethodHandle LONG = Shape.plain(CRITICAL, ValueLayout.JAVA_LONG, 1);

    private final long queue;
    private final MemorySegment startPoll;
    private final MemorySegment nextPoll;
    private final MemorySegment endPoll;
    private final MemorySegment readOpcode;
    private final MemorySegment readVendorErr;
    private final MemorySegment readByteLen;
    private final MemorySegment readImmData;
    private final MemorySegment readQpNum;
    private final MemorySegment readSrcQp;
    private final MemorySegment readWcFlags;
    private final MemorySegment readSlid;
    private final MemorySegment readSl;
    private final MemorySegment readDlidPathBits;
    private final MemorySegment readCompletionTs;
    private final MemorySegment readCvlan;
    private final MemorySegment readFlowTag;
    private final MemorySegment readTmInfo;
    private final MemorySegment readCompletionWallclockNs;

    /**
     * The functions of a queue.
     *
     * @param queue the address of a {@code struct ibv_cq_ex}, from {@code ibv_create_cq_ex}
     */
    public CompletionQueueExOps(long queue) {
        this.queue = queue;
        this.startPoll = read(ibv_cq_ex.start_poll$offset());
        this.nextPoll = read(ibv_cq_ex.next_poll$offset());
        this.endPoll = read(ibv_cq_ex.end_poll$offset());
        this.readOpcode = read(ibv_cq_ex.read_opcode$offset());
        this.readVendorErr = read(ibv_cq_ex.read_vendor_err$offset());
        this.readByteLen = read(ibv_cq_ex.read_byte_len$offset());
        this.readImmData = read(ibv_cq_ex.read_imm_data$offset());
        this.readQpNum = read(ibv_cq_ex.read_qp_num$offset());
        this.readSrcQp = read(ibv_cq_ex.read_src_qp$offset());
        this.readWcFlags = read(ibv_cq_ex.read_wc_flags$offset());
        this.readSlid = read(ibv_cq_ex.read_slid$offset());
        this.readSl = read(ibv_cq_ex.read_sl$offset());
        this.readDlidPathBits = read(ibv_cq_ex.read_dlid_path_bits$offset());
        this.readCompletionTs = read(ibv_cq_ex.read_completion_ts$offset());
        this.readCvlan = read(ibv_cq_ex.read_cvlan$offset());
        this.readFlowTag = read(ibv_cq_ex.read_flow_tag$offset());
        this.readTmInfo = read(ibv_cq_ex.read_tm_info$offset());
        this.readCompletionWallclockNs = read(ibv_cq_ex.read_completion_wallclock_ns$offset());
    }

    private MemorySegment read(long offset) {
        return Shape.function(Memory.getLong(queue + offset));
    }

    /** The member {@code status} of the current completion, of {@code enum ibv_wc_status}. */
    public int status() {
        return Memory.getInt(queue + ibv_cq_ex.status$offset());
    }

    /** The member {@code wr_id} of the current completion. */
    public long id() {
        return Memory.getLong(queue + ibv_cq_ex.wr_id$offset());
    }

    /**
     * {@code ibv_start_poll}.
     *
     * @param attributes the address of a {@code struct ibv_poll_cq_attr}
     * @return 0; ENOENT when the queue is empty, and then there is nothing to end; another error number
     */
    public int startPoll(long attributes) {
        try {
            return (int) START.invokeExact(startPoll, queue, attributes);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    /** {@code ibv_next_poll}: 0; ENOENT when there is no further completion; another error number. */
    public int nextPoll() {
        return callInt(nextPoll);
    }

    /** {@code ibv_end_poll}. */
    public void endPoll() {
        try {
            VOID_1.invokeExact(endPoll, queue);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    /** {@code ibv_wc_read_opcode}, of {@code enum ibv_wc_opcode}. */
    public int readOpcode() {
        return callInt(readOpcode);
    }

    /** {@code ibv_wc_read_vendor_err}. */
    public int readVendorErr() {
        return callInt(readVendorErr);
    }

    /** {@code ibv_wc_read_byte_len}, unsigned. */
    public int readByteLen() {
        return callInt(readByteLen);
    }

    /** {@code ibv_wc_read_imm_data}, in network byte order. */
    public int readImmData() {
        return callInt(readImmData);
    }

    /** {@code ibv_wc_read_invalidated_rkey}: the same member of the struct, but in the byte order of the machine. */
    public int readInvalidatedRkey() {
        return callInt(readImmData);
    }

    /** {@code ibv_wc_read_qp_num}. */
    public int readQpNum() {
        return callInt(readQpNum);
    }

    /** {@code ibv_wc_read_src_qp}. */
    public int readSrcQp() {
        return callInt(readSrcQp);
    }

    /** {@code ibv_wc_read_wc_flags}, bits of {@code enum ibv_wc_flags}. */
    public int readWcFlags() {
        return callInt(readWcFlags);
    }

    /** {@code ibv_wc_read_slid}. */
    public int readSlid() {
        return callInt(readSlid);
    }

    /** {@code ibv_wc_read_sl}: 0 to 255. */
    public int readSl() {
        return callByte(readSl);
    }

    /** {@code ibv_wc_read_dlid_path_bits}: 0 to 255. */
    public int readDlidPathBits() {
        return callByte(readDlidPathBits);
    }

    /** {@code ibv_wc_read_completion_ts}, in ticks of the device. */
    public long readCompletionTs() {
        return callLong(readCompletionTs);
    }

    /** {@code ibv_wc_read_cvlan}: 0 to 65535. */
    public int readCvlan() {
        try {
            return Short.toUnsignedInt((short) SHORT.invokeExact(readCvlan, queue));
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    /** {@code ibv_wc_read_flow_tag}. */
    public int readFlowTag() {
        return callInt(readFlowTag);
    }

    /** {@code ibv_wc_read_tm_info} into the {@code struct ibv_wc_tm_info} at an address. */
    public void readTmInfo(long info) {
        try {
            VOID_2.invokeExact(readTmInfo, queue, info);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    /** {@code ibv_wc_read_completion_wallclock_ns}. */
    public long readCompletionWallclockNs() {
        return callLong(readCompletionWallclockNs);
    }

    private int callByte(MemorySegment function) {
        try {
            return Byte.toUnsignedInt((byte) BYTE.invokeExact(function, queue));
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    private int callInt(MemorySegment function) {
        try {
            return (int) INT.invokeExact(function, queue);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    private long callLong(MemorySegment function) {
        try {
            return (long) LONG.invokeExact(function, queue);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }
}
