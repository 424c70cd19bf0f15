// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.mlx5.Mlx5;

/** How an mlx5 queue pair is created ({@code enum mlx5dv_qp_create_flags}, mlx5dv_create_qp(3)). */
public enum Mlx5QueuePairFlag {
    /** Tunnels are offloaded. */
    TUNNEL_OFFLOADS(Mlx5.MLX5DV_QP_CREATE_TUNNEL_OFFLOADS()),
    /** Unicast packets of this device are received by it. */
    TIR_ALLOW_SELF_LOOPBACK_UC(Mlx5.MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC()),
    /** Multicast packets of this device are received by it. */
    TIR_ALLOW_SELF_LOOPBACK_MC(Mlx5.MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC()),
    /** Small messages are not written into completions. */
    DISABLE_SCATTER_TO_CQE(Mlx5.MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE()),
    /** Small messages are written into completions, also where that is not the default. */
    ALLOW_SCATTER_TO_CQE(Mlx5.MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE()),
    /** Credits count packets instead of messages. */
    PACKET_BASED_CREDIT_MODE(Mlx5.MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE()),
    /** The queue stops before a request whose signature is wrong. */
    SIG_PIPELINING(Mlx5.MLX5DV_QP_CREATE_SIG_PIPELINING()),
    /** Data may be placed out of order; since rdma-core 55. */
    OOO_DP(Mlx5.MLX5DV_QP_CREATE_OOO_DP());

    private final int bit;

    Mlx5QueuePairFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the C constant} */
    public int bit() {
        return bit;
    }
}
