// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.rdmacm.verbs.testing.ResourceCounts;

/**
 * What is in use while no scenario runs.
 *
 * @param counts file descriptors, native objects, and objects of the kernel
 * @param heap bytes of the Java heap after a collection
 * @param allocated bytes of the C allocator that are in use
 * @param resident bytes of physical memory of the process (VmRSS), after free memory was returned to the system
 */
record Sample(ResourceCounts counts, long heap, long allocated, long resident) {
    private static final long KILO = 1024;
    private static final double MEGA = 1 << 20;

    /**
     * Takes a sample. Some resources are freed a little after their close, so this waits for the expected counts first.
     *
     * @param expected the counts to wait for
     * @param timeout how long to wait for them; the sample is taken in any case
     */
    static Sample take(Predicate<ResourceCounts> expected, Duration timeout) throws IOException, InterruptedException {
        ResourceCounts counts = ResourceCounts.await(expected, timeout);
        FreeMemory.giveBack();
        Runtime runtime = Runtime.getRuntime();
        return new Sample(counts, runtime.totalMemory() - runtime.freeMemory(), Malloc.allocated(),
                measureResident());
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d fds, %d objects, kernel %s, heap %.1f MiB, malloc %.1f MiB, RSS %.1f MiB",
                counts.files(), counts.objects(), counts.kernel(), heap / MEGA, allocated / MEGA, resident / MEGA);
    }

    private static long measureResident() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            String found = lines.filter(line -> line.startsWith("VmRSS:")).findFirst().orElseThrow();
            return KILO * Long.parseLong(found.replaceAll("\\D", ""));
        }
    }
}
