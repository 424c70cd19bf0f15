// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/**
 * An operation that a {@link io.rdmacm.verbs.SendBatch SendBatch} can post
 * ({@code enum ibv_qp_create_send_ops_flags}, ibv_wr_post(3)). A queue pair is created with the operations that its
 * batches need.
 */
public enum SendOperation {
    /** {@link io.rdmacm.verbs.SendBatch#rdmaWrite SendBatch.rdmaWrite}. */
    RDMA_WRITE(Rdma.IBV_QP_EX_WITH_RDMA_WRITE(), true, true),
    /** {@link io.rdmacm.verbs.SendBatch#rdmaWriteWithImmediate SendBatch.rdmaWriteWithImmediate}. */
    RDMA_WRITE_WITH_IMM(Rdma.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM(), true, true),
    /** {@link io.rdmacm.verbs.SendBatch#send SendBatch.send}. */
    SEND(Rdma.IBV_QP_EX_WITH_SEND(), true, true),
    /** {@link io.rdmacm.verbs.SendBatch#sendWithImmediate SendBatch.sendWithImmediate}. */
    SEND_WITH_IMM(Rdma.IBV_QP_EX_WITH_SEND_WITH_IMM(), true, true),
    /** {@link io.rdmacm.verbs.SendBatch#rdmaRead SendBatch.rdmaRead}. */
    RDMA_READ(Rdma.IBV_QP_EX_WITH_RDMA_READ(), true, false),
    /** {@link io.rdmacm.verbs.SendBatch#compareAndSwap SendBatch.compareAndSwap}. */
    ATOMIC_CMP_AND_SWP(Rdma.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP(), true, false),
    /** {@link io.rdmacm.verbs.SendBatch#fetchAndAdd SendBatch.fetchAndAdd}. */
    ATOMIC_FETCH_AND_ADD(Rdma.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD(), true, false),
    /** {@link io.rdmacm.verbs.SendBatch#localInvalidate SendBatch.localInvalidate}. */
    LOCAL_INV(Rdma.IBV_QP_EX_WITH_LOCAL_INV(), false, false),
    /** {@link io.rdmacm.verbs.SendBatch#bindMemoryWindow SendBatch.bindMemoryWindow}. */
    BIND_MW(Rdma.IBV_QP_EX_WITH_BIND_MW(), false, false),
    /** {@link io.rdmacm.verbs.SendBatch#sendWithInvalidate SendBatch.sendWithInvalidate}. */
    SEND_WITH_INV(Rdma.IBV_QP_EX_WITH_SEND_WITH_INV(), true, true),
    /** {@link io.rdmacm.verbs.SendBatch#tso SendBatch.tso}. */
    TSO(Rdma.IBV_QP_EX_WITH_TSO(), true, false),
    /** {@link io.rdmacm.verbs.SendBatch#atomicWrite SendBatch.atomicWrite}. */
    ATOMIC_WRITE(Rdma.IBV_QP_EX_WITH_ATOMIC_WRITE(), false, false),
    /** {@link io.rdmacm.verbs.SendBatch#flush SendBatch.flush}; since rdma-core 45. */
    FLUSH(Rdma.IBV_QP_EX_WITH_FLUSH(), false, false);

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

    /** {@return whether the operation transfers data from or to memory regions} */
    public boolean takesData() {
        return data;
    }

    /** {@return whether the operation can carry inline data} */
    public boolean takesInlineData() {
        return inline;
    }
}
