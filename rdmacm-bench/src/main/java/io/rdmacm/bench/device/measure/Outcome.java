// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.report.Summary;

/**
 * What was measured once.
 *
 * @param figures the figures
 */
public record Outcome(List<Figure> figures) implements Serializable {
    /** The unit of times. */
    public static final String MICROS = "us";

    private static final double NANOS_PER_MICRO = 1000;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MEBI = 1 << 20;

    /** Copies the parameter. */
    public Outcome {
        figures = List.copyOf(figures);
    }

    /**
     * A figure.
     *
     * @param name the name of the result; empty for that of the trial
     * @param params parameters of the result, besides those of the trial
     * @param metric the metric
     * @param unit its unit
     * @param value the value
     */
    public record Figure(String name, Map<String, String> params, String metric, String unit, double value)
            implements Serializable {
    }

    /** {@return nothing yet} */
    public static Outcome none() {
        return new Outcome(List.of());
    }

    /** {@return these figures and another one} */
    public Outcome and(String metric, String unit, double value) {
        return and(new Outcome(List.of(new Figure("", Map.of(), metric, unit, value))));
    }

    /** {@return these figures and others} */
    public Outcome and(Outcome others) {
        List<Figure> all = new ArrayList<>(figures);
        all.addAll(others.figures);
        return new Outcome(all);
    }

    /** {@return the percentiles of latencies in microseconds} */
    public static Outcome latencies(double[] micros) {
        double[] sorted = micros.clone();
        Arrays.sort(sorted);
        return none().and(Summary.MEDIAN, MICROS, sorted[sorted.length / 2])
                .and("p99", MICROS, sorted[sorted.length * 99 / 100]);
    }

    /**
     * {@return the percentiles of the latencies between the start times of operations}
     *
     * @param nanos the start times, and the end of the last operation
     * @param first the index of the first operation that counts
     * @param parts the divisor of each latency: 2 for one way of a round trip
     */
    public static Outcome latencies(long[] nanos, int first, int parts) {
        double[] micros = new double[nanos.length - 1 - first];
        for (int i = 0; i < micros.length; i++) {
            micros[i] = (nanos[first + i + 1] - nanos[first + i]) / NANOS_PER_MICRO / parts;
        }
        return latencies(micros);
    }

    /** {@return operations and bytes in a second, of operations that took some time together} */
    public static Outcome throughput(int count, int size, long nanos) {
        return throughput(count * NANOS_PER_SECOND / nanos, size);
    }

    /** {@return operations and bytes in a second} */
    public static Outcome throughput(double rate, int size) {
        return none().and(Summary.BANDWIDTH, "MiB/s", rate * size / MEBI).and(Summary.RATE, "1/s", rate);
    }
}
