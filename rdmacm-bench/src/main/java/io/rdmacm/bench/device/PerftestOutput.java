// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;

import org.HdrHistogram.Histogram;

/** Reads what the programs of perftest print. */
final class PerftestOutput {
    private static final Pattern SAMPLE = Pattern.compile("[0-9]+, ([0-9.e+]+)");
    private static final int BANDWIDTH_COLUMNS = 5;
    private static final int AVERAGE = 3;
    private static final int RATE = 4;
    private static final double MEBI = 1 << 20;
    private static final double MEGA = 1e6;
    private static final double NANOS_PER_MICRO = 1000;
    // below, the rate has more digits than the bandwidth
    private static final int SMALL = 4096;

    private PerftestOutput() {
    }

    /**
     * The samples of a test of latency that was run with {@code -U} and {@code -C}. They are halves of round trips
     * where perftest says so.
     *
     * @param text what it printed
     * @param cyclesPerMicrosecond what a cycle is
     * @throws IOException when there are none
     */
    static Histogram latencies(String text, double cyclesPerMicrosecond) throws IOException {
        Histogram histogram = Outcome.Latencies.histogram();
        boolean samples = false;
        for (String line : text.lines().map(String::strip).toList()) {
            if (line.startsWith("#, ")) {
                if (!line.equals("#, cycles")) {
                    throw new IOException("samples in an unknown unit: " + line);
                }
                samples = true;
                continue;
            }
            var sample = SAMPLE.matcher(line);
            if (samples && sample.matches()) {
                double micros = Double.parseDouble(sample.group(1)) / cyclesPerMicrosecond;
                histogram.recordValue(Math.round(micros * NANOS_PER_MICRO));
            }
        }
        if (histogram.getTotalCount() == 0) {
            throw new IOException("no samples in: " + text.strip());
        }
        return histogram;
    }

    /**
     * The average of a test of bandwidth.
     *
     * @param text what it printed
     * @return messages a second; 0 when it could not measure the frequency of the CPU and so tells no figure
     * @throws IOException when there is no result
     */
    static double messagesPerSecond(String text) throws IOException {
        List<String> lines = text.lines().map(String::strip).toList();
        int header = -1;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith("#bytes") && lines.get(i).contains("MB/sec")) {
                header = i;
            }
        }
        if (header < 0) {
            throw new IOException("no result in: " + text.strip());
        }
        for (String line : lines.subList(header + 1, lines.size())) {
            String[] columns = line.split("\\s+");
            if (columns.length >= BANDWIDTH_COLUMNS && columns[0].matches("[0-9]+")) {
                return rate(Long.parseLong(columns[0]), columns[AVERAGE], columns[RATE]);
            }
        }
        throw new IOException("no result in: " + text.strip());
    }

    private static double rate(long size, String average, String rate) {
        if (!average.matches("[0-9.]+") || !rate.matches("[0-9.]+")) {
            return 0;
        }
        return size < SMALL ? Double.parseDouble(rate) * MEGA : Double.parseDouble(average) * MEBI / size;
    }
}
