// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.internal.ffi.Memory;

/** The headers and the segment size of a send work request that the device splits into packets (TSO). */
final class Tso {
    private static final long TSO = ibv_send_wr.tso$offset();
    private static final long HEADER = TSO + ibv_send_wr.tso.hdr$offset();
    private static final long HEADER_SIZE = TSO + ibv_send_wr.tso.hdr_sz$offset();
    private static final long SEGMENT_SIZE = TSO + ibv_send_wr.tso.mss$offset();
    private static final int SIZE_BITS = 16;

    private final long request;
    // the headers, in memory that grows as needed; C copies them at the post
    private MemorySegment room = MemorySegment.NULL;

    /**
     * Creates the TSO part of a request.
     *
     * @param request the address of a {@code struct ibv_send_wr}
     */
    Tso(long request) {
        this.request = request;
    }

    /** Writes the segment size and a copy of the headers to the request. */
    void set(MemorySegment headers, int maxSegmentSize) {
        checkSegmentSize(maxSegmentSize);
        long bytes = headers.byteSize();
        if (bytes >>> SIZE_BITS != 0) {
            throw new IllegalArgumentException("the headers of a segmented send can have at most "
                    + ((1 << SIZE_BITS) - 1) + " bytes, not " + bytes);
        }
        MemorySegment copy = bytes > room.byteSize() ? Arena.ofAuto().allocate(bytes, Long.BYTES) : room;
        MemorySegment.copy(headers, 0, copy, 0, bytes);
        // Not before, because the request still names the old memory, which must stay alive.
        room = copy;
        Memory.putLong(request + HEADER, room.address());
        Memory.putShort(request + HEADER_SIZE, (short) bytes);
        Memory.putShort(request + SEGMENT_SIZE, (short) maxSegmentSize);
    }

    /** Checks that the headers are not longer than the queue pair was created for. */
    void check(int maxHeader) {
        checkHeaders(Short.toUnsignedInt(Memory.getShort(request + HEADER_SIZE)), maxHeader);
    }

    static void checkHeaders(long bytes, int maxHeader) {
        if (maxHeader == 0) {
            throw new IllegalArgumentException("a segmented send needs a queue pair created with maxTsoHeader");
        }
        if (bytes > maxHeader) {
            throw new IllegalArgumentException("the headers have " + bytes + " bytes; the queue pair allows "
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
