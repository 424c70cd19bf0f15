// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;

/**
 * What Java measures in one way.
 *
 * @param name the name of its results
 * @param params the parameters of its results
 * @param opener opens its ends
 * @param load what is measured
 * @param warmUp what precedes the first measurement of its kind, as the code has to be warm; 0 operations for nothing
 * @param besideC whether the figure of C stands beside this one
 */
record Trial(String name, Map<String, Object> params, End.Opener opener, End.Load load, End.Load warmUp,
        boolean besideC) {
    // this part of the operations precedes those that count, each time
    private static final int PART = 10;

    /** What measures the same in C. */
    @FunctionalInterface
    interface Reference {
        Outcome run() throws IOException, InterruptedException;
    }

    /**
     * Trials that are measured in turns, with the same in C.
     *
     * @param c null if nothing in C is compared
     * @param trials the trials
     * @param rounds how often
     */
    record Group(Reference c, List<Trial> trials, int rounds) {
        /** {@return whether a name of a trial contains a text} */
        boolean has(String text) {
            return trials.stream().anyMatch(trial -> trial.toString().contains(text));
        }
    }

    static Trial of(String name, Map<String, Object> params, End.Opener opener, int size, int iterations,
            End.Load warmUp) {
        return new Trial(name, params, opener, new End.Load(size, Math.max(1, iterations / PART), iterations), warmUp,
                true);
    }

    /** {@return what trials have in common that need to be warmed up only once} */
    String kind() {
        return params.entrySet().stream()
                .filter(one -> !List.of("size", "depth", "iterations").contains(one.getKey()))
                .map(one -> one.getValue().toString()).collect(Collectors.joining(" ", name + " ", ""));
    }

    @Override
    public String toString() {
        return name.replace('_', ' ') + params.entrySet().stream()
                .map(one -> ", " + one.getKey().replace('_', ' ') + " " + one.getValue()).collect(Collectors.joining());
    }
}
