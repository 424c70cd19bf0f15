// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Exchanges one after the other for some time: how long they take, and the CPU time of the whole machine. */
final class Measurement {
    private static final double SECOND = 1e9;
    private static final double MICROSECOND = 1e3;
    private static final double MEGABYTE = 1e6;
    // In which the kernel counts for programs, whatever its own are.
    private static final double TICKS_PER_SECOND = 100;

    private final List<Long> nanos = new ArrayList<>();
    private final double megabytes;
    private final double seconds;
    private final double cpu;

    Measurement(Program.Client client, byte[] data, int times, Duration time) throws Exception {
        double cpuBefore = cpuSeconds();
        long start = System.nanoTime();
        long end = start;
        do {
            client.exchange(data, times);
            long now = System.nanoTime();
            nanos.add(now - end);
            end = now;
        } while (end - start < time.toNanos());
        cpu = cpuSeconds() - cpuBefore;
        seconds = (end - start) / SECOND;
        megabytes = (double) nanos.size() * times * data.length / MEGABYTE;
        Collections.sort(nanos);
    }

    double megabytesPerSecond() {
        return megabytes / seconds;
    }

    /** Returns seconds. */
    double cpuPerMegabyte() {
        return cpu / megabytes;
    }

    /** Returns the seconds of an exchange. */
    double cpu() {
        return cpu / nanos.size();
    }

    /** Returns microseconds. */
    double percentile(int percent) {
        return nanos.get(nanos.size() * percent / 100) / MICROSECOND;
    }

    /** That of all processes and of the kernel, which does the work of SoftRoCE. */
    private static double cpuSeconds() throws IOException {
        String[] ticks = Files.readAllLines(Path.of("/proc/stat")).getFirst().trim().split("\\s+");
        // The fields of proc_stat(5): user, nice, system, irq and softirq; those between are idle.
        double sum = 0;
        for (int field : new int[] {1, 2, 3, 6, 7}) {
            sum += Long.parseLong(ticks[field]);
        }
        return sum / TICKS_PER_SECOND;
    }
}
