// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.machine;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What a process uses.
 *
 * @param heap bytes of live objects
 * @param registered bytes of registered memory, which the kernel has pinned
 * @param resident bytes of resident memory
 * @param files open file descriptors
 * @param threads platform threads
 */
public record Usage(long heap, long registered, long resident, long files, long threads) {
    private static final int KIB = 1024;
    // the second collection frees what the first one has made unreachable, such as what cleaners held
    private static final int COLLECTIONS = 2;

    /** {@return what this process uses now} */
    public static Usage now() throws IOException {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        // as the collection left it: not with the buffers that threads have taken to allocate from since
        long heap = ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == MemoryType.HEAP)
                .map(MemoryPoolMXBean::getCollectionUsage).filter(Objects::nonNull).mapToLong(MemoryUsage::getUsed)
                .sum();
        List<String> status = Files.readAllLines(Path.of("/proc/self/status"));
        return new Usage(heap, KIB * value(status, "VmPin"), KIB * value(status, "VmRSS"), openFiles(),
                value(status, "Threads"));
    }

    /** {@return how many files this process has open now} */
    public static long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    /** {@return the bytes of memory that the kernel has pinned now} */
    public static long pinned() throws IOException {
        return KIB * value(Files.readAllLines(Path.of("/proc/self/status")), "VmPin");
    }

    private static long value(List<String> status, String name) throws IOException {
        return status.stream().filter(line -> line.startsWith(name + ":"))
                .map(line -> Long.parseLong(line.split("\\s+")[1])).findFirst()
                .orElseThrow(() -> new IOException("/proc/self/status has no " + name));
    }

    /** {@return how much more this is} */
    public Usage minus(Usage before) {
        return new Usage(heap - before.heap, registered - before.registered, resident - before.resident,
                files - before.files, threads - before.threads);
    }
}
