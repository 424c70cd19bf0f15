// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.mlx5.Mlx5;

/** What a {@link Mkey} can be used for ({@code enum mlx5dv_mkey_init_attr_flags}, mlx5dv_create_mkey(3)). */
public enum MkeyFlag {
    /** The key refers to other memory. */
    INDIRECT(Mlx5.MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT()),
    /** Blocks of the memory have signatures. */
    BLOCK_SIGNATURE(Mlx5.MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE()),
    /** The memory is encrypted. */
    CRYPTO(Mlx5.MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO()),
    /** The lowest byte of the key may be changed. */
    UPDATE_TAG(Mlx5.MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG()),
    /** The peer may invalidate the key. */
    REMOTE_INVALIDATE(Mlx5.MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE());

    private final int bit;

    MkeyFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the C constant} */
    public int bit() {
        return bit;
    }
}
