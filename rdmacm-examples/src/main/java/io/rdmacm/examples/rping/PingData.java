// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** The content of a ping: a text that ends with a zero byte, as in C. */
final class PingData {
    private static final int FIRST = 'A';
    private static final int LAST = 'z';
    private static final int LETTERS = LAST - FIRST + 1;

    private PingData() {
    }

    /** Fills memory with the number of the ping, then letters that start one further with each ping. */
    static void fill(MemorySegment memory, int ping) {
        byte[] start = ("rdma-ping-" + ping + ": ").getBytes(StandardCharsets.US_ASCII);
        int length = (int) memory.byteSize() - 1;
        for (int i = 0; i < length; i++) {
            int letter = FIRST + (ping % LETTERS + i - start.length) % LETTERS;
            memory.set(ValueLayout.JAVA_BYTE, i, i < start.length ? start[i] : (byte) letter);
        }
        memory.set(ValueLayout.JAVA_BYTE, length, (byte) 0);
    }

    /** Returns the bytes before the first zero. The last byte always counts as one, because the peer may send none. */
    static byte[] text(MemorySegment memory) {
        long end = 0;
        while (end < memory.byteSize() - 1 && memory.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        return memory.asSlice(0, end).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Returns the text as a string. */
    static String show(byte[] text) {
        return new String(text, StandardCharsets.ISO_8859_1);
    }
}
