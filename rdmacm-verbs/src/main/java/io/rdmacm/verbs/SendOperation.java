// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.Rdma;

/**
 * What the extended send interface of a queue pair ({@code ibv_wr_*}) is to offer
 * ({@code enum ibv_qp_create_send_ops_flags}, ibv_create_qp_ex(3)).
 */
public enum SendOperation {
    /** {@code ibv_wr_rdma_write}. */
    RDMA_WRITE(Rdma.IBV_QP_EX_WITH_RDMA_WRITE()),
    /** {@code ibv_wr_rdma_write_imm}. */
    RDMA_WRITE_WITH_IMM(Rdma.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM()),
    /** {@code ibv_wr_send}. */
    SEND(Rdma.IBV_QP_EX_WITH_SEND()),
    /** {@code ibv_wr_send_imm}. */
    SEND_WITH_IMM(Rdma.IBV_QP_EX_WITH_SEND_WITH_IMM()),
    /** {@code ibv_wr_rdma_read}. */
    RDMA_READ(Rdma.IBV_QP_EX_WITH_RDMA_READ()),
    /** {@code ibv_wr_atomic_cmp_swp}. */
    ATOMIC_CMP_AND_SWP(Rdma.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP()),
    /** {@code ibv_wr_atomic_fetch_add}. */
    ATOMIC_FETCH_AND_ADD(Rdma.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD()),
    /** {@code ibv_wr_local_inv}. */
    LOCAL_INV(Rdma.IBV_QP_EX_WITH_LOCAL_INV()),
    /** {@code ibv_wr_bind_mw}. */
    BIND_MW(Rdma.IBV_QP_EX_WITH_BIND_MW()),
    /** {@code ibv_wr_send_inv}. */
    SEND_WITH_INV(Rdma.IBV_QP_EX_WITH_SEND_WITH_INV()),
    /** {@code ibv_wr_send_tso}. */
    TSO(Rdma.IBV_QP_EX_WITH_TSO()),
    /** {@code ibv_wr_atomic_write}. */
    ATOMIC_WRITE(Rdma.IBV_QP_EX_WITH_ATOMIC_WRITE());

    private final int bit;

    SendOperation(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }
}
