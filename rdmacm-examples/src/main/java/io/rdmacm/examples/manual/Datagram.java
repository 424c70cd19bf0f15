// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** What a message of the multicast example is made of: its number, its length, and bytes that follow from both. */
final class Datagram {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int HEADER = 2 * Integer.BYTES;

    private Datagram() {
    }

    /** Fills all of the memory. */
    static void fill(MemorySegment memory, int number) {
        memory.set(INT, 0, number);
        memory.set(INT, Integer.BYTES, (int) memory.byteSize());
        for (long i = HEADER; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (number + i));
        }
    }

    /**
     * The number of a message that arrived.
     *
     * @throws IOException when it did not arrive as it was sent
     */
    static int check(MemorySegment memory) throws IOException {
        if (memory.byteSize() < HEADER || memory.get(INT, Integer.BYTES) != memory.byteSize()) {
            throw new IOException("a datagram of " + memory.byteSize() + " bytes is not of this program");
        }
        int number = memory.get(INT, 0);
        for (long i = HEADER; i < memory.byteSize(); i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != (byte) (number + i)) {
                throw new IOException("message " + number + " arrived different at byte " + i);
            }
        }
        return number;
    }
}
