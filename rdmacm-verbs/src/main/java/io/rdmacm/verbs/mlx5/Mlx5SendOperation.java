// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.mlx5.Mlx5;

/** An operation of a {@link Mlx5Batch} ({@code enum mlx5dv_qp_create_send_ops_flags}, mlx5dv_create_qp(3)). */
public enum Mlx5SendOperation {
    /** Registers interleaved memory: {@link Mlx5Batch#register(Mkey, InterleavedLayout, java.util.Set)}. */
    MR_INTERLEAVED(Mlx5.MLX5DV_QP_EX_WITH_MR_INTERLEAVED()),
    /** Registers a list: {@link Mlx5Batch#register(Mkey, ListLayout, java.util.Set)}. */
    MR_LIST(Mlx5.MLX5DV_QP_EX_WITH_MR_LIST()),
    /** Configures a key: {@link Mlx5Batch#configure}. */
    MKEY_CONFIGURE(Mlx5.MLX5DV_QP_EX_WITH_MKEY_CONFIGURE()),
    /** Posts an entry that the program has formed: {@link Mlx5Batch#raw}. */
    RAW_WQE(Mlx5.MLX5DV_QP_EX_WITH_RAW_WQE()),
    /** Copies memory: {@link Mlx5Batch#copy}. */
    MEMCPY(Mlx5.MLX5DV_QP_EX_WITH_MEMCPY());

    private final int bit;

    Mlx5SendOperation(int bit) {
        this.bit = bit;
    }

    /** {@return the C constant} */
    public int bit() {
        return bit;
    }
}
