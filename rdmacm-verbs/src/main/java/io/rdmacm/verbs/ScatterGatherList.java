// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.ibv_sge;

/**
 * Several parts of memory regions that a request of a {@link SendBatch} takes as its data: an array of
 * {@code struct ibv_sge} (ibv_wr_post(3)). It is allocated once and may be used for any number of requests; a request
 * that has been given the list does not see later changes. It may be used by one thread at a time, and need not be
 * closed: its memory is freed with the object.
 */
public final class ScatterGatherList {
    private final MemorySegment memory;
    private final ScatterList list;
    private int size;

    private ScatterGatherList(int capacity) {
        this.memory = Arena.ofAuto().allocate(ScatterList.ENTRY * capacity, ibv_sge.layout().byteAlignment());
        this.list = new ScatterList(memory.address(), capacity);
    }

    /**
     * Allocates an empty list.
     *
     * @param capacity the maximum number of parts, at least 1
     * @return the list
     * @throws IllegalArgumentException if the capacity is less than 1
     * @throws OutOfMemoryError if the limit of native memory of the JVM (-XX:MaxDirectMemorySize) is reached
     */
    public static ScatterGatherList allocate(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a scatter/gather list needs room for at least one part, not "
                    + capacity);
        }
        return new ScatterGatherList(capacity);
    }

    /** {@return the maximum number of parts} */
    public int capacity() {
        return list.capacity();
    }

    /** {@return the number of parts} */
    public int size() {
        return size;
    }

    /**
     * Sets one part. The list ends with the part that was set last.
     *
     * @param index the index of the part; parts are set in order, from 0
     * @param region the memory region, which must be open
     * @param offset the offset in the region, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this list
     * @throws IndexOutOfBoundsException if the range is not within the region, or the list has no room for the part
     * @throws IllegalArgumentException if the index would leave a gap
     */
    public ScatterGatherList set(int index, MemoryRegion region, long offset, long length) {
        if (index > size) {
            throw new IllegalArgumentException("part " + index + " would leave a gap: the list has " + size);
        }
        list.set(index, region, offset, length);
        size = index + 1;
        return this;
    }

    /**
     * Removes all parts.
     *
     * @return this list
     */
    public ScatterGatherList clear() {
        size = 0;
        return this;
    }

    /** Returns the entries. The caller keeps this object alive while C reads them. */
    ScatterList entries() {
        return list;
    }
}
