// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.Objects;

import io.rdmacm.bindings.mlx5.Mlx5;

/**
 * Each block is followed by a checksum ({@code struct mlx5dv_sig_crc}, mlx5dv_wr_set_mkey_sig_block(3)).
 *
 * @param blockSize the size of a block, without its checksum
 * @param polynomial which checksum
 * @param seed what the computation begins with
 */
public record Checksum(BlockSize blockSize, Polynomial polynomial, Seed seed) implements SignatureDomain {
    /**
     * Checks that nothing is null.
     *
     * @throws NullPointerException if something is
     */
    public Checksum {
        Objects.requireNonNull(blockSize, "blockSize");
        Objects.requireNonNull(polynomial, "polynomial");
        Objects.requireNonNull(seed, "seed");
    }

    /** Checksums ({@code enum mlx5dv_sig_crc_type}). */
    public enum Polynomial {
        /** 4 bytes, with the polynomial 0x04C11DB7. */
        CRC32(Mlx5.MLX5DV_SIG_CRC_TYPE_CRC32(), Integer.BYTES),
        /** 4 bytes, with Castagnoli's polynomial 0x1EDC6F41. */
        CRC32C(Mlx5.MLX5DV_SIG_CRC_TYPE_CRC32C(), Integer.BYTES),
        /** 8 bytes, with the polynomial of XP10, 0xAD93D23594C935A9. */
        CRC64_XP10(Mlx5.MLX5DV_SIG_CRC_TYPE_CRC64_XP10(), Long.BYTES);

        private final int value;
        private final int bytes;

        Polynomial(int value, int bytes) {
            this.value = value;
            this.bytes = bytes;
        }

        /** {@return the C constant} */
        public int value() {
            return value;
        }

        /** {@return how many bytes follow each block} */
        public int bytes() {
            return bytes;
        }
    }

    @Override
    public boolean hasStructureOf(SignatureDomain other) {
        return other instanceof Checksum that && blockSize == that.blockSize && polynomial == that.polynomial;
    }
}
