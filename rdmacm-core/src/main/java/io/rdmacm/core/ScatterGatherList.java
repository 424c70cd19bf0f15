// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Objects;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.SendRequest;

/**
 * The parts of memory of one message, for the vector forms of {@link Endpoint}: an array of {@code struct ibv_sge}.
 * Made once and used for any number of posts, which copy it. For one thread at a time.
 */
public final class ScatterGatherList {
    private final MemoryRegion[] regions;
    private final long[] offsets;
    private final int[] lengths;
    private int size;

    private ScatterGatherList(int capacity) {
        this.regions = new MemoryRegion[capacity];
        this.offsets = new long[capacity];
        this.lengths = new int[capacity];
    }

    /**
     * An empty list.
     *
     * @param capacity how many parts it has room for, at least 1
     */
    public static ScatterGatherList allocate(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity must be at least 1: " + capacity);
        }
        return new ScatterGatherList(capacity);
    }

    /** Forgets all parts. */
    public ScatterGatherList clear() {
        size = 0;
        return this;
    }

    /**
     * Adds a part of a region at the end.
     *
     * @param region open
     * @param offset in bytes
     * @param length in bytes
     * @throws IllegalStateException when there is no room
     * @throws IndexOutOfBoundsException when the region has no such part
     */
    public ScatterGatherList add(MemoryRegion region, long offset, int length) {
        if (size == regions.length) {
            throw new IllegalStateException("the list has room for " + size + " parts, and they are there");
        }
        Objects.checkFromIndexSize(offset, length, region.length());
        regions[size] = region;
        offsets[size] = offset;
        lengths[size] = length;
        size++;
        return this;
    }

    /** How many parts there are. */
    public int size() {
        return size;
    }

    /** How many parts there is room for. */
    public int capacity() {
        return regions.length;
    }

    /** Makes the parts the data of a request, in place of what it had. */
    void writeTo(SendRequest request) {
        request.noData();
        for (int i = 0; i < size; i++) {
            request.data(i, regions[i], offsets[i], lengths[i]);
        }
    }

    /** Makes the parts the memory of a request, in place of what it had. */
    void writeTo(ReceiveRequest request) {
        request.noData();
        for (int i = 0; i < size; i++) {
            request.data(i, regions[i], offsets[i], lengths[i]);
        }
    }
}
