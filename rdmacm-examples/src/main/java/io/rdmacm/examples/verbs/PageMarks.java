// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The data check of option {@code -c}, as weak as in the C programs: the client's message has a zero at the start of
 * each page, where the buffers had another value before.
 */
final class PageMarks {
    private static final byte FILL = 0x7b;
    // the entry of the auxiliary vector with the page size
    private static final int AT_PAGESZ = 6;
    private static final int PAGE = 4096;

    private PageMarks() {
    }

    /** Fills a buffer before the first message. */
    static void erase(MemorySegment data) {
        data.fill(FILL);
    }

    /** Marks a message. */
    static void write(MemorySegment data) {
        for (long i = 0; i < data.byteSize(); i += pageSize()) {
            data.set(ValueLayout.JAVA_BYTE, i, (byte) 0);
        }
    }

    /**
     * Checks the marks of a received message.
     *
     * @throws IOException if one is missing
     */
    static void check(MemorySegment data) throws IOException {
        for (long i = 0; i < data.byteSize(); i += pageSize()) {
            if (data.get(ValueLayout.JAVA_BYTE, i) != 0) {
                throw new IOException("invalid data in page " + i / pageSize());
            }
        }
    }

    /** Returns the size of a page of memory in bytes. */
    static long pageSize() {
        try {
            ByteBuffer vector = ByteBuffer.wrap(Files.readAllBytes(Path.of("/proc/self/auxv")))
                    .order(ByteOrder.nativeOrder());
            while (vector.remaining() >= 2 * Long.BYTES) {
                long entry = vector.getLong();
                long value = vector.getLong();
                if (entry == AT_PAGESZ) {
                    return value;
                }
            }
        } catch (IOException e) {
            // use the usual page size
        }
        return PAGE;
    }
}
