// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Assumptions;

/** Memory by mmap(2), for what arenas cannot give. The constants are those of Linux on 64 bits. */
public final class MappedMemory {
    /** The size of the huge pages that are asked for, in bytes. */
    public static final long HUGE_PAGE = 2L << 20;

    private static final Path FREE_HUGE_PAGES = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_HUGETLB = 0x40000;
    private static final int MAP_HUGE_2MB = 21 << 26;
    private static final long MAP_FAILED = -1;

    private MappedMemory() {
    }

    /**
     * Huge pages; the test is skipped where there are none.
     *
     * @param arena that they end with
     * @param bytes a multiple of {@link #HUGE_PAGE}
     */
    public static MemorySegment hugePages(Arena arena, long bytes) {
        long free = freeHugePages();
        Assumptions.assumeTrue(free * HUGE_PAGE >= bytes, "no " + bytes / HUGE_PAGE + " free huge pages of 2 MiB ("
                + FREE_HUGE_PAGES + ": " + (free < 0 ? "missing" : free) + ")");
        return map(arena, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB, -1);
    }

    private static long freeHugePages() {
        try {
            return Files.exists(FREE_HUGE_PAGES) ? Long.parseLong(Files.readString(FREE_HUGE_PAGES).strip()) : -1;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** A file's memory, shared with all that have it open. */
    static MemorySegment ofFile(Arena arena, int fd, long bytes) {
        return map(arena, bytes, MAP_SHARED, fd);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment map(Arena arena, long bytes, int flags, int fd) {
        long address = SystemCalls.longOf("mmap", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG), 0L, bytes, PROT_READ_WRITE, flags, fd, 0L);
        if (address == MAP_FAILED) {
            throw new AssertionError("mmap of " + bytes + " bytes failed");
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, memory -> SystemCalls.longOf("munmap",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                address, bytes));
    }
}
