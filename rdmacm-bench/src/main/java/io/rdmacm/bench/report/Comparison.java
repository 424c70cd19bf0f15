// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One figure, for all sides that have measured it.
 *
 * @param name the name of the measurement
 * @param metric the metric
 * @param unit its unit
 * @param params the parameters of the measurement
 * @param medians the median of the repetitions of each side
 */
record Comparison(String name, String metric, String unit, Map<String, Object> params, Map<Side, Double> medians) {
    private static final String ALL_ROUNDS = "all_p";

    /** The properties that comparable figures share. */
    private record Key(String name, String metric, String unit, Map<String, Object> params) {
    }

    /** {@return all comparisons in the order of measurement, without the percentiles} */
    static List<Comparison> of(Results results) {
        Set<Key> keys = results.results().stream().filter(result -> !result.metric().startsWith(ALL_ROUNDS))
                .map(result -> new Key(result.name(), result.metric(), result.unit(), result.configuration()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
        List<Comparison> comparisons = new ArrayList<>();
        for (Key key : keys) {
            Map<Side, Double> medians = new EnumMap<>(Side.class);
            for (Side side : Side.values()) {
                results.median(key.name(), key.metric(), side, key.params())
                        .ifPresent(median -> medians.put(side, median));
            }
            comparisons.add(new Comparison(key.name(), key.metric(), key.unit(), key.params(), medians));
        }
        return comparisons;
    }

    /** {@return the cells of a table row: name, parameters, a figure for each side, and Java / C} */
    List<String> cells() {
        List<String> cells = new ArrayList<>();
        cells.add(title());
        cells.add(params.entrySet().stream().map(one -> one.getKey() + " " + one.getValue())
                .collect(Collectors.joining(", ")));
        for (Side side : Side.values()) {
            cells.add(medians.containsKey(side) ? figure(medians.get(side)) : "");
        }
        cells.add(medians.containsKey(Side.JAVA) && medians.containsKey(Side.C) && medians.get(Side.C) != 0
                ? String.format(Locale.ROOT, "%.3f", medians.get(Side.JAVA) / medians.get(Side.C)) : "");
        return cells;
    }

    /** {@return the headings of these cells} */
    static List<String> heads() {
        List<String> heads = new ArrayList<>(List.of("figure", "with"));
        for (Side side : Side.values()) {
            heads.add(side.label());
        }
        heads.add("Java / C");
        return heads;
    }

    private String title() {
        return name.replace('_', ' ') + ", " + metric + ", " + unit;
    }

    private static String figure(double value) {
        return value >= 1000 ? String.format(Locale.ROOT, "%.0f", value) : String.format(Locale.ROOT, "%.4g", value);
    }
}
