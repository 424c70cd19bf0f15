// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import io.rdmacm.bindings.ibv_cq_ex;
import io.rdmacm.verbs.internal.ffi.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The function table of an {@code ibv_cq_ex}, which the inline functions {@code ibv_start_poll} and
 * {@code ibv_wc_read_*} of verbs.h call. For the data path, with addresses as numbers.
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
public final class CompletionQueueExOps extends FunctionTable {
    private static final long STATUS = ibv_cq_ex.status$offset();
    private static final long ID = ibv_cq_ex.wr_id$offset();

    private final boolean waits;
    // null until the first call
    private @Nullable DriverCall startPoll;
    private @Nullable DriverCall nextPoll;
    private @Nullable DriverCall endPoll;
    private @Nullable DriverCall readOpcode;
    private @Nullable DriverCall readVendorErr;
    private @Nullable DriverCall readByteLen;
    private @Nullable DriverCall readImmData;
    private @Nullable DriverCall readQpNum;
    private @Nullable DriverCall readSrcQp;
    private @Nullable DriverCall readWcFlags;
    private @Nullable DriverCall readSlid;
    private @Nullable DriverCall readSl;
    private @Nullable DriverCall readDlidPathBits;
    private @Nullable DriverCall readCompletionTs;
    private @Nullable DriverCall readCvlan;
    private @Nullable DriverCall readFlowTag;
    private @Nullable DriverCall readTmInfo;
    private @Nullable DriverCall readCompletionWallclockNs;

    /**
     * Creates the function table of a queue.
     *
     * @param queue the address of a {@code struct ibv_cq_ex}, from {@code ibv_create_cq_ex}
     * @param waits whether a poll may wait for another thread
     */
    public CompletionQueueExOps(long queue, boolean waits) {
        super(queue);
        this.waits = waits;
    }

    /** Reads the member {@code status} of the current completion, of {@code enum ibv_wc_status}. */
    public int status() {
        return Memory.getInt(struct, STATUS);
    }

    /** Reads the member {@code wr_id} of the current completion. */
    public long id() {
        return Memory.getLong(struct, ID);
    }

    /**
     * Calls {@code ibv_start_poll}.
     *
     * @param attributes the address of a {@code struct ibv_poll_cq_attr}
     * @return 0; ENOENT if the queue is empty, and then {@link #endPoll} must not be called; or another error number
     */
    public int startPoll(long attributes) {
        return (int) (startPoll == null ? startPoll = at(ibv_cq_ex.start_poll$offset(), !waits) : startPoll)
                .call(struct, attributes, 0, 0, 0, 0);
    }

    /** Calls {@code ibv_next_poll}: returns 0, ENOENT if there is no further completion, or another error number. */
    public int nextPoll() {
        return (int) (nextPoll == null ? nextPoll = at(ibv_cq_ex.next_poll$offset(), !waits) : nextPoll)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_end_poll}. */
    public void endPoll() {
        (endPoll == null ? endPoll = at(ibv_cq_ex.end_poll$offset()) : endPoll).call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_opcode}, of {@code enum ibv_wc_opcode}. */
    public int readOpcode() {
        return (int) (readOpcode == null ? readOpcode = at(ibv_cq_ex.read_opcode$offset()) : readOpcode)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_vendor_err}. */
    public int readVendorErr() {
        return (int) (readVendorErr == null ? readVendorErr = at(ibv_cq_ex.read_vendor_err$offset()) : readVendorErr)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_byte_len}, unsigned. */
    public int readByteLen() {
        return (int) (readByteLen == null ? readByteLen = at(ibv_cq_ex.read_byte_len$offset()) : readByteLen)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_imm_data}, in network byte order. */
    public int readImmData() {
        return (int) (readImmData == null ? readImmData = at(ibv_cq_ex.read_imm_data$offset()) : readImmData)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_invalidated_rkey}: the same function pointer, but the value is in host byte order. */
    public int readInvalidatedRkey() {
        return (int) (readImmData == null ? readImmData = at(ibv_cq_ex.read_imm_data$offset()) : readImmData)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_qp_num}. */
    public int readQpNum() {
        return (int) (readQpNum == null ? readQpNum = at(ibv_cq_ex.read_qp_num$offset()) : readQpNum)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_src_qp}. */
    public int readSrcQp() {
        return (int) (readSrcQp == null ? readSrcQp = at(ibv_cq_ex.read_src_qp$offset()) : readSrcQp)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_wc_flags}, bits of {@code enum ibv_wc_flags}. */
    public int readWcFlags() {
        return (int) (readWcFlags == null ? readWcFlags = at(ibv_cq_ex.read_wc_flags$offset()) : readWcFlags)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_slid}. */
    public int readSlid() {
        return (int) (readSlid == null ? readSlid = at(ibv_cq_ex.read_slid$offset()) : readSlid)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_sl}: 0 to 255. */
    public int readSl() {
        return Byte.toUnsignedInt((byte) (readSl == null ? readSl = at(ibv_cq_ex.read_sl$offset()) : readSl)
                .call(struct, 0, 0, 0, 0, 0));
    }

    /** {@code ibv_wc_read_dlid_path_bits}: 0 to 255. */
    public int readDlidPathBits() {
        return Byte.toUnsignedInt((byte) (readDlidPathBits == null
                ? readDlidPathBits = at(ibv_cq_ex.read_dlid_path_bits$offset()) : readDlidPathBits)
                .call(struct, 0, 0, 0, 0, 0));
    }

    /** {@code ibv_wc_read_completion_ts}, in ticks of the device. */
    public long readCompletionTs() {
        return (readCompletionTs == null
                ? readCompletionTs = at(ibv_cq_ex.read_completion_ts$offset()) : readCompletionTs)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_cvlan}: 0 to 65535. */
    public int readCvlan() {
        return Short.toUnsignedInt((short) (readCvlan == null
                ? readCvlan = at(ibv_cq_ex.read_cvlan$offset()) : readCvlan).call(struct, 0, 0, 0, 0, 0));
    }

    /** {@code ibv_wc_read_flow_tag}. */
    public int readFlowTag() {
        return (int) (readFlowTag == null ? readFlowTag = at(ibv_cq_ex.read_flow_tag$offset()) : readFlowTag)
                .call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_tm_info} into the {@code struct ibv_wc_tm_info} at an address. */
    public void readTmInfo(long info) {
        (readTmInfo == null ? readTmInfo = at(ibv_cq_ex.read_tm_info$offset()) : readTmInfo)
                .call(struct, info, 0, 0, 0, 0);
    }

    /** {@code ibv_wc_read_completion_wallclock_ns}. */
    public long readCompletionWallclockNs() {
        return (readCompletionWallclockNs == null
                ? readCompletionWallclockNs = at(ibv_cq_ex.read_completion_wallclock_ns$offset())
                : readCompletionWallclockNs)
                .call(struct, 0, 0, 0, 0, 0);
    }
}
