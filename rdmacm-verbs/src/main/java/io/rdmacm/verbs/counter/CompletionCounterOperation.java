// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.counter;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/**
 * An operation of a queue pair that a completion counter counts ({@code enum ibv_qp_attach_comp_cntr_op},
 * ibv_qp_attach_comp_cntr(3)).
 */
public enum CompletionCounterOperation {
    /** Sends of this side. */
    SEND(Rdma.IBV_QP_ATTACH_COMP_CNTR_OP_SEND()),
    /** Receives of this side. */
    RECV(Rdma.IBV_QP_ATTACH_COMP_CNTR_OP_RECV()),
    /** RDMA reads of this side. */
    RDMA_READ(Rdma.IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ()),
    /** RDMA reads of the peer. */
    REMOTE_RDMA_READ(Rdma.IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ()),
    /** RDMA writes of this side. */
    RDMA_WRITE(Rdma.IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE()),
    /** RDMA writes of the peer. */
    REMOTE_RDMA_WRITE(Rdma.IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE());

    private final int bit;

    CompletionCounterOperation(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the operations in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the operations; keeps bits that this library has no name for
     */
    public static FlagSet<CompletionCounterOperation> of(int mask) {
        return FlagSet.of(CompletionCounterOperation.class, Integer.toUnsignedLong(mask),
                CompletionCounterOperation::bit);
    }
}
