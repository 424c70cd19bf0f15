// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

import io.rdmacm.bindings.ibv_qp_ex;

/**
 * The functions of one {@code ibv_qp_ex}, which the inline functions {@code ibv_wr_*} of verbs.h call: the pointers are
 * read once, when the queue pair is made. For the data path, with addresses as numbers. Which operations may be called
 * is said by the {@code send_ops_flags} that the queue pair was made with: the caller has to check them, for an old
 * driver has other memory where the newest pointers are. A null pointer is an IllegalArgumentException.
 *
 * <p>A driver may keep a spin lock from {@link #start} to {@link #complete} or {@link #abort}. So start is never a
 * critical call: a thread that spins inside one keeps the whole JVM from a safepoint, and the owner of the lock may be
 * stopped for just that. The calls in between write to memory, and are critical; whether complete may be is for the
 * caller to know, for with some drivers it is a system call.
 */
public final class QueuePairExOps {
    private static final boolean CRITICAL = FastPath.CRITICAL_ALLOWED;
    private static final MethodHandle START = Shape.plain(false, null, 1);
    private static final MethodHandle COMPLETE = Shape.plain(false, ValueLayout.JAVA_INT, 1);
    private static final MethodHandle COMPLETE_CRITICAL = Shape.plain(CRITICAL, ValueLayout.JAVA_INT, 1);
    private static final MethodHandle VOID_1 = Shape.plain(CRITICAL, null, 1);
    private static final MethodHandle VOID_2 = Shape.plain(CRITICAL, null, 2);
    private static final MethodHandle VOID_3 = Shape.plain(CRITICAL, null, 3);
    private static final MethodHandle VOID_4 = Shape.plain(CRITICAL, null, 4);
    private static final MethodHandle VOID_5 = Shape.plain(CRITICAL, null, 5);

    private final long queue;
    private final MemorySegment atomicCmpSwp;
    private final MemorySegment atomicFetchAdd;
    private final MemorySegment bindMw;
    private final MemorySegment localInv;
    private final MemorySegment rdmaRead;
    private final MemorySegment rdmaWrite;
    private final MemorySegment rdmaWriteImm;
    private final MemorySegment send;
    private final MemorySegment sendImm;
    private final MemorySegment sendInv;
    private final MemorySegment sendTso;
    private final MemorySegment setUdAddr;
    private final MemorySegment setXrcSrqn;
    private final MemorySegment setInlineData;
    private final MemorySegment setInlineDataList;
    private final MemorySegment setSge;
    private final MemorySegment setSgeList;
    private final MemorySegment start;
    private final MemorySegment complete;
    private final MemorySegment abort;
    private final MemorySegment atomicWrite;

    /**
     * The functions of a queue pair.
     *
     * @param queue the address of a {@code struct ibv_qp_ex}, from {@code ibv_qp_to_qp_ex}
     */
    public QueuePairExOps(long queue) {
        this.queue = queue;
        this.atomicCmpSwp = read(ibv_qp_ex.wr_atomic_cmp_swp$offset());
        this.atomicFetchAdd = read(ibv_qp_ex.wr_atomic_fetch_add$offset());
        this.bindMw = read(ibv_qp_ex.wr_bind_mw$offset());
        this.localInv = read(ibv_qp_ex.wr_local_inv$offset());
        this.rdmaRead = read(ibv_qp_ex.wr_rdma_read$offset());
        this.rdmaWrite = read(ibv_qp_ex.wr_rdma_write$offset());
        this.rdmaWriteImm = read(ibv_qp_ex.wr_rdma_write_imm$offset());
        this.send = read(ibv_qp_ex.wr_send$offset());
        this.sendImm = read(ibv_qp_ex.wr_send_imm$offset());
        this.sendInv = read(ibv_qp_ex.wr_send_inv$offset());
        this.sendTso = read(ibv_qp_ex.wr_send_tso$offset());
        this.setUdAddr = read(ibv_qp_ex.wr_set_ud_addr$offset());
        this.setXrcSrqn = read(ibv_qp_ex.wr_set_xrc_srqn$offset());
        this.setInlineData = read(ibv_qp_ex.wr_set_inline_data$offset());
        this.setInlineDataList = read(ibv_qp_ex.wr_set_inline_data_list$offset());
        this.setSge = read(ibv_qp_ex.wr_set_sge$offset());
        this.setSgeList = read(ibv_qp_ex.wr_set_sge_list$offset());
        this.start = read(ibv_qp_ex.wr_start$offset());
        this.complete = read(ibv_qp_ex.wr_complete$offset());
        this.abort = read(ibv_qp_ex.wr_abort$offset());
        this.atomicWrite = read(ibv_qp_ex.wr_atomic_write$offset());
    }

    private MemorySegment read(long offset) {
        return Shape.function(Memory.getLong(queue + offset));
    }

    /** Writes {@code wr_id}: before each of the work requests. */
    public void id(long workRequestId) {
        Memory.putLong(queue + ibv_qp_ex.wr_id$offset(), workRequestId);
    }

    /** Writes {@code wr_flags}, bits of {@code enum ibv_send_flags}: before each of the work requests. */
    public void flags(int sendFlags) {
        Memory.putInt(queue + ibv_qp_ex.wr_flags$offset(), sendFlags);
    }

    /** {@code ibv_wr_start}. */
    public void start() {
        try {
            START.invokeExact(start, queue);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    /**
     * {@code ibv_wr_complete}.
     *
     * @param critical only where the driver stays in user space
     * @return 0 or the error number; then nothing was posted
     */
    public int complete(boolean critical) {
        try {
            return critical
                    ? (int) COMPLETE_CRITICAL.invokeExact(complete, queue)
                    : (int) COMPLETE.invokeExact(complete, queue);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    /** {@code ibv_wr_abort}. */
    public void abort() {
        call(abort);
    }

    /** {@code ibv_wr_send}. */
    public void send() {
        call(send);
    }

    /** {@code ibv_wr_send_imm}; the value is in network byte order. */
    public void sendImm(int networkImmediate) {
        call(sendImm, unsigned(networkImmediate));
    }

    /** {@code ibv_wr_send_inv}. */
    public void sendInv(int remoteKey) {
        call(sendInv, unsigned(remoteKey));
    }

    /**
     * {@code ibv_wr_send_tso}.
     *
     * @param header the address of the header
     * @param headerSize its bytes, 16 bits
     * @param maxSegmentSize 16 bits
     */
    public void sendTso(long header, int headerSize, int maxSegmentSize) {
        call(sendTso, header, headerSize, maxSegmentSize);
    }

    /** {@code ibv_wr_rdma_read}. */
    public void rdmaRead(int remoteKey, long remoteAddress) {
        call(rdmaRead, unsigned(remoteKey), remoteAddress);
    }

    /** {@code ibv_wr_rdma_write}. */
    public void rdmaWrite(int remoteKey, long remoteAddress) {
        call(rdmaWrite, unsigned(remoteKey), remoteAddress);
    }

    /** {@code ibv_wr_rdma_write_imm}; the value is in network byte order. */
    public void rdmaWriteImm(int remoteKey, long remoteAddress, int networkImmediate) {
        call(rdmaWriteImm, unsigned(remoteKey), remoteAddress, unsigned(networkImmediate));
    }

    /** {@code ibv_wr_atomic_cmp_swp}. */
    public void atomicCmpSwp(int remoteKey, long remoteAddress, long compare, long swap) {
        try {
            VOID_5.invokeExact(atomicCmpSwp, queue, unsigned(remoteKey), remoteAddress, compare, swap);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    /** {@code ibv_wr_atomic_fetch_add}. */
    public void atomicFetchAdd(int remoteKey, long remoteAddress, long add) {
        call(atomicFetchAdd, unsigned(remoteKey), remoteAddress, add);
    }

    /** {@code ibv_wr_atomic_write}; the address of the 8 bytes to write comes last. */
    public void atomicWrite(int remoteKey, long remoteAddress, long data) {
        call(atomicWrite, unsigned(remoteKey), remoteAddress, data);
    }

    /** {@code ibv_wr_bind_mw}; addresses of a {@code struct ibv_mw} and a {@code struct ibv_mw_bind_info}. */
    public void bindMw(long window, int remoteKey, long bindInfo) {
        call(bindMw, window, unsigned(remoteKey), bindInfo);
    }

    /** {@code ibv_wr_local_inv}. */
    public void localInv(int key) {
        call(localInv, unsigned(key));
    }

    /** {@code ibv_wr_set_ud_addr}; the address of a {@code struct ibv_ah}. */
    public void setUdAddr(long addressHandle, int remoteQueuePair, int remoteQueueKey) {
        call(setUdAddr, addressHandle, unsigned(remoteQueuePair), unsigned(remoteQueueKey));
    }

    /** {@code ibv_wr_set_xrc_srqn}. */
    public void setXrcSrqn(int remoteNumber) {
        call(setXrcSrqn, unsigned(remoteNumber));
    }

    /** {@code ibv_wr_set_inline_data}. */
    public void setInlineData(long address, long length) {
        call(setInlineData, address, length);
    }

    /** {@code ibv_wr_set_inline_data_list}; the address of an array of {@code struct ibv_data_buf}. */
    public void setInlineDataList(long count, long buffers) {
        call(setInlineDataList, count, buffers);
    }

    /** {@code ibv_wr_set_sge}. */
    public void setSge(int localKey, long address, int length) {
        call(setSge, unsigned(localKey), address, unsigned(length));
    }

    /** {@code ibv_wr_set_sge_list}; the address of an array of {@code struct ibv_sge}. */
    public void setSgeList(long count, long list) {
        call(setSgeList, count, list);
    }

    private static long unsigned(int value) {
        return Integer.toUnsignedLong(value);
    }

    private void call(MemorySegment function) {
        try {
            VOID_1.invokeExact(function, queue);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    private void call(MemorySegment function, long a) {
        try {
            VOID_2.invokeExact(function, queue, a);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    private void call(MemorySegment function, long a, long b) {
        try {
            VOID_3.invokeExact(function, queue, a, b);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }

    private void call(MemorySegment function, long a, long b, long c) {
        try {
            VOID_4.invokeExact(function, queue, a, b, c);
        } catch (Throwable e) {
            throw NativeFunction.unexpected(e);
        }
    }
}
