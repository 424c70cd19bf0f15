// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

/**
 * How blocks are signed on one side, in memory or on the wire ({@code struct mlx5dv_sig_block_domain},
 * mlx5dv_wr_set_mkey_sig_block(3)): {@link T10Dif} or {@link Checksum}. Immutable.
 */
public sealed interface SignatureDomain permits T10Dif, Checksum {
    /** {@return the size of a block, without its signature} */
    BlockSize blockSize();

    /**
     * Returns whether blocks have the same structure on both sides, so that signatures can be copied.
     *
     * @param other the other side
     * @return true if the blocks have the same size, and the signatures are of the same kind
     */
    boolean hasStructureOf(SignatureDomain other);
}
