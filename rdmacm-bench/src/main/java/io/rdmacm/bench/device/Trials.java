// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.bench.report.Side;

/** Measures messages over connections, over queue pairs, over TCP and over other libraries, beside perftest. */
final class Trials {
    private final JavaBench java;
    private final JavaBench jucx;
    private final Bench c;
    private final Collector collector;

    private Trials(JavaBench java, JavaBench jucx, Bench c, Collector collector) {
        this.java = java;
        this.jucx = jucx;
        this.c = c;
        this.collector = collector;
    }

    /** Takes part in a round. */
    @FunctionalInterface
    private interface Turn {
        void take(int round) throws IOException, InterruptedException;
    }

    /** {@return the trials that have the same reference, together} */
    static Collection<List<Trial>> groups(List<Trial> trials) {
        Map<Measurement, List<Trial>> groups = new LinkedHashMap<>();
        trials.forEach(trial -> groups.computeIfAbsent(trial.reference(), same -> new ArrayList<>()).add(trial));
        return groups.values();
    }

    /**
     * Measures trials and their reference in turn; each round begins with another one.
     *
     * @param trials with the same reference
     * @param java the processes of this library
     * @param jucx those of {@link Jucx}
     * @param c perftest
     * @param rounds how often
     * @param collector gets the results
     */
    static void run(List<Trial> trials, JavaBench java, JavaBench jucx, Bench c, int rounds, Collector collector)
            throws InterruptedException {
        Trials group = new Trials(java, jucx, c, collector);
        List<Turn> turns = new ArrayList<>();
        turns.add(round -> group.reference(trials, round));
        trials.forEach(trial -> turns.add(round -> group.java(trial, round)));
        for (int round = 0; round < rounds; round++) {
            for (Turn turn : turns) {
                try {
                    turn.take(round);
                } catch (IOException e) {
                    DeviceBenchmark.say("not measured: %s: %s", trials.getFirst().reference(), e.getMessage());
                }
            }
            Collections.rotate(turns, 1);
        }
        trials.forEach(trial -> DeviceBenchmark.say("%s: %s", trial, collector.text(trial)));
    }

    /** Measures perftest: a reference for all of them but TCP, which has nothing to do with it. */
    private void reference(List<Trial> trials, int round) throws IOException, InterruptedException {
        Outcome outcome = c.run(trials.getFirst().reference());
        for (Trial trial : trials) {
            if (trial.way() != Trial.Way.TCP) {
                collector.add(trial, Side.C, round, outcome, trial.pattern().parts());
            }
        }
    }

    private void java(Trial trial, int round) throws IOException, InterruptedException {
        if (trial.way() == Trial.Way.QUEUE_PAIR) {
            collector.add(trial, Side.JAVA, round, java.run(trial.reference()), trial.pattern().parts());
        } else {
            JavaBench bench = trial.way() == Trial.Way.JUCX ? jucx : java;
            collector.add(trial, Side.JAVA, round,
                    bench.run(trial, bytes -> collector.addAllocated(trial, round, bytes)), 1);
        }
    }
}
