// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import io.rdmacm.bindings.ibv_cq_ex;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * The function table of an {@code ibv_cq_ex}, which the inline functions {@code ibv_start_poll} and
 * {@code ibv_wc_read_*} of verbs.h call. For the data path, with addresses as numbers. Each pointer is read once, by
 * the first call.
 *
 * <p>Callers must check that the queue was created with the {@code wc_flags} for a field before they read it: with an
 * old driver the struct is shorter, and the newest pointers lie in unrelated memory. Calling a null pointer throws
 * IllegalArgumentException.
 *
 * <p>With every driver the calls only access memory, and so they may be critical. But a driver may hold a spin lock
 * from {@link #startPoll} to {@link #endPoll}. A second thread that spun on it in a critical call would keep the JVM
 * from reaching a safepoint, while the owner of the lock may already be stopped at that safepoint: a deadlock. So
 * callers must not start a poll while another poll of the same queue is in progress. With a driver whose polls wait for
 * anything else, {@link #startPoll} and {@link #nextPoll} are not critical.
 */
public final class CompletionQueueExOps {
    private static final long STATUS = ibv_cq_ex.status$offset();
    private static final long ID = ibv_cq_ex.wr_id$offset();

    private final long queue;
    private final boolean waits;
    // null until the first call
    private DriverCall startPoll;
    private DriverCall nextPoll;
    private DriverCall endPoll;
    private DriverCall readOpcode;
    private DriverCall readVendorErr;
    private DriverCall readByteLen;
    private DriverCall readImmData;
    private DriverCall readQpNum;
    private DriverCall readSrcQp;
    private DriverCall readWcFlags;
    private DriverCall readSlid;
    private DriverCall readSl;
    private DriverCall readDlidPathBits;
    private DriverCall readCompletionTs;
    private DriverCall readCvlan;
    private DriverCall readFlowTag;
    private DriverCall readTmInfo;
    private DriverCall readCompletionWallclockNs;

    /**
     * Creates the function table of a queue.
     *
     * @param queue the address of a {@code struct ibv_cq_ex}, from {@code ibv_create_cq_ex}
     * @param waits whether a poll may wait for another thread
     */
    public CompletionQueueExOps(long queue, boolean waits) {
        this.queue = queue;
        this.waits = waits;
    }

    private DriverCall made(long offset, int arguments) {
        return made(offset, arguments, true);
    }

    private DriverCall made(long offset, int arguments, boolean critical) {
        return DriverCall.of(Memory.getLong(queue + offset), critical, arguments);
    }

    /** Reads the member {@code status} of the current completion, of {@code enum ibv_wc_status}. */
    public int status() {
        return Memory.getInt(queue, STATUS);
    }

    /** Reads the member {@code wr_id} of the current completion. */
    public long id() {
        return Memory.getLong(queue, ID);
    }

    /**
     * Calls {@code ibv_start_poll}.
     *
     * @param attributes the address of a {@code struct ibv_poll_cq_attr}
     * @return 0; ENOENT if the queue is empty, and then {@link #endPoll} must not be called; or another error number
     */
    public int startPoll(long attributes) {
        if (startPoll == null) {
            startPoll = made(ibv_cq_ex.start_poll$offset(), 2, !waits);
        }
        return (int) startPoll.call(queue, attributes);
    }

    /** Calls {@code ibv_next_poll}: returns 0, ENOENT if there is no further completion, or another error number. */
    public int nextPoll() {
        if (nextPoll == null) {
            nextPoll = made(ibv_cq_ex.next_poll$offset(), 1, !waits);
        }
        return (int) nextPoll.call(queue);
    }

    /** {@code ibv_end_poll}. */
    public void endPoll() {
        if (endPoll == null) {
            endPoll = made(ibv_cq_ex.end_poll$offset(), 1);
        }
        endPoll.call(queue);
    }

    /** {@code ibv_wc_read_opcode}, of {@code enum ibv_wc_opcode}. */
    public int readOpcode() {
        if (readOpcode == null) {
            readOpcode = made(ibv_cq_ex.read_opcode$offset(), 1);
        }
        return (int) readOpcode.call(queue);
    }

    /** {@code ibv_wc_read_vendor_err}. */
    public int readVendorErr() {
        if (readVendorErr == null) {
            readVendorErr = made(ibv_cq_ex.read_vendor_err$offset(), 1);
        }
        return (int) readVendorErr.call(queue);
    }

    /** {@code ibv_wc_read_byte_len}, unsigned. */
    public int readByteLen() {
        if (readByteLen == null) {
            readByteLen = made(ibv_cq_ex.read_byte_len$offset(), 1);
        }
        return (int) readByteLen.call(queue);
    }

    /** {@code ibv_wc_read_imm_data}, in network byte order. */
    public int readImmData() {
        if (readImmData == null) {
            readImmData = made(ibv_cq_ex.read_imm_data$offset(), 1);
        }
        return (int) readImmData.call(queue);
    }

    /** {@code ibv_wc_read_invalidated_rkey}: the same function pointer, but the value is in host byte order. */
    public int readInvalidatedRkey() {
        if (readImmData == null) {
            readImmData = made(ibv_cq_ex.read_imm_data$offset(), 1);
        }
        return (int) readImmData.call(queue);
    }

    /** {@code ibv_wc_read_qp_num}. */
    public int readQpNum() {
        if (readQpNum == null) {
            readQpNum = made(ibv_cq_ex.read_qp_num$offset(), 1);
        }
        return (int) readQpNum.call(queue);
    }

    /** {@code ibv_wc_read_src_qp}. */
    public int readSrcQp() {
        if (readSrcQp == null) {
            readSrcQp = made(ibv_cq_ex.read_src_qp$offset(), 1);
        }
        return (int) readSrcQp.call(queue);
    }

    /** {@code ibv_wc_read_wc_flags}, bits of {@code enum ibv_wc_flags}. */
    public int readWcFlags() {
        if (readWcFlags == null) {
            readWcFlags = made(ibv_cq_ex.read_wc_flags$offset(), 1);
        }
        return (int) readWcFlags.call(queue);
    }

    /** {@code ibv_wc_read_slid}. */
    public int readSlid() {
        if (readSlid == null) {
            readSlid = made(ibv_cq_ex.read_slid$offset(), 1);
        }
        return (int) readSlid.call(queue);
    }

    /** {@code ibv_wc_read_sl}: 0 to 255. */
    public int readSl() {
        if (readSl == null) {
            readSl = made(ibv_cq_ex.read_sl$offset(), 1);
        }
        return Byte.toUnsignedInt((byte) readSl.call(queue));
    }

    /** {@code ibv_wc_read_dlid_path_bits}: 0 to 255. */
    public int readDlidPathBits() {
        if (readDlidPathBits == null) {
            readDlidPathBits = made(ibv_cq_ex.read_dlid_path_bits$offset(), 1);
        }
        return Byte.toUnsignedInt((byte) readDlidPathBits.call(queue));
    }

    /** {@code ibv_wc_read_completion_ts}, in ticks of the device. */
    public long readCompletionTs() {
        if (readCompletionTs == null) {
            readCompletionTs = made(ibv_cq_ex.read_completion_ts$offset(), 1);
        }
        return readCompletionTs.call(queue);
    }

    /** {@code ibv_wc_read_cvlan}: 0 to 65535. */
    public int readCvlan() {
        if (readCvlan == null) {
            readCvlan = made(ibv_cq_ex.read_cvlan$offset(), 1);
        }
        return Short.toUnsignedInt((short) readCvlan.call(queue));
    }

    /** {@code ibv_wc_read_flow_tag}. */
    public int readFlowTag() {
        if (readFlowTag == null) {
            readFlowTag = made(ibv_cq_ex.read_flow_tag$offset(), 1);
        }
        return (int) readFlowTag.call(queue);
    }

    /** {@code ibv_wc_read_tm_info} into the {@code struct ibv_wc_tm_info} at an address. */
    public void readTmInfo(long info) {
        if (readTmInfo == null) {
            readTmInfo = made(ibv_cq_ex.read_tm_info$offset(), 2);
        }
        readTmInfo.call(queue, info);
    }

    /** {@code ibv_wc_read_completion_wallclock_ns}. */
    public long readCompletionWallclockNs() {
        if (readCompletionWallclockNs == null) {
            readCompletionWallclockNs = made(ibv_cq_ex.read_completion_wallclock_ns$offset(), 1);
        }
        return readCompletionWallclockNs.call(queue);
    }
}
