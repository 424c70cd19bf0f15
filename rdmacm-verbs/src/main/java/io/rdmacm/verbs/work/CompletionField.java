// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/**
 * An optional field of the completions of an extended completion queue
 * ({@code enum ibv_create_cq_wc_flags}, ibv_create_cq_ex(3)). The work request id, the status, the opcode, the vendor
 * error and the flags are always available from a {@link io.rdmacm.verbs.CompletionCursor CompletionCursor}; the fields
 * below only if the queue was created with them. Some devices are faster with fewer fields.
 */
public enum CompletionField {
    /** For {@link io.rdmacm.verbs.CompletionCursor#byteLength() byteLength}. */
    BYTE_LEN(Rdma.IBV_WC_EX_WITH_BYTE_LEN()),
    /**
     * For {@link io.rdmacm.verbs.CompletionCursor#immediate() immediate} and
     * {@link io.rdmacm.verbs.CompletionCursor#invalidatedKey() invalidatedKey}.
     */
    IMM(Rdma.IBV_WC_EX_WITH_IMM()),
    /** For {@link io.rdmacm.verbs.CompletionCursor#queuePairNumber() queuePairNumber}. */
    QP_NUM(Rdma.IBV_WC_EX_WITH_QP_NUM()),
    /** For {@link io.rdmacm.verbs.CompletionCursor#sourceQueuePair() sourceQueuePair}. */
    SRC_QP(Rdma.IBV_WC_EX_WITH_SRC_QP()),
    /** For {@link io.rdmacm.verbs.CompletionCursor#sourceLid() sourceLid}. */
    SLID(Rdma.IBV_WC_EX_WITH_SLID()),
    /** For {@link io.rdmacm.verbs.CompletionCursor#serviceLevel() serviceLevel}. */
    SL(Rdma.IBV_WC_EX_WITH_SL()),
    /** For {@link io.rdmacm.verbs.CompletionCursor#destinationPathBits() destinationPathBits}. */
    DLID_PATH_BITS(Rdma.IBV_WC_EX_WITH_DLID_PATH_BITS()),
    /** For {@link io.rdmacm.verbs.CompletionCursor#timestamp() timestamp}. */
    COMPLETION_TIMESTAMP(Rdma.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP()),
    /** For {@link io.rdmacm.verbs.CompletionCursor#vlan() vlan}. */
    CVLAN(Rdma.IBV_WC_EX_WITH_CVLAN()),
    /** For {@link io.rdmacm.verbs.CompletionCursor#flowTag() flowTag}. */
    FLOW_TAG(Rdma.IBV_WC_EX_WITH_FLOW_TAG()),
    /**
     * For {@link io.rdmacm.verbs.CompletionCursor#tag() tag} and
     * {@link io.rdmacm.verbs.CompletionCursor#tagApplicationData() tagApplicationData}.
     */
    TM_INFO(Rdma.IBV_WC_EX_WITH_TM_INFO()),
    /** For {@link io.rdmacm.verbs.CompletionCursor#wallClockNanos() wallClockNanos}. */
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
