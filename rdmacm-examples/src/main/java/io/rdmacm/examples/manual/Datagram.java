// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The content of a message: its number, its length, and bytes derived from the number. */
final class Datagram {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int HEADER = 2 * Integer.BYTES;

    private Datagram() {
    }

    /** Fills memory with a message. */
    static void fill(MemorySegment memory, int number) {
        memory.set(INT, 0, number);
        memory.set(INT, Integer.BYTES, (int) memory.byteSize());
        for (long i = HEADER; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (number + i));
        }
    }

    /**
     * Returns the number of a received message.
     *
     * @throws IOException if the message is not as it was sent
     */
    static int check(MemorySegment memory) throws IOException {
        if (memory.byteSize() < HEADER || memory.get(INT, Integer.BYTES) != memory.byteSize()) {
            throw new IOException("a datagram of " + memory.byteSize() + " bytes does not come from this program");
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
