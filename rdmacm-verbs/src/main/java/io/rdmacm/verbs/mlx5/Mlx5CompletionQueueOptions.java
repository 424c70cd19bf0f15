// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.OptionalInt;

import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_cq_init_attr;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * What a {@link Mlx5CompletionQueue} is created with beyond the attributes of any other
 * ({@code struct mlx5dv_cq_init_attr}, mlx5dv_create_cq(3)). Immutable.
 *
 * @param cqeSize the size of an entry, 64 or 128 bytes; empty for the driver's default
 * @param isPadded whether the device fills entries of 128 bytes up, which it writes faster
 * @param compression what compressed completions keep; empty if none are compressed
 */
public record Mlx5CompletionQueueOptions(OptionalInt cqeSize, boolean isPadded,
        Optional<CompressionFormat> compression) {
    private static final int SMALL = 64;
    private static final int LARGE = 128;

    /**
     * Checks the options.
     *
     * @throws IllegalArgumentException if entries have another size, or entries that are not of 128 bytes are padded
     */
    public Mlx5CompletionQueueOptions {
        if (cqeSize.isPresent() && cqeSize.getAsInt() != SMALL && cqeSize.getAsInt() != LARGE) {
            throw new IllegalArgumentException("entries have 64 or 128 bytes, not " + cqeSize.getAsInt());
        }
        if (isPadded && cqeSize.orElse(SMALL) != LARGE) {
            throw new IllegalArgumentException("only entries of 128 bytes are padded");
        }
    }

    /** {@return options that are the driver's defaults} */
    public static Mlx5CompletionQueueOptions create() {
        return new Mlx5CompletionQueueOptions(OptionalInt.empty(), false, Optional.empty());
    }

    /**
     * Sets the size of entries. In those of 128 bytes, messages of up to 64 bytes are received within the entry, if the
     * queue pair scatters to completions; in those of 64 bytes, messages of up to 32.
     *
     * @param bytes 64 or 128
     * @return a copy of these options
     * @throws IllegalArgumentException for another size, or if padded entries would be smaller than 128
     */
    public Mlx5CompletionQueueOptions cqeSize(int bytes) {
        return new Mlx5CompletionQueueOptions(OptionalInt.of(bytes), isPadded, compression);
    }

    /**
     * Allows the device to pad entries of 128 bytes ({@code MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD}).
     *
     * @return a copy of these options
     * @throws IllegalArgumentException if entries have not been set to 128 bytes
     */
    public Mlx5CompletionQueueOptions padded() {
        return new Mlx5CompletionQueueOptions(cqeSize, true, compression);
    }

    /**
     * Allows the device to compress completions that differ little from each other
     * ({@code MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE}). libmlx5 cannot read such a queue: its polls are refused, and
     * the program reads the memory of the queue ({@link RawQueues#of(io.rdmacm.verbs.CompletionQueue)}).
     *
     * @param format what compressed completions keep
     * @return a copy of these options
     */
    public Mlx5CompletionQueueOptions compressed(CompressionFormat format) {
        return new Mlx5CompletionQueueOptions(cqeSize, isPadded, Optional.of(format));
    }

    /** Allocates and writes a {@code struct mlx5dv_cq_init_attr}. */
    long write(Arena arena) {
        long struct = arena.allocate(mlx5dv_cq_init_attr.layout()).address();
        long mask = 0;
        if (compression.isPresent()) {
            mask |= Mlx5.MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE();
            Memory.putByte(struct + mlx5dv_cq_init_attr.cqe_comp_res_format$offset(),
                    (byte) compression.get().bit());
        }
        if (isPadded) {
            mask |= Mlx5.MLX5DV_CQ_INIT_ATTR_MASK_FLAGS();
            Memory.putInt(struct + mlx5dv_cq_init_attr.flags$offset(), Mlx5.MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD());
        }
        if (cqeSize.isPresent()) {
            mask |= Mlx5.MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE();
            Memory.putShort(struct + mlx5dv_cq_init_attr.cqe_size$offset(), (short) cqeSize.getAsInt());
        }
        Memory.putLong(struct + mlx5dv_cq_init_attr.comp_mask$offset(), mask);
        return struct;
    }
}
