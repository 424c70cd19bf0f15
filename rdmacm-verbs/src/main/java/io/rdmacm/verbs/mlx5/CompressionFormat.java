// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.mlx5.Mlx5;

/**
 * What a compressed completion keeps of a received packet ({@code enum mlx5dv_cqe_comp_res_format},
 * mlx5dv_create_cq(3)). {@link Mlx5DeviceAttributes#compressionFormats()} has the bits of those that a device knows.
 */
public enum CompressionFormat {
    /** The hash of receive side scaling. */
    HASH(Mlx5.MLX5DV_CQE_RES_FORMAT_HASH()),
    /** The checksum. */
    CHECKSUM(Mlx5.MLX5DV_CQE_RES_FORMAT_CSUM()),
    /** The checksum and the index of the stride. */
    CHECKSUM_AND_STRIDE(Mlx5.MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX());

    private final int bit;

    CompressionFormat(int bit) {
        this.bit = bit;
    }

    /** {@return the C constant} */
    public int bit() {
        return bit;
    }
}
