// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.OpenFile;
import org.junit.jupiter.api.Assumptions;

/**
 * A dma-buf that the kernel gives without any device: from the system heap, or made of a memory file (udmabuf). The
 * constants are those of Linux.
 *
 * @param arena what its memory and descriptor end with
 * @param fd the file descriptor
 * @param memory as the processor reaches it
 */
public record DmaBuf(Arena arena, int fd, MemorySegment memory) implements AutoCloseable {
    private static final Path HEAP = Path.of("/dev/dma_heap/system");
    private static final Path UDMABUF = Path.of("/dev/udmabuf");
    // _IOWR('H', 0, struct dma_heap_allocation_data)
    private static final long DMA_HEAP_IOCTL_ALLOC = 0xc0184800L;
    // _IOW('u', 0x42, struct udmabuf_create)
    private static final long UDMABUF_CREATE = 0x40187542L;
    private static final int IOCTL_STRUCT = 24;
    private static final int O_RDWR = 2;
    private static final int O_CLOEXEC = 0x80000;
    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_SEAL_SHRINK = 2;

    /** A dma-buf of whole pages; the test is skipped where the kernel has neither source. */
    public static DmaBuf allocate(long bytes) throws RdmaException {
        boolean heap = Files.exists(HEAP);
        Assumptions.assumeTrue(heap || Files.exists(UDMABUF), "no dma-buf can be allocated: this kernel has neither "
                + HEAP + " nor " + UDMABUF);
        Arena arena = Arena.ofShared();
        boolean complete = false;
        try {
            int fd = heap ? ofHeap(bytes) : ofMemoryFile(bytes);
            DmaBuf buffer = new DmaBuf(arena, fd, MappedMemory.ofFile(arena, fd, bytes));
            complete = true;
            return buffer;
        } finally {
            if (!complete) {
                arena.close();
            }
        }
    }

    private static int ofHeap(long bytes) throws RdmaException {
        try (OpenFile device = OpenFile.of(HEAP); Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(IOCTL_STRUCT, Long.BYTES);
            request.set(ValueLayout.JAVA_LONG, 0, bytes);
            request.set(ValueLayout.JAVA_INT, 12, O_RDWR | O_CLOEXEC);
            ioctl(device.fd(), DMA_HEAP_IOCTL_ALLOC, request);
            return request.get(ValueLayout.JAVA_INT, 8);
        }
    }

    private static int ofMemoryFile(long bytes) throws RdmaException {
        try (OpenFile device = OpenFile.of(UDMABUF); Arena arena = Arena.ofConfined()) {
            int file = require("memfd_create", SystemCalls.longOf("memfd_create", FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
                    arena.allocateFrom("dma-buf"), MFD_CLOEXEC | MFD_ALLOW_SEALING));
            try {
                require("ftruncate", SystemCalls.longOf("ftruncate", FunctionDescriptor.of(ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG), file, bytes));
                require("fcntl", SystemCalls.variadic("fcntl", 2, FunctionDescriptor.of(ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
                        file, F_ADD_SEALS, F_SEAL_SHRINK));
                MemorySegment request = arena.allocate(IOCTL_STRUCT, Long.BYTES);
                request.set(ValueLayout.JAVA_INT, 0, file);
                request.set(ValueLayout.JAVA_INT, 4, 1);
                request.set(ValueLayout.JAVA_LONG, 16, bytes);
                return ioctl(device.fd(), UDMABUF_CREATE, request);
            } finally {
                closeFile(file);
            }
        }
    }

    private static int ioctl(int fd, long command, MemorySegment request) {
        return require("ioctl", SystemCalls.variadic("ioctl", 2, FunctionDescriptor.of(ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS), fd, command, request));
    }

    private static int require(String function, long result) {
        if (result < 0) {
            throw new AssertionError(function + " failed");
        }
        return (int) result;
    }

    private static void closeFile(int fd) {
        SystemCalls.longOf("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT), fd);
    }

    @Override
    public void close() {
        arena.close();
        closeFile(fd);
    }
}
