// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_sig_block_attr;
import io.rdmacm.bindings.mlx5.mlx5dv_sig_block_domain;
import io.rdmacm.bindings.mlx5.mlx5dv_sig_crc;
import io.rdmacm.bindings.mlx5.mlx5dv_sig_t10dif;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;

/** Writes signatures as C reads them. */
final class SignatureStructs {
    private SignatureStructs() {
    }

    /** Allocates and writes a {@code struct mlx5dv_sig_block_attr}. */
    static long write(BlockSignature signature, Arena arena) {
        long struct = arena.allocate(mlx5dv_sig_block_attr.layout()).address();
        signature.memory().ifPresent(domain -> Memory.putLong(struct + mlx5dv_sig_block_attr.mem$offset(),
                write(domain, arena)));
        signature.wire().ifPresent(domain -> Memory.putLong(struct + mlx5dv_sig_block_attr.wire$offset(),
                write(domain, arena)));
        Memory.putByte(struct + mlx5dv_sig_block_attr.check_mask$offset(), (byte) signature.checkMask());
        signature.copyMask().ifPresent(mask -> {
            Memory.putInt(struct + mlx5dv_sig_block_attr.flags$offset(), Mlx5.MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK());
            Memory.putByte(struct + mlx5dv_sig_block_attr.copy_mask$offset(), (byte) mask);
        });
        return struct;
    }

    private static long write(SignatureDomain domain, Arena arena) {
        long struct = arena.allocate(mlx5dv_sig_block_domain.layout()).address();
        Memory.putInt(struct + mlx5dv_sig_block_domain.block_size$offset(), domain.blockSize().value());
        // a union of two pointers
        long signature = struct + mlx5dv_sig_block_domain.sig$offset();
        int type = switch (domain) {
            case T10Dif dif -> {
                Memory.putLong(signature, write(dif, arena));
                yield Mlx5.MLX5DV_SIG_TYPE_T10DIF();
            }
            case Checksum checksum -> {
                Memory.putLong(signature, write(checksum, arena));
                yield Mlx5.MLX5DV_SIG_TYPE_CRC();
            }
        };
        Memory.putInt(struct + mlx5dv_sig_block_domain.sig_type$offset(), type);
        return struct;
    }

    private static long write(T10Dif dif, Arena arena) {
        long struct = arena.allocate(mlx5dv_sig_t10dif.layout()).address();
        Memory.putInt(struct + mlx5dv_sig_t10dif.bg_type$offset(), dif.guard().value());
        Memory.putShort(struct + mlx5dv_sig_t10dif.bg$offset(), (short) bits(dif.seed()));
        Memory.putShort(struct + mlx5dv_sig_t10dif.app_tag$offset(), (short) dif.applicationTag());
        Memory.putInt(struct + mlx5dv_sig_t10dif.ref_tag$offset(), (int) dif.referenceTag());
        Memory.putShort(struct + mlx5dv_sig_t10dif.flags$offset(), (short) Flags.mask(dif.flags(), T10Dif.Flag::bit));
        return struct;
    }

    private static long write(Checksum checksum, Arena arena) {
        long struct = arena.allocate(mlx5dv_sig_crc.layout()).address();
        Memory.putInt(struct + mlx5dv_sig_crc.type$offset(), checksum.polynomial().value());
        long seed = bits(checksum.seed());
        Memory.putLong(struct + mlx5dv_sig_crc.seed$offset(),
                checksum.polynomial().bytes() == Long.BYTES ? seed : Integer.toUnsignedLong((int) seed));
        return struct;
    }

    private static long bits(Seed seed) {
        return seed == Seed.ONES ? -1 : 0;
    }
}
