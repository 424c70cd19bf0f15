// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

import io.rdmacm.bindings.mlx5.mlx5dv_mr_interleaved;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * Memory with gaps, such as a column of a matrix ({@code struct mlx5dv_mr_interleaved}, mlx5dv_wr_post(3)): of each
 * part in turn some bytes are taken and some skipped, and this is repeated.
 */
public final class InterleavedLayout extends MkeyLayout {
    private static final int MOST_BYTES = 0xffff;

    private final int repetitions;

    private InterleavedLayout(MemorySegment structs, List<MemoryRegion> regions, int repetitions) {
        super(structs, regions);
        this.repetitions = repetitions;
    }

    /**
     * One of the parts.
     *
     * @param region the memory region
     * @param offset where the first bytes are taken, in bytes from the beginning of the region
     * @param bytes how many bytes are taken each time, 1 to 65535
     * @param skip how many bytes are skipped after them
     */
    public record Part(MemoryRegion region, long offset, int bytes, int skip) {
        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException if a number is out of range: the device counts the bytes, and those with the
         *         skipped ones, in 16 bits
         */
        public Part {
            Objects.requireNonNull(region, "region");
            if (bytes < 1 || skip < 0 || bytes > MOST_BYTES || skip > MOST_BYTES - bytes) {
                throw new IllegalArgumentException("a part takes from 1 to " + MOST_BYTES + " bytes, including those"
                        + " that it skips, not " + bytes + " and " + skip);
            }
        }
    }

    /**
     * Returns a layout.
     *
     * @param repetitions how often the parts are gone through, at least 1
     * @param parts the parts, at least one
     * @return the layout
     * @throws IllegalArgumentException if there is no repetition or no part
     * @throws IndexOutOfBoundsException if a part reaches beyond its region
     */
    public static InterleavedLayout of(int repetitions, Part... parts) {
        if (repetitions < 1 || parts.length < 1) {
            throw new IllegalArgumentException("a layout needs at least one repetition and one part");
        }
        MemorySegment structs = Arena.ofAuto().allocate(
                MemoryLayout.sequenceLayout(parts.length, mlx5dv_mr_interleaved.layout()));
        for (int i = 0; i < parts.length; i++) {
            Part part = parts[i];
            // the bytes after the last part that is taken are not touched
            long length = (repetitions - 1L) * (part.bytes + part.skip) + part.bytes;
            long address = addressOf(part.region, part.offset, length);
            long struct = structs.address() + i * mlx5dv_mr_interleaved.sizeof();
            Memory.putLong(struct + mlx5dv_mr_interleaved.addr$offset(), address);
            Memory.putInt(struct + mlx5dv_mr_interleaved.bytes_count$offset(), part.bytes);
            Memory.putInt(struct + mlx5dv_mr_interleaved.bytes_skip$offset(), part.skip);
            Memory.putInt(struct + mlx5dv_mr_interleaved.lkey$offset(), part.region.localKey());
        }
        return new InterleavedLayout(structs, List.of(parts).stream().map(Part::region).toList(), repetitions);
    }

    /** {@return how often the parts are gone through} */
    public int repetitions() {
        return repetitions;
    }

    @Override
    void register(Mlx5BatchOps ops, long mkey, int access) {
        ops.interleaved(mkey, access, repetitions, size(), address());
    }

    @Override
    void set(Mlx5BatchOps ops) {
        ops.setInterleaved(repetitions, size(), address());
    }

    @Override
    int entries() {
        // and one for the head of the pattern
        return size() + 1;
    }
}
