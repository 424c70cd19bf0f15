// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.internal.ffi.Memory;

/** The part of a send work request that the device cuts into packets (TSO): their headers, and how long they are. */
final class SegmentedSend {
    private static final long TSO = ibv_send_wr.tso$offset();
    private static final long HEADER = TSO + ibv_send_wr.tso.hdr$offset();
    private static final long HEADER_SIZE = TSO + ibv_send_wr.tso.hdr_sz$offset();
    private static final long SEGMENT_SIZE = TSO + ibv_send_wr.tso.mss$offset();
    private static final int SIZE_BITS = 16;

    private final long request;
    // the longest that was needed until now; C copies it at the post
    private MemorySegment room = MemorySegment.NULL;

    /**
     * Of a request.
     *
     * @param request the address of a {@code struct ibv_send_wr}
     */
    SegmentedSend(long request) {
        this.request = request;
    }

    /** Writes it into the request, with a copy of the headers. */
    void set(MemorySegment headers, int maxSegmentSize) {
        checkSegmentSize(maxSegmentSize);
        long bytes = headers.byteSize();
        if (bytes >>> SIZE_BITS != 0) {
            throw new IllegalArgumentException("the headers of a segmented send have at most " + ((1 << SIZE_BITS) - 1)
                    + " bytes, not " + bytes);
        }
        MemorySegment copy = bytes > room.byteSize() ? Arena.ofAuto().allocate(bytes, Long.BYTES) : room;
        MemorySegment.copy(headers, 0, copy, 0, bytes);
        // only now: while the request names the old room, that must live
        room = copy;
        Memory.putLong(request + HEADER, room.address());
        Memory.putShort(request + HEADER_SIZE, (short) bytes);
        Memory.putShort(request + SEGMENT_SIZE, (short) maxSegmentSize);
    }

    /** Refuses headers that are longer than those that the queue pair was made for. */
    void check(int maxHeader) {
        checkHeaders(Short.toUnsignedInt(Memory.getShort(request + HEADER_SIZE)), maxHeader);
    }

    static void checkHeaders(long bytes, int maxHeader) {
        if (maxHeader == 0) {
            throw new IllegalArgumentException("a segmented send on a queue pair that was made without maxTsoHeader");
        }
        if (bytes > maxHeader) {
            throw new IllegalArgumentException("headers of " + bytes + " bytes on a queue pair that takes "
                    + maxHeader);
        }
    }

    static void checkSegmentSize(int maxSegmentSize) {
        if (maxSegmentSize < 1 || maxSegmentSize >>> SIZE_BITS != 0) {
            throw new IllegalArgumentException("the maximum segment size must be from 1 to " + ((1 << SIZE_BITS) - 1)
                    + ", not " + maxSegmentSize);
        }
    }
}
