// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import io.rdmacm.bindings.ibv_qp_ex;
import io.rdmacm.verbs.internal.ffi.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The function table of an {@code ibv_qp_ex}, which the inline functions {@code ibv_wr_*} of verbs.h call. For the data
 * path, with addresses as numbers.
 *
 * <p>Callers must check that the queue pair was created with the {@code send_ops_flags} for an operation before they
 * call it: with an old driver the struct is shorter, and the newest pointers lie in unrelated memory. Calling a null
 * pointer throws IllegalArgumentException.
 *
 * <p>All calls except {@link #complete}, which makes a system call with some drivers, are critical. A driver may hold a
 * spin lock from {@link #start} to complete or {@link #abort}. A second thread that spun on it in a critical call would
 * keep the JVM from reaching a safepoint, while the owner of the lock may already be stopped at that safepoint: a
 * deadlock. So callers must not start a batch, or post in another way, while another batch of the same queue pair is
 * open.
 */
public final class QueuePairExOps extends FunctionTable {
    private static final long ID = ibv_qp_ex.wr_id$offset();
    private static final long FLAGS = ibv_qp_ex.wr_flags$offset();
    private static final long COMPLETE = ibv_qp_ex.wr_complete$offset();

    private final boolean userSpace;
    // null until the first call
    private @Nullable DriverCall complete;
    private long completeFunction;
    private @Nullable DriverCall start;
    private @Nullable DriverCall abort;
    private @Nullable DriverCall send;
    private @Nullable DriverCall sendImm;
    private @Nullable DriverCall sendInv;
    private @Nullable DriverCall sendTso;
    private @Nullable DriverCall rdmaRead;
    private @Nullable DriverCall rdmaWrite;
    private @Nullable DriverCall rdmaWriteImm;
    private @Nullable DriverCall atomicCmpSwp;
    private @Nullable DriverCall atomicFetchAdd;
    private @Nullable DriverCall atomicWrite;
    private @Nullable DriverCall flush;
    private @Nullable DriverCall bindMw;
    private @Nullable DriverCall localInv;
    private @Nullable DriverCall setUdAddr;
    private @Nullable DriverCall setXrcSrqn;
    private @Nullable DriverCall setInlineData;
    private @Nullable DriverCall setInlineDataList;
    private @Nullable DriverCall setSge;
    private @Nullable DriverCall setSgeList;

    /**
     * Creates the function table of a queue pair.
     *
     * @param queue the address of a {@code struct ibv_qp_ex}, from {@code ibv_qp_to_qp_ex}
     * @param userSpace whether posting never enters the kernel
     */
    public QueuePairExOps(long queue, boolean userSpace) {
        super(queue);
        this.userSpace = userSpace;
    }

    /**
     * Sets the members {@code wr_id} and {@code wr_flags} for the next work request.
     *
     * @param workRequestId an arbitrary value
     * @param sendFlags bits of {@code enum ibv_send_flags}
     */
    public void next(long workRequestId, int sendFlags) {
        Memory.putLong(struct, ID, workRequestId);
        Memory.putInt(struct, FLAGS, sendFlags);
    }

    /** {@code ibv_wr_start}. */
    public void start() {
        (start == null ? start = at(ibv_qp_ex.wr_start$offset()) : start).call(struct, 0, 0, 0, 0, 0);
    }

    /**
     * Calls {@code ibv_wr_complete}. libmlx5 has two such functions: in the states before RTS it sets the pointer to
     * one that refuses everything.
     *
     * @return 0, or the error number if nothing was posted
     */
    public int complete() {
        long function = Memory.getLong(struct, COMPLETE);
        if (complete == null || function != completeFunction) {
            complete = DriverCall.of(function, userSpace);
            completeFunction = function;
        }
        return (int) complete.call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wr_abort}. */
    public void abort() {
        (abort == null ? abort = at(ibv_qp_ex.wr_abort$offset()) : abort).call(struct, 0, 0, 0, 0, 0);
    }

    /** Begins a request and discards it: {@code ibv_wr_start}, {@code ibv_wr_send} and {@code ibv_wr_abort}. */
    public void beginOne() {
        if (Memory.getLong(struct + ibv_qp_ex.wr_send$offset()) != 0) {
            start();
            next(0, 0);
            send();
            abort();
        }
    }

    /** {@code ibv_wr_send}. */
    public void send() {
        (send == null ? send = at(ibv_qp_ex.wr_send$offset()) : send).call(struct, 0, 0, 0, 0, 0);
    }

    /** {@code ibv_wr_send_imm}; the value is in network byte order. */
    public void sendImm(int networkImmediate) {
        (sendImm == null ? sendImm = at(ibv_qp_ex.wr_send_imm$offset()) : sendImm)
                .call(struct, unsigned(networkImmediate), 0, 0, 0, 0);
    }

    /** {@code ibv_wr_send_inv}. */
    public void sendInv(int remoteKey) {
        (sendInv == null ? sendInv = at(ibv_qp_ex.wr_send_inv$offset()) : sendInv)
                .call(struct, unsigned(remoteKey), 0, 0, 0, 0);
    }

    /**
     * Calls {@code ibv_wr_send_tso}.
     *
     * @param header the address of the header
     * @param headerSize the size of the header in bytes, 16 bits
     * @param maxSegmentSize the maximum segment size in bytes, 16 bits
     */
    public void sendTso(long header, int headerSize, int maxSegmentSize) {
        (sendTso == null ? sendTso = at(ibv_qp_ex.wr_send_tso$offset()) : sendTso)
                .call(struct, header, headerSize, maxSegmentSize, 0, 0);
    }

    /** {@code ibv_wr_rdma_read}. */
    public void rdmaRead(int remoteKey, long remoteAddress) {
        (rdmaRead == null ? rdmaRead = at(ibv_qp_ex.wr_rdma_read$offset()) : rdmaRead)
                .call(struct, unsigned(remoteKey), remoteAddress, 0, 0, 0);
    }

    /** {@code ibv_wr_rdma_write}. */
    public void rdmaWrite(int remoteKey, long remoteAddress) {
        (rdmaWrite == null ? rdmaWrite = at(ibv_qp_ex.wr_rdma_write$offset()) : rdmaWrite)
                .call(struct, unsigned(remoteKey), remoteAddress, 0, 0, 0);
    }

    /** {@code ibv_wr_rdma_write_imm}; the value is in network byte order. */
    public void rdmaWriteImm(int remoteKey, long remoteAddress, int networkImmediate) {
        (rdmaWriteImm == null ? rdmaWriteImm = at(ibv_qp_ex.wr_rdma_write_imm$offset()) : rdmaWriteImm)
                .call(struct, unsigned(remoteKey), remoteAddress,
                unsigned(networkImmediate), 0, 0);
    }

    /** {@code ibv_wr_atomic_cmp_swp}. */
    public void atomicCmpSwp(int remoteKey, long remoteAddress, long compare, long swap) {
        (atomicCmpSwp == null ? atomicCmpSwp = withManyAt(ibv_qp_ex.wr_atomic_cmp_swp$offset()) : atomicCmpSwp)
                .call(struct, unsigned(remoteKey), remoteAddress, compare, swap, 0);
    }

    /** {@code ibv_wr_atomic_fetch_add}. */
    public void atomicFetchAdd(int remoteKey, long remoteAddress, long add) {
        (atomicFetchAdd == null ? atomicFetchAdd = at(ibv_qp_ex.wr_atomic_fetch_add$offset()) : atomicFetchAdd)
                .call(struct, unsigned(remoteKey), remoteAddress, add, 0, 0);
    }

    /** {@code ibv_wr_atomic_write}; the address of the 8 bytes to write comes last. */
    public void atomicWrite(int remoteKey, long remoteAddress, long data) {
        (atomicWrite == null ? atomicWrite = at(ibv_qp_ex.wr_atomic_write$offset()) : atomicWrite)
                .call(struct, unsigned(remoteKey), remoteAddress, data, 0, 0);
    }

    /** {@code ibv_wr_flush}; C reads the lowest 8 bits of the type and of the level. */
    public void flush(int remoteKey, long remoteAddress, long length, int type, int level) {
        (flush == null ? flush = withManyAt(ibv_qp_ex.wr_flush$offset()) : flush)
                .call(struct, unsigned(remoteKey), remoteAddress, length, type, level);
    }

    /** {@code ibv_wr_bind_mw}; addresses of a {@code struct ibv_mw} and a {@code struct ibv_mw_bind_info}. */
    public void bindMw(long window, int remoteKey, long bindInfo) {
        (bindMw == null ? bindMw = at(ibv_qp_ex.wr_bind_mw$offset()) : bindMw)
                .call(struct, window, unsigned(remoteKey), bindInfo, 0, 0);
    }

    /** {@code ibv_wr_local_inv}. */
    public void localInv(int key) {
        (localInv == null ? localInv = at(ibv_qp_ex.wr_local_inv$offset()) : localInv)
                .call(struct, unsigned(key), 0, 0, 0, 0);
    }

    /** {@code ibv_wr_set_ud_addr}; the address of a {@code struct ibv_ah}. */
    public void setUdAddr(long addressHandle, int remoteQueuePair, int remoteQueueKey) {
        (setUdAddr == null ? setUdAddr = at(ibv_qp_ex.wr_set_ud_addr$offset()) : setUdAddr)
                .call(struct, addressHandle, unsigned(remoteQueuePair),
                unsigned(remoteQueueKey), 0, 0);
    }

    /** {@code ibv_wr_set_xrc_srqn}. */
    public void setXrcSrqn(int remoteNumber) {
        (setXrcSrqn == null ? setXrcSrqn = at(ibv_qp_ex.wr_set_xrc_srqn$offset()) : setXrcSrqn)
                .call(struct, unsigned(remoteNumber), 0, 0, 0, 0);
    }

    /** {@code ibv_wr_set_inline_data}. */
    public void setInlineData(long address, long length) {
        (setInlineData == null ? setInlineData = at(ibv_qp_ex.wr_set_inline_data$offset()) : setInlineData)
                .call(struct, address, length, 0, 0, 0);
    }

    /** {@code ibv_wr_set_inline_data_list}; the address of an array of {@code struct ibv_data_buf}. */
    public void setInlineDataList(long count, long buffers) {
        (setInlineDataList == null
                ? setInlineDataList = at(ibv_qp_ex.wr_set_inline_data_list$offset()) : setInlineDataList)
                .call(struct, count, buffers, 0, 0, 0);
    }

    /** {@code ibv_wr_set_sge}. */
    public void setSge(int localKey, long address, int length) {
        (setSge == null ? setSge = at(ibv_qp_ex.wr_set_sge$offset()) : setSge)
                .call(struct, unsigned(localKey), address, unsigned(length), 0, 0);
    }

    /** {@code ibv_wr_set_sge_list}; the address of an array of {@code struct ibv_sge}. */
    public void setSgeList(long count, long list) {
        (setSgeList == null ? setSgeList = at(ibv_qp_ex.wr_set_sge_list$offset()) : setSgeList)
                .call(struct, count, list, 0, 0, 0);
    }

    private static long unsigned(int value) {
        return Integer.toUnsignedLong(value);
    }
}
