// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Results;
import io.rdmacm.bench.report.Side;

/**
 * Measures all sides in turn; each round begins with another one, so that other activity of the machine affects all
 * alike.
 */
final class Rounds {
    private final List<Result> results = new ArrayList<>();

    /** Takes part in a round. */
    @FunctionalInterface
    private interface Turn {
        void take(int round) throws IOException, InterruptedException;
    }

    /** {@return all results so far} */
    List<Result> results() {
        return results;
    }

    /** Measures a group. What fails is left out, and said. */
    void run(Trial.Group group, JavaSide java) throws InterruptedException {
        List<Turn> turns = new ArrayList<>();
        if (group.c() != null) {
            turns.add(round -> {
                Outcome outcome = group.c().run();
                group.trials().stream().filter(Trial::besideC)
                        .forEach(trial -> add(trial, Side.C, round, outcome));
            });
        }
        group.trials().forEach(trial -> turns.add(round -> add(trial, Side.JAVA, round, java.run(trial))));
        for (int round = 0; round < group.rounds(); round++) {
            for (Turn turn : turns) {
                try {
                    turn.take(round);
                } catch (IOException e) {
                    say("not measured: %s: %s", group.trials().getFirst(), e.getMessage());
                }
            }
            Collections.rotate(turns, 1);
        }
        group.trials().forEach(this::sayMedians);
    }

    private void add(Trial trial, Side side, int round, Outcome outcome) {
        for (Outcome.Figure figure : outcome.figures()) {
            Map<String, Object> params = new LinkedHashMap<>(figure.params());
            params.putAll(trial.params());
            params.put(Result.ROUND, round);
            results.add(new Result(figure.name().isEmpty() ? trial.name() : figure.name(), side, params,
                    figure.metric(), figure.unit(), figure.value()));
        }
    }

    private void sayMedians(Trial trial) {
        say("%s: %s", trial, results.stream()
                .filter(result -> result.name().equals(trial.name()) && result.has(trial.params()))
                .collect(Collectors.groupingBy(
                        result -> result.side().label() + " " + result.metric() + " in " + result.unit(),
                        LinkedHashMap::new, Results.median())));
    }

    /** Prints a line of progress. */
    static void say(String format, Object... values) {
        System.err.println("bench: " + String.format(Locale.ROOT, format, values));
    }
}
