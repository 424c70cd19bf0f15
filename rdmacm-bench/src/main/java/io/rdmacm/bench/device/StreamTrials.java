// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.stream.Rstream;
import io.rdmacm.bench.device.stream.StreamTrial;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Side;
import io.rdmacm.bench.report.Summary;

/** Measures streams of bytes beside {@code rstream}, in turn. */
final class StreamTrials {
    private static final double MICROS_PER_SECOND = 1e6;
    private static final double MEBI = 1 << 20;

    private final JavaBench java;
    private final Rstream c;
    private final Collector collector;

    private StreamTrials(JavaBench java, Rstream c, Collector collector) {
        this.java = java;
        this.c = c;
        this.collector = collector;
    }

    /** Takes part in a round. */
    @FunctionalInterface
    private interface Part {
        void take(int round) throws IOException, InterruptedException;
    }

    private record Turn(String name, Part what) {
    }

    /**
     * Measures trials of the same size and their reference in turn; each round begins with another one. Those that this
     * machine cannot run are left out.
     *
     * @param planned with the same size
     * @param java the processes of this library
     * @param c the C side
     * @param rounds how often
     * @param collector gets the results
     */
    static void run(List<StreamTrial> planned, JavaBench java, Rstream c, int rounds, Collector collector)
            throws InterruptedException {
        StreamTrial reference = planned.getFirst();
        StreamTrials group = new StreamTrials(java, c, collector);
        group.run(planned, rounds, new Turn("rstream", round -> group.reference(reference, round)));
    }

    /**
     * Measures trials that have no reference in turn.
     *
     * @param planned with the same size
     * @param java the processes of this library
     * @param rounds how often
     * @param collector gets the results
     */
    static void run(List<StreamTrial> planned, JavaBench java, int rounds, Collector collector)
            throws InterruptedException {
        new StreamTrials(java, null, collector).run(planned, rounds);
    }

    private void run(List<StreamTrial> planned, int rounds, Turn... references) throws InterruptedException {
        List<StreamTrial> trials = planned.stream().filter(StreamTrials::isPossible).toList();
        List<Turn> turns = new ArrayList<>(List.of(references));
        trials.forEach(trial -> turns.add(new Turn(trial.toString(), round -> java(trial, round))));
        for (int round = 0; round < rounds; round++) {
            for (Turn turn : turns) {
                try {
                    turn.what().take(round);
                } catch (IOException e) {
                    DeviceBenchmark.say("not measured: %s: %s", turn.name(), e.getMessage());
                }
            }
            Collections.rotate(turns, 1);
        }
        trials.forEach(trial -> DeviceBenchmark.say("%s: %s", trial, collector.text(trial.id(),
                trial.isLatency() ? Summary.TIME : Summary.BANDWIDTH, trial.params(),
                trial.isLatency() ? "us" : "MiB/s")));
    }

    private static boolean isPossible(StreamTrial trial) {
        trial.way().problem().ifPresent(why -> DeviceBenchmark.say("not measured: %s: %s", trial, why));
        return trial.way().problem().isEmpty();
    }

    /** The reference stands beside the engine: the first trial. */
    private void reference(StreamTrial trial, int round) throws IOException, InterruptedException {
        double figure = c.run(trial);
        add(trial, Side.C, round, trial.isLatency() ? MICROS_PER_SECOND / figure : figure);
    }

    private void java(StreamTrial trial, int round) throws IOException, InterruptedException {
        if (java.run(trial, bytes -> collector.add(result(trial, Side.JAVA, round, Summary.ALLOCATED, "B/op", bytes)))
                instanceof Outcome.Throughput(double rate)) {
            add(trial, Side.JAVA, round, rate);
        }
    }

    /** Adds what round trips or transfers in a second amount to. */
    private void add(StreamTrial trial, Side side, int round, double rate) {
        collector.add(trial.isLatency() ? result(trial, side, round, Summary.TIME, "us", MICROS_PER_SECOND / rate)
                : result(trial, side, round, Summary.BANDWIDTH, "MiB/s", rate * trial.size() / MEBI));
    }

    private static Result result(StreamTrial trial, Side side, int round, String metric, String unit, double value) {
        Map<String, Object> params = new LinkedHashMap<>(trial.params());
        params.put(Result.ROUND, round);
        return new Result(trial.id(), side, params, metric, unit, value);
    }
}
