// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The results of a run, and where they were measured.
 *
 * @param environment the machine and its software, in the order in which they are displayed
 * @param results the figures
 */
public record Results(Map<String, String> environment, List<Result> results) {
    /** Copies the parameters. */
    public Results {
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        results = List.copyOf(results);
    }

    /**
     * {@return these and those of another part of the run; where the parts differ, as in their dates, both are named}
     *
     * @param other the other part
     */
    public Results with(Results other) {
        Map<String, String> places = new LinkedHashMap<>(environment);
        other.environment.forEach((name, place) -> places.merge(name, place, Results::both));
        List<Result> all = new ArrayList<>(results);
        all.addAll(other.results);
        return new Results(places, all);
    }

    private static String both(String first, String second) {
        return List.of(first.split("; ")).contains(second) ? first : first + "; " + second;
    }

    /**
     * Returns the median of a figure over its repetitions.
     *
     * @param name the name of the measurement
     * @param metric the metric
     * @param side the side that was measured
     * @param params the parameters that it must have; all others may have any value
     * @return the median; empty if it was not measured
     */
    public OptionalDouble median(String name, String metric, Side side, Map<String, ?> params) {
        return median(results.stream()
                .filter(result -> result.name().equals(name) && result.metric().equals(metric)
                        && result.side() == side && result.has(params))
                .mapToDouble(Result::value).toArray());
    }

    static OptionalDouble median(double[] values) {
        if (values.length == 0) {
            return OptionalDouble.empty();
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return OptionalDouble.of(sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2);
    }
}
