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

    long address() {
        return address;
    }

    /** Returns the address of the data of an entry. */
    long dataAddress(int index) {
        return Memory.getLong(address + index * ENTRY + ADDR);
    }

    /** Returns the length of an entry in bytes, unsigned. */
    long dataLength(int index) {
        return Integer.toUnsignedLong(Memory.getInt(address + index * ENTRY + LENGTH));
    }

    void set(int index, MemoryRegion region, long offset, long length) {
        Objects.checkIndex(index, regions.length);
        long data = region.entryAddress(offset, length);
        long entry = address + index * ENTRY;
        Memory.putLong(entry, ADDR, data);
        Memory.putInt(entry, LENGTH, (int) length);
        Memory.putInt(entry, LKEY, region.localKeyUnchecked());
        // Writing a reference is expensive with some garbage collectors, and most requests always use the same region.
        if (regions[index] != region) {
            regions[index] = region;
        }
    }

    /**
     * Checks that the processor can read the memory of the first entries, and that it cannot be freed before the post
     * is over: only the close of a region of the sender's domain waits for the post. Returns its length in bytes.
     */
    long readableBytes(int entries, ProtectionDomain sender) {
        long sum = 0;
        for (int i = 0; i < entries; i++) {
            long bytes = dataLength(i);
            regions[i].requireReadable(i, sender, dataAddress(i), bytes);
            sum += bytes;
        }
        return sum;
    }

    /** Returns whether the processor can read the data as long as the regions are not closed or changed. */
    boolean ownsMemory(int entries) {
        for (int i = 0; i < entries; i++) {
            if (!regions[i].ownsMemory()) {
                return false;
            }
        }
        return true;
    }
}
