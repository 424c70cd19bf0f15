// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

import io.rdmacm.bindings.ibv_data_buf;
import io.rdmacm.verbs.internal.driver.QueuePairExOps;
import io.rdmacm.verbs.internal.ffi.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The data of the requests of a batch: checks it, and gives it to C. The memory here is what C reads during a call.
 * Used with the lock of the send queue held, but for what a program gives it to copy.
 */
final class SendBatchData {
    private static final long BUFFER = ibv_data_buf.sizeof();
    private static final long ADDR = ibv_data_buf.addr$offset();
    private static final long LENGTH = ibv_data_buf.length$offset();

    private final QueuePairExOps ops;
    private final ProtectionDomain domain;
    private final MemorySegment memory;
    private final MemorySegment inline;
    private final MemorySegment headers;
    private final long value;
    private final long buffers;
    private final int maxParts;
    private final int maxBuffers;
    private final int maxInline;
    private final int maxHeader;
    private final boolean miscountsLists;
    // the region that was last found to be readable, and when: see LockGroup.changes()
    private @Nullable MemoryRegion checkedRegion;
    private long checkedAt;

    /**
     * Creates the data of a batch.
     *
     * @param ops the functions of the queue pair
     * @param domain the protection domain of the queue pair
     * @param maxParts the maximum number of parts of a request
     * @param maxInline the maximum number of bytes of inline data of a request
     * @param maxHeader the maximum number of bytes of the headers of a segmented send
     * @param miscountsLists whether the driver computes wrong lengths of lists
     */
    SendBatchData(QueuePairExOps ops, ProtectionDomain domain, int maxParts, int maxInline, int maxHeader,
            boolean miscountsLists) {
        this.ops = ops;
        this.domain = domain;
        this.miscountsLists = miscountsLists;
        this.maxParts = maxParts;
        // C has no limit of its own for the number of inline parts
        this.maxBuffers = Math.max(maxParts, 1);
        this.maxInline = maxInline;
        this.maxHeader = maxHeader;
        long buffersSize = BUFFER * maxBuffers;
        memory = Arena.ofAuto().allocate(Long.BYTES + buffersSize + maxInline + maxHeader, Long.BYTES);
        value = memory.address();
        buffers = value + Long.BYTES;
        inline = memory.asSlice(Long.BYTES + buffersSize, maxInline);
        headers = memory.asSlice(memory.byteSize() - maxHeader);
    }

    /** Gives C a list of parts. */
    void setParts(ScatterGatherList parts) {
        int count = parts.size();
        if (count > maxParts) {
            throw SendQueue.tooMany(count, "queue pair", maxParts);
        }
        ScatterList list = parts.entries();
        if (miscountsLists) {
            requireEqualLengths(list, count);
        }
        ops.setSgeList(count, list.address());
        Reference.reachabilityFence(parts);
    }

    private static void requireEqualLengths(ScatterList list, int count) {
        for (int i = 1; i < count; i++) {
            if (list.dataLength(i) != list.dataLength(0)) {
                throw new IllegalArgumentException("the SoftRoCE driver assumes that all parts are as long as the first"
                        + " one: " + list.dataLength(i) + " bytes after " + list.dataLength(0));
            }
        }
    }

    /** Tells C that the request has no data. */
    void setNoParts() {
        ops.setSgeList(0, buffers);
    }

    /** Gives C a part of a region as inline data, which C copies. */
    void setInline(MemoryRegion region, long offset, long length) {
        long address = region.addressOf(offset, length);
        checkInline(region, address, length);
        ops.setInlineData(address, length);
    }

    /** Checks that the processor can read a part of a region, and that C has room for it. */
    void checkInline(MemoryRegion region, long address, long length) {
        requireRoom(length);
        long changes = domain.posts().changes();
        if (region != checkedRegion || changes != checkedAt || !region.ownsMemory()) {
            region.requireReadable(0, domain, address, length);
            checkedRegion = region;
            checkedAt = changes;
        }
    }

    /** Gives C a copy of a segment as inline data, because the segment may end, or be on the heap. */
    void setInline(MemorySegment source, long offset, long length) {
        requireRoom(length);
        MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, inline, ValueLayout.JAVA_BYTE, 0, length);
        ops.setInlineData(inline.address(), length);
    }

    /** Gives C parts of regions as inline data, which C copies. */
    void setInline(ScatterGatherList parts) {
        int count = parts.size();
        if (count > maxBuffers) {
            throw new IllegalArgumentException("more than " + maxBuffers + " parts of inline data");
        }
        ScatterList list = parts.entries();
        requireRoom(list.readableBytes(count, domain));
        if (miscountsLists) {
            setContiguous(list, count);
        } else {
            for (int i = 0; i < count; i++) {
                long buffer = buffers + i * BUFFER;
                Memory.putLong(buffer + ADDR, list.dataAddress(i));
                Memory.putLong(buffer + LENGTH, list.dataLength(i));
            }
            ops.setInlineDataList(count, buffers);
        }
        Reference.reachabilityFence(parts);
    }

    private void setContiguous(ScatterList list, int count) {
        long end = inline.address();
        for (int i = 0; i < count; i++) {
            Memory.copy(list.dataAddress(i), end, list.dataLength(i));
            end += list.dataLength(i);
        }
        ops.setInlineData(inline.address(), end - inline.address());
    }

    /** Tells C that the inline data is empty. */
    void setNoInline() {
        ops.setInlineData(inline.address(), 0);
    }

    private void requireRoom(long bytes) {
        if (bytes < 0 || bytes > maxInline) {
            throw new IllegalArgumentException("the inline data has " + bytes + " bytes; the queue pair allows "
                    + maxInline);
        }
    }

    /** Checks the headers of a segmented send, and copies them; returns the address of the copy. */
    long copyHeaders(MemorySegment source) {
        Tso.checkHeaders(source.byteSize(), maxHeader);
        MemorySegment.copy(source, 0, headers, 0, source.byteSize());
        return headers.address();
    }

    /** Returns the address of 8 bytes that contain the value. */
    long value(long number) {
        Memory.putLong(value, number);
        return value;
    }
}
