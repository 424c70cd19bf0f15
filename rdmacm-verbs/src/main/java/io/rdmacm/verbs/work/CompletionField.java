// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionCursor;

/**
 * What a {@link CompletionCursor} shall be able to read beside the work request id, the status, the opcode, the vendor
 * error and the flags ({@code enum ibv_create_cq_wc_flags}, ibv_create_cq_ex(3)). A device may do less for a queue that
 * is asked for less.
 */
public enum CompletionField {
    /** {@link CompletionCursor#byteLength()}. */
    BYTE_LEN(Rdma.IBV_WC_EX_WITH_BYTE_LEN()),
    /** {@link CompletionCursor#immediate()} and {@link CompletionCursor#invalidatedKey()}. */
    IMM(Rdma.IBV_WC_EX_WITH_IMM()),
    /** {@link CompletionCursor#queuePairNumber()}. */
    QP_NUM(Rdma.IBV_WC_EX_WITH_QP_NUM()),
    /** {@link CompletionCursor#sourceQueuePair()}. */
    SRC_QP(Rdma.IBV_WC_EX_WITH_SRC_QP()),
    /** {@link CompletionCursor#sourceLid()}. */
    SLID(Rdma.IBV_WC_EX_WITH_SLID()),
    /** {@link CompletionCursor#serviceLevel()}. */
    SL(Rdma.IBV_WC_EX_WITH_SL()),
    /** {@link CompletionCursor#destinationPathBits()}. */
    DLID_PATH_BITS(Rdma.IBV_WC_EX_WITH_DLID_PATH_BITS()),
    /** {@link CompletionCursor#timestamp()}. */
    COMPLETION_TIMESTAMP(Rdma.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP()),
    /** {@link CompletionCursor#vlan()}. */
    CVLAN(Rdma.IBV_WC_EX_WITH_CVLAN()),
    /** {@link CompletionCursor#flowTag()}. */
    FLOW_TAG(Rdma.IBV_WC_EX_WITH_FLOW_TAG()),
    /** {@link CompletionCursor#tag()} and {@link CompletionCursor#tagApplicationData()}. */
    TM_INFO(Rdma.IBV_WC_EX_WITH_TM_INFO()),
    /** {@link CompletionCursor#wallClockNanos()}. */
    COMPLETION_TIMESTAMP_WALLCLOCK(Rdma.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK());

    private final int bit;

    CompletionField(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }
}
