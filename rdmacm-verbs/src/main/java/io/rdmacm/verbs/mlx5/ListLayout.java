// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.internal.ffi.EntryLength;
import io.rdmacm.verbs.internal.ffi.Memory;

/** Memory that is put together from parts of regions (mlx5dv_wr_post(3), {@code mlx5dv_wr_mr_list}). */
public final class ListLayout extends MkeyLayout {
    private ListLayout(MemorySegment structs, List<MemoryRegion> regions) {
        super(structs, regions);
    }

    /**
     * One of the parts.
     *
     * @param region the memory region
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, at least 1 and less than 2 GiB
     */
    public record Part(MemoryRegion region, long offset, long length) {
        /**
         * Checks the length.
         *
         * @throws IllegalArgumentException if it is out of range
         */
        public Part {
            Objects.requireNonNull(region, "region");
            if (EntryLength.require(length) < 1) {
                throw new IllegalArgumentException("a part needs at least 1 byte, not " + length);
            }
        }
    }

    /**
     * Returns a layout.
     *
     * @param parts the parts, in order, at least one
     * @return the layout
     * @throws IllegalArgumentException if there is no part
     * @throws IndexOutOfBoundsException if a part reaches beyond its region
     */
    public static ListLayout of(Part... parts) {
        if (parts.length < 1) {
            throw new IllegalArgumentException("a layout needs at least one part");
        }
        MemorySegment structs = Arena.ofAuto().allocate(
                MemoryLayout.sequenceLayout(parts.length, ibv_sge.layout()));
        for (int i = 0; i < parts.length; i++) {
            Part part = parts[i];
            long struct = structs.address() + i * ibv_sge.sizeof();
            Memory.putLong(struct + ibv_sge.addr$offset(), addressOf(part.region, part.offset, part.length));
            Memory.putInt(struct + ibv_sge.length$offset(), (int) part.length);
            Memory.putInt(struct + ibv_sge.lkey$offset(), part.region.localKey());
        }
        return new ListLayout(structs, List.of(parts).stream().map(Part::region).toList());
    }

    @Override
    void register(Mlx5BatchOps ops, long mkey, int access) {
        ops.list(mkey, access, size(), address());
    }

    @Override
    void set(Mlx5BatchOps ops) {
        ops.setList(size(), address());
    }

    @Override
    int entries() {
        return size();
    }
}
