// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.mlx5.Mlx5;

/**
 * The size of the blocks that are signed or encrypted each for itself ({@code enum mlx5dv_block_size},
 * mlx5dv_wr_set_mkey_sig_block(3)). {@link Mlx5DeviceAttributes.Signature#blockSizes()} has the bits of those that a
 * device signs.
 */
public enum BlockSize {
    /** 512 bytes. */
    BYTES_512(Mlx5.MLX5DV_BLOCK_SIZE_512(), 512),
    /** 520 bytes. */
    BYTES_520(Mlx5.MLX5DV_BLOCK_SIZE_520(), 520),
    /** 4048 bytes. */
    BYTES_4048(Mlx5.MLX5DV_BLOCK_SIZE_4048(), 4048),
    /** 4096 bytes. */
    BYTES_4096(Mlx5.MLX5DV_BLOCK_SIZE_4096(), 4096),
    /** 4160 bytes. */
    BYTES_4160(Mlx5.MLX5DV_BLOCK_SIZE_4160(), 4160);

    private final int value;
    private final int bytes;

    BlockSize(int value, int bytes) {
        this.value = value;
        this.bytes = bytes;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /** {@return the size in bytes} */
    public int bytes() {
        return bytes;
    }
}
