// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;

/** How a work request ended ({@code enum ibv_wc_status}, ibv_poll_cq(3)), in the order of the C constants. */
public enum WorkCompletionStatus {
    /** It did what was asked. */
    SUCCESS,
    /** Local length error: a message did not fit into the posted receive, or was longer than the port allows. */
    LOC_LEN_ERR,
    /** Local queue pair operation error: the request was inconsistent. */
    LOC_QP_OP_ERR,
    /** Local EE context operation error. */
    LOC_EEC_OP_ERR,
    /** Local protection error: the scatter list names memory that is not registered for it. */
    LOC_PROT_ERR,
    /** Flushed: the queue pair was in the error state, or went there, before the request was done. */
    WR_FLUSH_ERR,
    /** Memory window bind error. */
    MW_BIND_ERR,
    /** The responder sent something unexpected. */
    BAD_RESP_ERR,
    /** Local access error: a protection fault when data arrived with an RDMA write with immediate. */
    LOC_ACCESS_ERR,
    /** Remote invalid request: the responder found the message invalid. */
    REM_INV_REQ_ERR,
    /** Remote access error: a protection fault at the responder, such as a wrong rkey. */
    REM_ACCESS_ERR,
    /** Remote operation error: the responder could not do it. */
    REM_OP_ERR,
    /** The retries ran out without an answer: the peer is gone or unreachable. */
    RETRY_EXC_ERR,
    /** The receiver-not-ready retries ran out: the peer had no receive posted. */
    RNR_RETRY_EXC_ERR,
    /** Local RDD violation. */
    LOC_RDD_VIOL_ERR,
    /** Remote invalid RD request. */
    REM_INV_RD_REQ_ERR,
    /** The responder aborted the operation. */
    REM_ABORT_ERR,
    /** Invalid EE context number. */
    INV_EECN_ERR,
    /** Invalid EE context state. */
    INV_EEC_STATE_ERR,
    /** Fatal error of the device. */
    FATAL_ERR,
    /** The response timed out. */
    RESP_TIMEOUT_ERR,
    /** Any other transport error. */
    GENERAL_ERR,
    /** Tag matching error. */
    TM_ERR,
    /** Tag matching: a rendezvous was not completed. */
    TM_RNDV_INCOMPLETE;

    private static final NativeFunction TEXT = NativeFunction.of("ibv_wc_status_str");
    private static final WorkCompletionStatus[] VALUES = values();

    /** The C constant. */
    public int value() {
        return ordinal();
    }

    /**
     * What the C library calls it, in a few words ({@code ibv_wc_status_str}).
     *
     * @throws NativeLibraryException when libibverbs is not installed
     */
    @CFunction("ibv_wc_status_str")
    public String text() throws NativeLibraryException {
        return Memory.string(TEXT.callLong(value()));
    }

    /** The status of a C constant; {@link #GENERAL_ERR} for one that is not known. */
    public static WorkCompletionStatus of(int value) {
        return value >= 0 && value < VALUES.length ? VALUES[value] : GENERAL_ERR;
    }
}
