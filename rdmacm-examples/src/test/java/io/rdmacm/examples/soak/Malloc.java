// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Collections;

/** The allocator of the C library, which must be that of glibc. Thread-safe. */
@SuppressWarnings("restricted")
final class Malloc {
    // struct mallinfo2, mallinfo(3): ten size_t
    private static final StructLayout INFO =
            MemoryLayout.structLayout(Collections.nCopies(10, ValueLayout.JAVA_LONG).toArray(MemoryLayout[]::new));
    private static final int MAPPED = 4; // hblkhd
    private static final int ALLOCATED = 7; // uordblks
    private static final MethodHandle MALLINFO2 = find("mallinfo2", FunctionDescriptor.of(INFO));
    private static final MethodHandle MALLOC_TRIM =
            find("malloc_trim", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));

    private Malloc() {
    }

    /** Returns how many bytes are allocated and not freed, in all arenas and in mappings of their own. */
    static long allocated() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = (MemorySegment) MALLINFO2.invokeExact((SegmentAllocator) arena);
            return info.getAtIndex(ValueLayout.JAVA_LONG, MAPPED) + info.getAtIndex(ValueLayout.JAVA_LONG, ALLOCATED);
        } catch (Throwable e) {
            throw new AssertionError("mallinfo2 throws nothing", e);
        }
    }

    /** Returns free pages to the system. */
    static void trim() {
        try {
            int ignored = (int) MALLOC_TRIM.invokeExact(0L);
        } catch (Throwable e) {
            throw new AssertionError("malloc_trim throws nothing", e);
        }
    }

    private static MethodHandle find(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
    }
}
