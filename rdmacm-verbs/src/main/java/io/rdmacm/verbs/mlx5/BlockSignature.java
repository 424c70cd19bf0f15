// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.Optional;
import java.util.OptionalInt;

import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * Signatures that the device computes, checks, adds, strips or replaces while it moves data through a {@link Mkey}
 * ({@code struct mlx5dv_sig_block_attr}, mlx5dv_wr_set_mkey_sig_block(3)). What has a domain in memory only gets its
 * signatures stripped on the way to the wire, and so on. {@link Mkey#check()} tells of one that was wrong. Immutable.
 *
 * <p>Bits of masks stand for bytes of a signature: bit 7 for the first one in memory. {@link #GUARD},
 * {@link #APPLICATION_TAG} and {@link #REFERENCE_TAG} are those of a T10 signature, {@link #CHECKSUM_4} and
 * {@link #CHECKSUM_8} those of checksums.
 *
 * @param memory how blocks are signed in memory; empty if they are not
 * @param wire how blocks are signed on the wire; empty if they are not
 * @param checkMask which bytes are checked
 * @param copyMask which bytes are copied instead of computed anew; empty for those that both domains have alike
 */
public record BlockSignature(Optional<SignatureDomain> memory, Optional<SignatureDomain> wire, int checkMask,
        OptionalInt copyMask) {
    /** The guard of a T10 signature. */
    public static final int GUARD = Mlx5.MLX5DV_SIG_MASK_T10DIF_GUARD();
    /** The application tag of a T10 signature. */
    public static final int APPLICATION_TAG = Mlx5.MLX5DV_SIG_MASK_T10DIF_APPTAG();
    /** The reference tag of a T10 signature. */
    public static final int REFERENCE_TAG = Mlx5.MLX5DV_SIG_MASK_T10DIF_REFTAG();
    /** A checksum of 4 bytes. */
    public static final int CHECKSUM_4 = Mlx5.MLX5DV_SIG_MASK_CRC32();
    /** A checksum of 8 bytes. */
    public static final int CHECKSUM_8 = Mlx5.MLX5DV_SIG_MASK_CRC64_XP10();

    /**
     * Checks the masks.
     *
     * @throws IllegalArgumentException if there is no domain, a mask does not fit into 8 bits, or signatures are to be
     *         copied between blocks of different structure
     */
    public BlockSignature {
        if (memory.isEmpty() && wire.isEmpty()) {
            throw new IllegalArgumentException("blocks are signed in memory, on the wire or both, not nowhere");
        }
        Arguments.requireBits("mask of what is checked", checkMask, Byte.SIZE);
        if (copyMask.isPresent()) {
            Arguments.requireBits("mask of what is copied", copyMask.getAsInt(), Byte.SIZE);
            if (memory.isEmpty() || wire.isEmpty() || !memory.get().hasStructureOf(wire.get())) {
                throw new IllegalArgumentException("signatures are copied only between blocks of the same structure");
            }
        }
    }

    /**
     * Signs blocks in memory: they are checked and stripped on the way to the wire, and added on the way back.
     *
     * @param domain how they are signed
     * @param checkMask which bytes are checked
     * @return the signature
     * @throws IllegalArgumentException if the mask does not fit into 8 bits
     */
    public static BlockSignature inMemory(SignatureDomain domain, int checkMask) {
        return new BlockSignature(Optional.of(domain), Optional.empty(), checkMask, OptionalInt.empty());
    }

    /**
     * Signs blocks on the wire: they are added on the way to the wire, checked and stripped on the way back.
     *
     * @param domain how they are signed
     * @param checkMask which bytes are checked
     * @return the signature
     * @throws IllegalArgumentException if the mask does not fit into 8 bits
     */
    public static BlockSignature onTheWire(SignatureDomain domain, int checkMask) {
        return new BlockSignature(Optional.empty(), Optional.of(domain), checkMask, OptionalInt.empty());
    }

    /**
     * Signs blocks in memory and on the wire: they are checked, and copied or replaced.
     *
     * @param memory how they are signed in memory
     * @param wire how they are signed on the wire
     * @param checkMask which bytes are checked
     * @return the signature
     * @throws IllegalArgumentException if the mask does not fit into 8 bits
     */
    public static BlockSignature onBothSides(SignatureDomain memory, SignatureDomain wire, int checkMask) {
        return new BlockSignature(Optional.of(memory), Optional.of(wire), checkMask, OptionalInt.empty());
    }

    /**
     * Sets which bytes are copied instead of computed anew ({@code MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK}).
     *
     * @param mask the bytes
     * @return a copy of this signature
     * @throws IllegalArgumentException if the mask does not fit into 8 bits, or the blocks differ in structure
     */
    public BlockSignature copying(int mask) {
        return new BlockSignature(memory, wire, checkMask, OptionalInt.of(mask));
    }
}
