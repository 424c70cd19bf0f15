// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

import io.rdmacm.verbs.MemoryRegion;

/**
 * The memory that a {@link Mkey} refers to: {@link InterleavedLayout} or {@link ListLayout}. Immutable, thread-safe.
 * It owns the struct that C reads, so that posting allocates nothing.
 */
public abstract sealed class MkeyLayout permits InterleavedLayout, ListLayout {
    private final MemorySegment structs;
    // an array, as the iterator of a list may be allocated
    private final MemoryRegion[] regions;

    MkeyLayout(MemorySegment structs, List<MemoryRegion> regions) {
        this.structs = structs;
        this.regions = regions.toArray(MemoryRegion[]::new);
    }

    /** Returns the address of the array of C structs. */
    final long address() {
        return structs.address();
    }

    /** {@return the number of parts} */
    public final int size() {
        return regions.length;
    }

    /** Makes a key refer to this memory. */
    abstract void register(Mlx5BatchOps ops, long mkey, int access);

    /** Sets the memory of a key that is configured. */
    abstract void set(Mlx5BatchOps ops);

    /** Returns how many entries of a key are used. */
    abstract int entries();

    /** Checks that a key can refer to this memory. */
    final void requireUsable(Mkey key) {
        if (entries() > key.maxEntries()) {
            throw new IllegalArgumentException("the layout needs " + entries() + " entries, the key has "
                    + key.maxEntries());
        }
        for (MemoryRegion region : regions) {
            if (region.protectionDomain() != key.protectionDomain()) {
                throw new IllegalArgumentException("the memory region belongs to another protection domain than the"
                        + " key: " + region.protectionDomain() + ", " + key.protectionDomain());
            }
        }
    }

    /** Returns the address of a part of a region in work requests. */
    static long addressOf(MemoryRegion region, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, region.length());
        return region.remoteAddress() + offset;
    }
}
