// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

import io.rdmacm.verbs.MemoryRegion;

/**
 * The messages between the two sides: which memory the other side may use, and that a side is done with it. The fields
 * are in network byte order.
 *
 * @param kind the meaning of the message
 * @param address the start of the memory in its owner's process
 * @param key the remote key of the memory
 * @param length the length of the memory in bytes
 */
record RegionMessage(Kind kind, long address, int key, int length) {
    /** The length of a message in bytes. */
    static final int BYTES = 2 * Integer.BYTES + Long.BYTES + Integer.BYTES;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** The meaning of a message. */
    enum Kind {
        /** The receiver may read and write this memory of the sender. */
        REGION,
        /** The sender is done with the memory of the receiver. */
        DONE
    }

    static RegionMessage of(Kind kind, MemoryRegion region) {
        return new RegionMessage(kind, region.remoteAddress(), region.remoteKey(), (int) region.length());
    }

    static RegionMessage read(MemorySegment message) throws IOException {
        int kind = message.get(INT, 0);
        if (kind < 0 || kind >= Kind.values().length) {
            throw new IOException("a message of the unknown kind " + kind + " arrived");
        }
        return new RegionMessage(Kind.values()[kind], message.get(LONG, 4), message.get(INT, 12),
                message.get(INT, 16));
    }

    void write(MemorySegment message) {
        message.set(INT, 0, kind.ordinal());
        message.set(LONG, 4, address);
        message.set(INT, 12, key);
        message.set(INT, 16, length);
    }

    @Override
    public String toString() {
        return String.format("%s of %d bytes at 0x%x, key 0x%x", kind, length, address, key);
    }
}
