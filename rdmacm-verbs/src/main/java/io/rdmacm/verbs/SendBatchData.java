// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.bindings.ibv_data_buf;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.verbs.internal.driver.QueuePairExOps;
import io.rdmacm.verbs.internal.ffi.Memory;

/** The data of the current request of a batch: parts of memory regions, or copies of inline data. */
final class SendBatchData {
    private static final long BUFFER = ibv_data_buf.sizeof();
    private static final long ADDR = ibv_sge.addr$offset();
    private static final long LENGTH = ibv_sge.length$offset();
    private static final long LKEY = ibv_sge.lkey$offset();

    private final MemorySegment memory;
    private final MemorySegment inline;
    private final long list;
    private final long value;
    private final long buffers;
    private final int maxParts;
    private final int maxBuffers;
    private final int maxInline;
    private final boolean miscountsLists;
    private int partCount;
    // The first part: most requests have only this one, and need no list.
    private long firstAddress;
    private int firstLength;
    private int firstKey;
    private int bufferCount;
    private int inlineBytes;

    SendBatchData(int maxScatterGather, int maxInlineData, boolean miscountsLists) {
        this.miscountsLists = miscountsLists;
        maxParts = maxScatterGather;
        // as many inline parts as parts of regions are enough for everybody
        maxBuffers = Math.max(maxScatterGather, 1);
        maxInline = maxInlineData;
        long listSize = ScatterList.ENTRY * Math.max(maxParts, 1);
        long buffersSize = BUFFER * maxBuffers;
        memory = Arena.ofAuto().allocate(Long.BYTES + listSize + buffersSize + maxInline, Long.BYTES);
        value = memory.address();
        list = value + Long.BYTES;
        buffers = list + listSize;
        inline = memory.asSlice(memory.byteSize() - maxInline);
    }

    void clear() {
        partCount = 0;
        bufferCount = 0;
        inlineBytes = 0;
    }

    boolean isInline() {
        return bufferCount > 0;
    }

    void add(MemoryRegion region, long offset, int length) {
        if (isInline()) {
            throw new IllegalStateException("the request already has inline data");
        }
        if (partCount == maxParts) {
            throw SendQueue.tooMany(partCount + 1, "queue pair", maxParts);
        }
        long address = region.addressOf(offset, length);
        if (partCount == 0) {
            firstAddress = address;
            firstLength = length;
            firstKey = region.localKeyUnchecked();
        } else {
            if (miscountsLists && length != firstLength) {
                throw new IllegalArgumentException("the SoftRoCE driver assumes that all parts are as long as the first"
                        + " one: " + length + " bytes after " + firstLength);
            }
            if (partCount == 1) {
                write(0, firstAddress, firstLength, firstKey);
            }
            write(partCount, address, length, region.localKeyUnchecked());
        }
        partCount++;
    }

    private void write(int index, long address, int length, int key) {
        long entry = list + index * ScatterList.ENTRY;
        Memory.putLong(entry + ADDR, address);
        Memory.putInt(entry + LENGTH, length);
        Memory.putInt(entry + LKEY, key);
    }

    void addInline(MemorySegment source, long offset, int length) {
        if (partCount > 0) {
            throw new IllegalStateException("the request already has parts of memory regions");
        }
        if (length < 0 || length > maxInline - inlineBytes) {
            throw new IllegalArgumentException("the inline data has " + (inlineBytes + (long) length)
                    + " bytes; the queue pair allows " + maxInline);
        }
        if (bufferCount == maxBuffers) {
            throw new IllegalArgumentException("more than " + maxBuffers + " parts of inline data");
        }
        MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, inline, ValueLayout.JAVA_BYTE, inlineBytes, length);
        long buffer = buffers + bufferCount * BUFFER;
        Memory.putLong(buffer + ibv_data_buf.addr$offset(), inline.address() + inlineBytes);
        Memory.putLong(buffer + ibv_data_buf.length$offset(), length);
        inlineBytes += length;
        bufferCount++;
    }

    /** Returns the address of 8 bytes that contain the value. */
    long value(long number) {
        Memory.putLong(value, number);
        return value;
    }

    /** Passes the data to C. Always calls one of the setters, because the request is complete only then. */
    void set(QueuePairExOps ops) {
        if (bufferCount == 1 || bufferCount > 1 && miscountsLists) {
            // the copies are contiguous
            ops.setInlineData(inline.address(), inlineBytes);
        } else if (bufferCount > 1) {
            ops.setInlineDataList(bufferCount, buffers);
        } else if (partCount == 1) {
            ops.setSge(firstKey, firstAddress, firstLength);
        } else {
            ops.setSgeList(partCount, list);
        }
    }
}
