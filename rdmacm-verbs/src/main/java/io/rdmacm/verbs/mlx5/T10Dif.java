// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * Each block is followed by 8 bytes as T10, the committee for SCSI, defines them: a guard of 2 bytes, an application
 * tag of 2 and a reference tag of 4 ({@code struct mlx5dv_sig_t10dif}, mlx5dv_wr_set_mkey_sig_block(3)).
 *
 * @param blockSize the size of a block, without its signature
 * @param guard how the guard is computed
 * @param seed what its computation begins with
 * @param applicationTag the application tag, 16 bits
 * @param referenceTag the reference tag of the first block, 32 bits
 * @param flags what differs from block to block
 */
public record T10Dif(BlockSize blockSize, Guard guard, Seed seed, int applicationTag, long referenceTag,
        Set<Flag> flags) implements SignatureDomain {
    /**
     * Checks the tags, and copies the set.
     *
     * @throws IllegalArgumentException if a tag does not fit
     * @throws NullPointerException if something is null
     */
    public T10Dif {
        Objects.requireNonNull(blockSize, "blockSize");
        Objects.requireNonNull(guard, "guard");
        Objects.requireNonNull(seed, "seed");
        Arguments.requireBits("application tag", applicationTag, Short.SIZE);
        if (referenceTag >>> Integer.SIZE != 0) {
            throw new IllegalArgumentException("the reference tag has 32 bits, not " + referenceTag);
        }
        flags = Set.copyOf(flags);
    }

    /** How a guard is computed ({@code enum mlx5dv_sig_t10dif_bg_type}). */
    public enum Guard {
        /** As a CRC of 16 bits. */
        CRC(Mlx5.MLX5DV_SIG_T10DIF_CRC()),
        /** As the checksum of IP. */
        IP_CHECKSUM(Mlx5.MLX5DV_SIG_T10DIF_CSUM());

        private final int value;

        Guard(int value) {
            this.value = value;
        }

        /** {@return the C constant} */
        public int value() {
            return value;
        }
    }

    /** What differs from block to block ({@code enum mlx5dv_sig_t10dif_flags}). */
    public enum Flag {
        /** The reference tag is one more in each block. */
        REFERENCE_TAG_INCREMENTS(Mlx5.MLX5DV_SIG_T10DIF_FLAG_REF_REMAP()),
        /** A block with the application tag 0xffff is not checked. */
        APPLICATION_TAG_ESCAPES(Mlx5.MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE()),
        /** A block with the application tag 0xffff and the reference tag 0xffffffff is not checked. */
        BOTH_TAGS_ESCAPE(Mlx5.MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE());

        private final int bit;

        Flag(int bit) {
            this.bit = bit;
        }

        /** {@return the C constant} */
        public int bit() {
            return bit;
        }
    }

    @Override
    public boolean hasStructureOf(SignatureDomain other) {
        return other instanceof T10Dif that && blockSize == that.blockSize;
    }
}
