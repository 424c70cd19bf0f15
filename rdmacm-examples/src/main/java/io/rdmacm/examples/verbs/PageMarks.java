// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The data check of option {@code -c}, as weak as in the C programs: the client's message has a zero at the start of
 * each page, where the buffers had another value before.
 */
final class PageMarks {
    private static final byte FILL = 0x7b;
    private static final long USUAL_PAGE = 4096;

    private PageMarks() {
    }

    /** Fills a buffer before the first message. */
    static void erase(MemorySegment data) {
        data.fill(FILL);
    }

    /** Marks a message. */
    static void write(MemorySegment data) {
        long page = pageSize();
        for (long i = 0; i < data.byteSize(); i += page) {
            data.set(ValueLayout.JAVA_BYTE, i, (byte) 0);
        }
    }

    /**
     * Checks the marks of a received message.
     *
     * @throws IOException if one is missing
     */
    static void check(MemorySegment data) throws IOException {
        long page = pageSize();
        for (long i = 0; i < data.byteSize(); i += page) {
            if (data.get(ValueLayout.JAVA_BYTE, i) != 0) {
                throw new IOException("invalid data in page " + i / page);
            }
        }
    }

    /** Returns the size of a page of memory in bytes. */
    static long pageSize() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/smaps"))) {
            return lines.filter(line -> line.startsWith("KernelPageSize:")).findFirst()
                    .map(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10).orElse(USUAL_PAGE);
        } catch (IOException e) {
            return USUAL_PAGE;
        }
    }
}
