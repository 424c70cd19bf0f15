// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.SendBatch;

/**
 * What a {@link SendBatch} of a queue pair shall be able to do ({@code enum ibv_qp_create_send_ops_flags},
 * ibv_wr_post(3)).
 */
public enum SendOperation {
    /** {@link SendBatch#rdmaWrite}. */
    RDMA_WRITE(Rdma.IBV_QP_EX_WITH_RDMA_WRITE(), true, true),
    /** {@link SendBatch#rdmaWriteWithImmediate}. */
    RDMA_WRITE_WITH_IMM(Rdma.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM(), true, true),
    /** {@link SendBatch#send}. */
    SEND(Rdma.IBV_QP_EX_WITH_SEND(), true, true),
    /** {@link SendBatch#sendWithImmediate}. */
    SEND_WITH_IMM(Rdma.IBV_QP_EX_WITH_SEND_WITH_IMM(), true, true),
    /** {@link SendBatch#rdmaRead}. */
    RDMA_READ(Rdma.IBV_QP_EX_WITH_RDMA_READ(), true, false),
    /** {@link SendBatch#compareAndSwap}. */
    ATOMIC_CMP_AND_SWP(Rdma.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP(), true, false),
    /** {@link SendBatch#fetchAndAdd}. */
    ATOMIC_FETCH_AND_ADD(Rdma.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD(), true, false),
    /** {@link SendBatch#localInvalidate}. */
    LOCAL_INV(Rdma.IBV_QP_EX_WITH_LOCAL_INV(), false, false),
    /** {@link SendBatch#bindMemoryWindow}. */
    BIND_MW(Rdma.IBV_QP_EX_WITH_BIND_MW(), false, false),
    /** {@link SendBatch#sendWithInvalidate}. */
    SEND_WITH_INV(Rdma.IBV_QP_EX_WITH_SEND_WITH_INV(), true, true),
    /** {@link SendBatch#sendSegmented}. */
    TSO(Rdma.IBV_QP_EX_WITH_TSO(), true, false),
    /** {@link SendBatch#atomicWrite}. */
    ATOMIC_WRITE(Rdma.IBV_QP_EX_WITH_ATOMIC_WRITE(), false, false);

    private final int bit;
    private final boolean data;
    private final boolean inline;

    SendOperation(int bit, boolean data, boolean inline) {
        this.bit = bit;
        this.data = data;
        this.inline = inline;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /** Whether it moves data of regions. */
    public boolean takesData() {
        return data;
    }

    /** Whether it can carry its data itself. */
    public boolean takesInlineData() {
        return inline;
    }
}
