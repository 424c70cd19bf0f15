// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;

import io.rdmacm.bench.device.measure.Outcome;
import org.HdrHistogram.Histogram;

/** Parses the output of perftest. */
final class PerftestOutput {
    private static final Pattern SAMPLE = Pattern.compile("[0-9]+, ([0-9.e+]+)");
    private static final int BANDWIDTH_COLUMNS = 5;
    private static final int AVERAGE = 3;
    private static final int RATE = 4;
    private static final double MEBI = 1 << 20;
    private static final double MEGA = 1e6;
    private static final double NANOS_PER_MICRO = 1000;
    // for smaller messages, the rate has more digits than the bandwidth
    private static final int SMALL = 4096;

    private PerftestOutput() {
    }

    /**
     * Returns the samples of a latency test that was run with {@code -U} and {@code -C}. They are halves of round trips
     * in the tests where perftest halves them.
     *
     * @param text the output
     * @param cyclesPerMicrosecond the unit of the samples
     * @throws IOException if there are no samples
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
     * Returns the average of a bandwidth test.
     *
     * @param text the output
     * @return messages per second; 0 if perftest could not measure the CPU frequency and printed no figure
     * @throws IOException if there is no result
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
