// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * The status of a completed work request ({@code enum ibv_wc_status}, ibv_poll_cq(3)), in the order of the C constants.
 * After any status other than {@link #SUCCESS} and those of tag matching, the queue pair is in the error state; after a
 * send error of an unreliable transport it may be in SQE instead.
 */
public enum WorkCompletionStatus {
    /** The work request succeeded. */
    SUCCESS,
    /**
     * Local length error. On a send queue: the message is longer than the maximum of the port, or a datagram is longer
     * than a packet. On a receive queue: the posted receive was too small for the message; SoftRoCE reports
     * {@link #LOC_QP_OP_ERR} instead.
     */
    LOC_LEN_ERR,
    /**
     * Local queue pair operation error: the request is inconsistent, or not possible on this queue pair, such as an
     * operation that its transport does not support.
     */
    LOC_QP_OP_ERR,
    /** Local end-to-end context operation error: like {@link #LOC_QP_OP_ERR}, but for reliable datagrams only. */
    LOC_EEC_OP_ERR,
    /**
     * Local protection error: a scatter/gather entry refers to memory that is not registered, not registered for this
     * access, or not in the protection domain of the queue pair.
     */
    LOC_PROT_ERR,
    /**
     * Flushed: the queue pair was in the error state, or entered it, before the request completed. The first completion
     * with a different error shows the reason.
     */
    WR_FLUSH_ERR,
    /**
     * Memory window bind error: the window is bound already, the key does not belong to it, or the region does not
     * allow the binding.
     */
    MW_BIND_ERR,
    /** Bad response: the peer answered with a packet of an unexpected opcode. */
    BAD_RESP_ERR,
    /** Local access error: an incoming RDMA write with immediate caused a protection fault in local memory. */
    LOC_ACCESS_ERR,
    /**
     * Remote invalid request: the peer rejected the message. Its queue pair does not support the operation, its receive
     * was too small, or more RDMA reads and atomics were outstanding than it allows.
     */
    REM_INV_REQ_ERR,
    /**
     * Remote access error: a protection fault at the peer. The remote key is not valid, or does not cover the address,
     * the length or the operation.
     */
    REM_ACCESS_ERR,
    /** Remote operation error: the peer failed to perform the operation; its own completion shows the reason. */
    REM_OP_ERR,
    /**
     * Transport retries exceeded: the peer never acknowledged. It is gone, unreachable, or not ready to receive yet
     * (its queue pair is not in RTR).
     */
    RETRY_EXC_ERR,
    /** Receiver-not-ready (RNR) retries exceeded: the peer had no receive posted at any attempt. */
    RNR_RETRY_EXC_ERR,
    /** Local reliable-datagram domain violation: the domains of queue pair and end-to-end context differ. */
    LOC_RDD_VIOL_ERR,
    /** Remote invalid reliable-datagram request: the peer rejected the message because its domain differs. */
    REM_INV_RD_REQ_ERR,
    /** Remote aborted: the peer aborted the operation, because its queue pair is in the error state, for instance. */
    REM_ABORT_ERR,
    /** Invalid end-to-end context number; reliable datagrams. */
    INV_EECN_ERR,
    /** Invalid end-to-end context state; reliable datagrams. */
    INV_EEC_STATE_ERR,
    /** Fatal error: the device must be restarted. */
    FATAL_ERR,
    /** Response timeout: the peer did not respond in time. */
    RESP_TIMEOUT_ERR,
    /** Any other transport error. */
    GENERAL_ERR,
    /** Tag matching error: an operation on the list of tagged buffers failed. */
    TM_ERR,
    /** Tag matching: the device did not complete the rendezvous; the program must read the data itself. */
    TM_RNDV_INCOMPLETE;

    private static final NativeFunction TEXT = NativeFunction.of("ibv_wc_status_str");
    private static final WorkCompletionStatus[] VALUES = values();

    /** {@return the C constant} */
    public int value() {
        return ordinal();
    }

    /**
     * Returns a short description ({@code ibv_wc_status_str}).
     *
     * @return the text of libibverbs
     * @throws NativeLibraryException if libibverbs is missing or too old
     */
    @CFunction("ibv_wc_status_str")
    public String text() throws NativeLibraryException {
        return Memory.string(TEXT.callLong(value()));
    }

    /**
     * Returns the status with the given C constant.
     *
     * @param value a value of {@code enum ibv_wc_status}
     * @return the status; {@link #GENERAL_ERR} for an unknown constant
     */
    public static WorkCompletionStatus of(int value) {
        return value >= 0 && value < VALUES.length ? VALUES[value] : GENERAL_ERR;
    }
}
