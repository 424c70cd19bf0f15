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
 * What is in use while nothing is played.
 *
 * @param counts descriptors, native objects, and those of the kernel
 * @param heap bytes of the Java heap after a collection
 * @param resident bytes of memory of the process (VmRSS), when what is free was given back to the system
 */
record Sample(ResourceCounts counts, long heap, long resident) {
    private static final long KILO = 1024;
    private static final double MEGA = 1 << 20;

    /**
     * Taken now. What is freed a little later than its close is waited for.
     *
     * @param wanted what is in use when all of that is done
     * @param patience how long to wait for that at most
     */
    static Sample take(Predicate<ResourceCounts> wanted, Duration patience) throws IOException, InterruptedException {
        ResourceCounts counts = ResourceCounts.await(wanted, patience);
        FreeMemory.giveBack();
        Runtime runtime = Runtime.getRuntime();
        return new Sample(counts, runtime.totalMemory() - runtime.freeMemory(), measureResident());
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d fds, %d objects, kernel %s, heap %.1f MiB, RSS %.1f MiB",
                counts.files(), counts.objects(), counts.kernel(), heap / MEGA, resident / MEGA);
    }

    private static long measureResident() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            String found = lines.filter(line -> line.startsWith("VmRSS:")).findFirst().orElseThrow();
            return KILO * Long.parseLong(found.replaceAll("\\D", ""));
        }
    }
}
