// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Objects;

import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.verbs.internal.ffi.Memory;

/** The scatter/gather list of one work request: {@code struct ibv_sge} entries in the memory of the block. */
final class ScatterList {
    static final long ENTRY = ibv_sge.sizeof();

    private static final long ADDR = ibv_sge.addr$offset();
    private static final long LENGTH = ibv_sge.length$offset();
    private static final long LKEY = ibv_sge.lkey$offset();

    private final long address;
    private final MemoryRegion[] regions;

    ScatterList(long address, int capacity) {
        this.address = address;
        this.regions = new MemoryRegion[capacity];
    }

    /** Returns the size in bytes of a block of requests with a list for each. */
    static long blockBytes(long requestSize, int capacity, int maxScatterGather) {
        try {
            return Math.multiplyExact(requestSize + ENTRY * maxScatterGather, (long) capacity);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("the block is too large: " + capacity + " requests with "
                    + maxScatterGather + " scatter/gather entries each", e);
        }
    }

    int capacity() {
        return regions.length;
    }

    void set(int index, MemoryRegion region, long offset, int length) {
        Objects.checkIndex(index, regions.length);
        long entry = address + index * ENTRY;
        Memory.putLong(entry + ADDR, region.addressOf(offset, length));
        Memory.putInt(entry + LENGTH, length);
        Memory.putInt(entry + LKEY, region.localKeyUnchecked());
        // Writing a reference is expensive with some garbage collectors, and most requests always use the same region.
        if (regions[index] != region) {
            regions[index] = region;
        }
    }

    /** Returns the total length in bytes of the first entries. */
    long bytes(int entries) {
        long sum = 0;
        for (int i = 0; i < entries; i++) {
            sum += Integer.toUnsignedLong(Memory.getInt(address + i * ENTRY + LENGTH));
        }
        return sum;
    }

    /**
     * Checks that the processor can read the memory of the first entries, and that it cannot be freed before the post
     * is over: only the close of a region of the sender's domain waits for the post.
     */
    void requireReadable(int entries, ProtectionDomain sender) {
        for (int i = 0; i < entries; i++) {
            if (!regions[i].now().domain().sharesPosts(sender)) {
                throw new IllegalArgumentException("entry " + i + " of the scatter/gather list is inline data in a"
                        + " region of another protection domain than the queue pair: " + regions[i]);
            }
            if (!regions[i].isReadable()) {
                throw new IllegalStateException("entry " + i + " of the scatter/gather list names a "
                        + (regions[i].isOpen() ? "memory region that the processor cannot read inline data from: "
                                : "closed memory region: ") + regions[i]);
            }
        }
    }
}
