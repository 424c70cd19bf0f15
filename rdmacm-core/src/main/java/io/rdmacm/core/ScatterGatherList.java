// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Objects;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.internal.ffi.EntryLength;

/**
 * The parts of memory of one message, for the vector forms of the posts of {@link Endpoint}: what C passes as an array
 * of {@code struct ibv_sge}. A list can be used for any number of posts; each post copies it into its work request, and
 * checks then that the regions are open. For one thread at a time.
 */
public final class ScatterGatherList {
    private final MemoryRegion[] regions;
    private final long[] offsets;
    private final long[] lengths;
    private int size;
    private long bytes;

    private ScatterGatherList(int capacity) {
        this.regions = new MemoryRegion[capacity];
        this.offsets = new long[capacity];
        this.lengths = new long[capacity];
    }

    /**
     * Returns an empty list.
     *
     * @param capacity the largest number of parts, at least 1
     * @return the list
     */
    public static ScatterGatherList allocate(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity must be at least 1: " + capacity);
        }
        return new ScatterGatherList(capacity);
    }

    /**
     * Removes all parts.
     *
     * @return this list
     */
    public ScatterGatherList clear() {
        size = 0;
        bytes = 0;
        return this;
    }

    /**
     * Adds a part of a region at the end.
     *
     * @param region the region, which must still be open when the list is posted
     * @param offset where the part begins in the region, in bytes
     * @param length the length of the part in bytes, less than 2 GiB
     * @return this list
     * @throws IllegalStateException when the list is full
     * @throws IndexOutOfBoundsException when the part is not within the region
     * @throws IllegalArgumentException when all parts together would have 2 GiB or more
     */
    public ScatterGatherList add(MemoryRegion region, long offset, long length) {
        if (size == regions.length) {
            throw new IllegalStateException("the list is full: it has room for " + size + " parts");
        }
        Objects.checkFromIndexSize(offset, length, region.length());
        // Drivers add lengths up with 32 bits.
        long sum = EntryLength.require(bytes + EntryLength.require(length));
        regions[size] = region;
        offsets[size] = offset;
        lengths[size] = length;
        bytes = sum;
        size++;
        return this;
    }

    /**
     * Returns the region of a part.
     *
     * @param index the index of the part, from 0
     * @return the region
     * @throws IndexOutOfBoundsException when there is no such part
     */
    public MemoryRegion region(int index) {
        return regions[Objects.checkIndex(index, size)];
    }

    /**
     * Returns where a part begins in its region.
     *
     * @param index the index of the part, from 0
     * @return the offset in bytes
     * @throws IndexOutOfBoundsException when there is no such part
     */
    public long offset(int index) {
        return offsets[Objects.checkIndex(index, size)];
    }

    /**
     * Returns the length of a part.
     *
     * @param index the index of the part, from 0
     * @return the length in bytes
     * @throws IndexOutOfBoundsException when there is no such part
     */
    public long length(int index) {
        return lengths[Objects.checkIndex(index, size)];
    }

    /** {@return the length of all parts together, in bytes} */
    public long bytes() {
        return bytes;
    }

    /** {@return the number of parts} */
    public int size() {
        return size;
    }

    /** {@return the largest number of parts} */
    public int capacity() {
        return regions.length;
    }

    /** {@return a list of the same parts, with no room for more} */
    public ScatterGatherList copy() {
        ScatterGatherList copy = new ScatterGatherList(size);
        System.arraycopy(regions, 0, copy.regions, 0, size);
        System.arraycopy(offsets, 0, copy.offsets, 0, size);
        System.arraycopy(lengths, 0, copy.lengths, 0, size);
        copy.size = size;
        copy.bytes = bytes;
        return copy;
    }

    /** Makes the parts the data of a request, in place of its former data. */
    void writeTo(SendRequest request) {
        request.noData();
        for (int i = 0; i < size; i++) {
            request.data(i, regions[i], offsets[i], lengths[i]);
        }
    }

    /** Makes the parts the memory of a request, in place of its former memory. */
    void writeTo(ReceiveRequest request) {
        request.noData();
        for (int i = 0; i < size; i++) {
            request.data(i, regions[i], offsets[i], lengths[i]);
        }
    }
}
