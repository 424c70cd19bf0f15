// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * How a work request ended ({@code enum ibv_wc_status}, ibv_poll_cq(3)), in the order of the C constants. After
 * any but {@link #SUCCESS} and those of tag matching the queue pair is in the error state; after one of the send queue
 * of an unreliable one it may be in SQE instead.
 */
public enum WorkCompletionStatus {
    /** It did what was asked. */
    SUCCESS,
    /**
     * Local length error. On a send queue: the message is longer than the port sends, or a datagram than a packet. On a
     * receive queue: the posted receive was too small for the message. SoftRoCE gives {@link #LOC_QP_OP_ERR} for that.
     */
    LOC_LEN_ERR,
    /**
     * Local queue pair operation error: the request contradicts itself or the queue pair, such as an operation that its
     * transport does not have.
     */
    LOC_QP_OP_ERR,
    /** Local end-to-end context operation error: as {@link #LOC_QP_OP_ERR}, of reliable datagrams only. */
    LOC_EEC_OP_ERR,
    /**
     * Local protection error: an entry of the scatter list names memory that is not registered, not for this use, or
     * not in the protection domain of the queue pair.
     */
    LOC_PROT_ERR,
    /**
     * Flushed: the queue pair was in the error state, or went there, before the request was done. The first completion
     * with another error tells why.
     */
    WR_FLUSH_ERR,
    /**
     * Memory window bind error: the window could not be bound so: it is bound already, the key is none of its keys, or
     * the region does not allow it.
     */
    MW_BIND_ERR,
    /** Bad response: the peer answered with a packet of an opcode that does not belong there. */
    BAD_RESP_ERR,
    /** Local access error: a protection fault of this side's memory when a peer's RDMA write with immediate arrived. */
    LOC_ACCESS_ERR,
    /**
     * Remote invalid request: the peer found the message invalid: its queue pair does not take the operation, its
     * receive was too small, or it is asked for more reads and atomics at once than it can do.
     */
    REM_INV_REQ_ERR,
    /**
     * Remote access error: a protection fault at the peer: the remote key is none of its keys, or does not cover the
     * address, the length or the operation.
     */
    REM_ACCESS_ERR,
    /** Remote operation error: the peer could not do it for a fault on its own side, which its completion names. */
    REM_OP_ERR,
    /**
     * Transport retries exceeded: no answer came, however often it was sent: the peer is gone, unreachable, or not
     * ready to receive yet (its queue pair is not in RTR).
     */
    RETRY_EXC_ERR,
    /** Receiver-not-ready retries exceeded: the peer had no receive posted, however often it was sent. */
    RNR_RETRY_EXC_ERR,
    /** Local reliable-datagram domain violation: the domains of queue pair and context differ; reliable datagrams. */
    LOC_RDD_VIOL_ERR,
    /** Remote invalid reliable-datagram request: the peer found its domain to be another; reliable datagrams. */
    REM_INV_RD_REQ_ERR,
    /** Remote aborted: the peer gave the operation up, for one of its queue pairs is in the error state. */
    REM_ABORT_ERR,
    /** Invalid end-to-end context number; reliable datagrams. */
    INV_EECN_ERR,
    /** Invalid end-to-end context state; reliable datagrams. */
    INV_EEC_STATE_ERR,
    /** Fatal error of the device: it must be restarted. */
    FATAL_ERR,
    /** Response timeout: the answer did not come in time. */
    RESP_TIMEOUT_ERR,
    /** Any other transport error. */
    GENERAL_ERR,
    /** Tag matching error: an operation on the list of tagged buffers failed. */
    TM_ERR,
    /** Tag matching: the message is a rendezvous that the device did not complete; the program must read the data. */
    TM_RNDV_INCOMPLETE;

    private static final NativeFunction TEXT = NativeFunction.of("ibv_wc_status_str");
    private static final WorkCompletionStatus[] VALUES = values();

    /** {@return the C constant} */
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
