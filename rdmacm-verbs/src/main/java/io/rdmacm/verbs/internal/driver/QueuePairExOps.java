// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import io.rdmacm.bindings.ibv_qp_ex;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * The function table of an {@code ibv_qp_ex}, which the inline functions {@code ibv_wr_*} of verbs.h call. For the data
 * path, with addresses as numbers. Each pointer but that of {@link #complete} is read once, by the first call.
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
public final class QueuePairExOps {
    private static final long ID = ibv_qp_ex.wr_id$offset();
    private static final long FLAGS = ibv_qp_ex.wr_flags$offset();
    private static final long COMPLETE = ibv_qp_ex.wr_complete$offset();

    private final long queue;
    private final boolean userSpace;
    // null until the first call
    private DriverCall atomicCmpSwp;
    private DriverCall atomicFetchAdd;
    private DriverCall bindMw;
    private DriverCall localInv;
    private DriverCall rdmaRead;
    private DriverCall rdmaWrite;
    private DriverCall rdmaWriteImm;
    private DriverCall send;
    private DriverCall sendImm;
    private DriverCall sendInv;
    private DriverCall sendTso;
    private DriverCall setUdAddr;
    private DriverCall setXrcSrqn;
    private DriverCall setInlineData;
    private DriverCall setInlineDataList;
    private DriverCall setSge;
    private DriverCall setSgeList;
    private DriverCall start;
    private DriverCall complete;
    private long completeFunction;
    private DriverCall abort;
    private DriverCall atomicWrite;
    private DriverCall flush;

    /**
     * Creates the function table of a queue pair.
     *
     * @param queue the address of a {@code struct ibv_qp_ex}, from {@code ibv_qp_to_qp_ex}
     * @param userSpace whether posting never enters the kernel
     */
    public QueuePairExOps(long queue, boolean userSpace) {
        this.queue = queue;
        this.userSpace = userSpace;
    }

    private DriverCall made(long offset, int arguments) {
        return DriverCall.of(Memory.getLong(queue + offset), true, arguments);
    }

    /**
     * Sets the members {@code wr_id} and {@code wr_flags} for the next work request.
     *
     * @param workRequestId an arbitrary value
     * @param sendFlags bits of {@code enum ibv_send_flags}
     */
    public void next(long workRequestId, int sendFlags) {
        Memory.putLong(queue, ID, workRequestId);
        Memory.putInt(queue, FLAGS, sendFlags);
    }

    /** {@code ibv_wr_start}. */
    public void start() {
        if (start == null) {
            start = made(ibv_qp_ex.wr_start$offset(), 1);
        }
        start.call(queue);
    }

    /**
     * Calls {@code ibv_wr_complete}. libmlx5 has two such functions: in the states before RTS it sets the pointer to
     * one that refuses everything.
     *
     * @return 0, or the error number if nothing was posted
     */
    public int complete() {
        long function = Memory.getLong(queue, COMPLETE);
        if (complete == null || function != completeFunction) {
            complete = DriverCall.of(function, userSpace, 1);
            completeFunction = function;
        }
        return (int) complete.call(queue);
    }

    /** {@code ibv_wr_abort}. */
    public void abort() {
        if (abort == null) {
            abort = made(ibv_qp_ex.wr_abort$offset(), 1);
        }
        abort.call(queue);
    }

    /** Begins a request and discards it: {@code ibv_wr_start}, {@code ibv_wr_send} and {@code ibv_wr_abort}. */
    public void beginOne() {
        if (Memory.getLong(queue + ibv_qp_ex.wr_send$offset()) != 0) {
            start();
            next(0, 0);
            send();
            abort();
        }
    }

    /** {@code ibv_wr_send}. */
    public void send() {
        if (send == null) {
            send = made(ibv_qp_ex.wr_send$offset(), 1);
        }
        send.call(queue);
    }

    /** {@code ibv_wr_send_imm}; the value is in network byte order. */
    public void sendImm(int networkImmediate) {
        if (sendImm == null) {
            sendImm = made(ibv_qp_ex.wr_send_imm$offset(), 2);
        }
        sendImm.call(queue, unsigned(networkImmediate));
    }

    /** {@code ibv_wr_send_inv}. */
    public void sendInv(int remoteKey) {
        if (sendInv == null) {
            sendInv = made(ibv_qp_ex.wr_send_inv$offset(), 2);
        }
        sendInv.call(queue, unsigned(remoteKey));
    }

    /**
     * Calls {@code ibv_wr_send_tso}.
     *
     * @param header the address of the header
     * @param headerSize the size of the header in bytes, 16 bits
     * @param maxSegmentSize the maximum segment size in bytes, 16 bits
     */
    public void sendTso(long header, int headerSize, int maxSegmentSize) {
        if (sendTso == null) {
            sendTso = made(ibv_qp_ex.wr_send_tso$offset(), 4);
        }
        sendTso.call(queue, header, headerSize, maxSegmentSize);
    }

    /** {@code ibv_wr_rdma_read}. */
    public void rdmaRead(int remoteKey, long remoteAddress) {
        if (rdmaRead == null) {
            rdmaRead = made(ibv_qp_ex.wr_rdma_read$offset(), 3);
        }
        rdmaRead.call(queue, unsigned(remoteKey), remoteAddress);
    }

    /** {@code ibv_wr_rdma_write}. */
    public void rdmaWrite(int remoteKey, long remoteAddress) {
        if (rdmaWrite == null) {
            rdmaWrite = made(ibv_qp_ex.wr_rdma_write$offset(), 3);
        }
        rdmaWrite.call(queue, unsigned(remoteKey), remoteAddress);
    }

    /** {@code ibv_wr_rdma_write_imm}; the value is in network byte order. */
    public void rdmaWriteImm(int remoteKey, long remoteAddress, int networkImmediate) {
        if (rdmaWriteImm == null) {
            rdmaWriteImm = made(ibv_qp_ex.wr_rdma_write_imm$offset(), 4);
        }
        rdmaWriteImm.call(queue, unsigned(remoteKey), remoteAddress, unsigned(networkImmediate));
    }

    /** {@code ibv_wr_atomic_cmp_swp}. */
    public void atomicCmpSwp(int remoteKey, long remoteAddress, long compare, long swap) {
        if (atomicCmpSwp == null) {
            atomicCmpSwp = made(ibv_qp_ex.wr_atomic_cmp_swp$offset(), 5);
        }
        atomicCmpSwp.call(queue, unsigned(remoteKey), remoteAddress, compare, swap);
    }

    /** {@code ibv_wr_atomic_fetch_add}. */
    public void atomicFetchAdd(int remoteKey, long remoteAddress, long add) {
        if (atomicFetchAdd == null) {
            atomicFetchAdd = made(ibv_qp_ex.wr_atomic_fetch_add$offset(), 4);
        }
        atomicFetchAdd.call(queue, unsigned(remoteKey), remoteAddress, add);
    }

    /** {@code ibv_wr_atomic_write}; the address of the 8 bytes to write comes last. */
    public void atomicWrite(int remoteKey, long remoteAddress, long data) {
        if (atomicWrite == null) {
            atomicWrite = made(ibv_qp_ex.wr_atomic_write$offset(), 4);
        }
        atomicWrite.call(queue, unsigned(remoteKey), remoteAddress, data);
    }

    /** {@code ibv_wr_flush}; C reads the lowest 8 bits of the type and of the level. */
    public void flush(int remoteKey, long remoteAddress, long length, int type, int level) {
        if (flush == null) {
            flush = made(ibv_qp_ex.wr_flush$offset(), 6);
        }
        flush.call(queue, unsigned(remoteKey), remoteAddress, length, type, level);
    }

    /** {@code ibv_wr_bind_mw}; addresses of a {@code struct ibv_mw} and a {@code struct ibv_mw_bind_info}. */
    public void bindMw(long window, int remoteKey, long bindInfo) {
        if (bindMw == null) {
            bindMw = made(ibv_qp_ex.wr_bind_mw$offset(), 4);
        }
        bindMw.call(queue, window, unsigned(remoteKey), bindInfo);
    }

    /** {@code ibv_wr_local_inv}. */
    public void localInv(int key) {
        if (localInv == null) {
            localInv = made(ibv_qp_ex.wr_local_inv$offset(), 2);
        }
        localInv.call(queue, unsigned(key));
    }

    /** {@code ibv_wr_set_ud_addr}; the address of a {@code struct ibv_ah}. */
    public void setUdAddr(long addressHandle, int remoteQueuePair, int remoteQueueKey) {
        if (setUdAddr == null) {
            setUdAddr = made(ibv_qp_ex.wr_set_ud_addr$offset(), 4);
        }
        setUdAddr.call(queue, addressHandle, unsigned(remoteQueuePair), unsigned(remoteQueueKey));
    }

    /** {@code ibv_wr_set_xrc_srqn}. */
    public void setXrcSrqn(int remoteNumber) {
        if (setXrcSrqn == null) {
            setXrcSrqn = made(ibv_qp_ex.wr_set_xrc_srqn$offset(), 2);
        }
        setXrcSrqn.call(queue, unsigned(remoteNumber));
    }

    /** {@code ibv_wr_set_inline_data}. */
    public void setInlineData(long address, long length) {
        if (setInlineData == null) {
            setInlineData = made(ibv_qp_ex.wr_set_inline_data$offset(), 3);
        }
        setInlineData.call(queue, address, length);
    }

    /** {@code ibv_wr_set_inline_data_list}; the address of an array of {@code struct ibv_data_buf}. */
    public void setInlineDataList(long count, long buffers) {
        if (setInlineDataList == null) {
            setInlineDataList = made(ibv_qp_ex.wr_set_inline_data_list$offset(), 3);
        }
        setInlineDataList.call(queue, count, buffers);
    }

    /** {@code ibv_wr_set_sge}. */
    public void setSge(int localKey, long address, int length) {
        if (setSge == null) {
            setSge = made(ibv_qp_ex.wr_set_sge$offset(), 4);
        }
        setSge.call(queue, unsigned(localKey), address, unsigned(length));
    }

    /** {@code ibv_wr_set_sge_list}; the address of an array of {@code struct ibv_sge}. */
    public void setSgeList(long count, long list) {
        if (setSgeList == null) {
            setSgeList = made(ibv_qp_ex.wr_set_sge_list$offset(), 3);
        }
        setSgeList.call(queue, count, list);
    }

    private static long unsigned(int value) {
        return Integer.toUnsignedLong(value);
    }
}
