// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Results;
import io.rdmacm.bench.report.Side;
import io.rdmacm.bench.report.Summary;
import org.HdrHistogram.Histogram;

/**
 * Turns outcomes into results: the median latency or the throughput of each round, and the percentiles of the latencies
 * of all rounds together.
 */
final class Collector {
    /** The percentiles over all rounds. */
    static final List<Double> PERCENTILES = List.of(0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0);
    /** The prefix of the metric of a percentile over all rounds. */
    static final String ALL_ROUNDS = "all_p";
    private static final String MICROS = "us";
    private static final String MEBIBYTES = "MiB/s";
    private static final double NANOS_PER_MICRO = 1000;
    private static final double MEDIAN = 50;
    private static final double MEBI = 1 << 20;

    private final List<Result> results = new ArrayList<>();
    private final Map<Side, Histogram> rounds = new EnumMap<>(Side.class);

    /** {@return all results so far} */
    List<Result> results() {
        return results;
    }

    /** Adds a result. */
    void add(Result result) {
        results.add(result);
    }

    /** Adds the outcome of a round. */
    void add(Measurement measurement, Side side, int round, Outcome outcome) {
        Map<String, Object> params = new LinkedHashMap<>(measurement.params());
        params.put(Result.ROUND, round);
        switch (outcome) {
            case Outcome.Latencies(Histogram nanos) -> {
                results.add(new Result(measurement.name(), side, params, Summary.MEDIAN, MICROS,
                        nanos.getValueAtPercentile(MEDIAN) / NANOS_PER_MICRO));
                rounds.computeIfAbsent(side, s -> Outcome.Latencies.histogram()).add(nanos);
            }
            case Outcome.Throughput(double rate) -> {
                results.add(new Result(measurement.name(), side, params, Summary.RATE, "1/s", rate));
                results.add(new Result(measurement.name(), side, params, Summary.BANDWIDTH, MEBIBYTES,
                        rate * measurement.size() / MEBI));
            }
        }
    }

    /**
     * Adds the outcome of a round of a trial.
     *
     * @param parts how many of the measured latencies make one
     */
    void add(Trial trial, Side side, int round, Outcome outcome, int parts) {
        String name = trial.pattern().id();
        Map<String, Object> params = new LinkedHashMap<>(trial.params());
        params.put(Result.ROUND, round);
        switch (outcome) {
            case Outcome.Latencies(Histogram nanos) -> results.add(new Result(name, side, params, Summary.MEDIAN,
                    MICROS, parts * nanos.getValueAtPercentile(MEDIAN) / NANOS_PER_MICRO));
            case Outcome.Throughput(double rate) -> results.add(new Result(name, side, params, Summary.BANDWIDTH,
                    MEBIBYTES, rate * trial.size() / MEBI));
        }
    }

    /** Adds what the thread at work has allocated for each operation of a trial. */
    void addAllocated(Trial trial, int round, double bytes) {
        Map<String, Object> params = new LinkedHashMap<>(trial.params());
        params.put(Result.ROUND, round);
        results.add(new Result(trial.pattern().id(), Side.JAVA, params, Summary.ALLOCATED, "B/op", bytes));
    }

    /** {@return the medians of a trial as text} */
    String text(Trial trial) {
        return trial.pattern().isLatency() ? text(trial.pattern().id(), Summary.MEDIAN, trial.params(), MICROS)
                : text(trial.pattern().id(), Summary.BANDWIDTH, trial.params(), MEBIBYTES);
    }

    /** Adds the percentiles of a measurement after its last round. */
    void finish(Measurement measurement) {
        rounds.forEach((side, histogram) -> PERCENTILES.forEach(percentile ->
                results.add(new Result(measurement.name(), side, measurement.params(),
                        ALL_ROUNDS + (percentile % 1 == 0 ? Integer.toString(percentile.intValue())
                                : Double.toString(percentile)),
                        MICROS, histogram.getValueAtPercentile(percentile) / NANOS_PER_MICRO))));
        rounds.clear();
    }

    /** {@return the medians of both sides as text} */
    String text(Measurement measurement) {
        return measurement.figure() == Measurement.Figure.LATENCY
                ? text(measurement.name(), Summary.MEDIAN, measurement.params(), MICROS)
                : text(measurement.name(), Summary.BANDWIDTH, measurement.params(), MEBIBYTES);
    }

    /** {@return the medians of both sides and their ratio as text} */
    String text(String name, String metric, Map<String, Object> params, String unit) {
        Results all = new Results(Map.of(), results);
        OptionalDouble java = all.median(name, metric, Side.JAVA, params);
        OptionalDouble c = all.median(name, metric, Side.C, params);
        if (java.isPresent() && c.isEmpty()) {
            return String.format(Locale.ROOT, "Java %.4g %s", java.getAsDouble(), unit);
        }
        if (java.isEmpty()) {
            return "not measured on both sides";
        }
        return String.format(Locale.ROOT, "Java %.4g %s, C %.4g %s, ratio %.3f", java.getAsDouble(), unit,
                c.getAsDouble(), unit, java.getAsDouble() / c.getAsDouble());
    }
}
