// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Creates the plots of the results: bars, of what a reader compares. The tables have all figures. */
final class Plots {
    private static final String SIZE = "size";
    private static final String BY = "by";
    private static final long SMALL = 64;
    private static final long LARGE = 1 << 16;
    private static final Set<String> COUNTS = Set.of("iterations", Result.ROUND);

    private final Results results;
    private final List<Plot> plots = new ArrayList<>();

    private Plots(Results results) {
        this.results = results;
    }

    /** {@return all plots, section by section} */
    static List<Plot> of(Results results) {
        Plots plots = new Plots(results);
        plots.overhead();
        plots.operations(Plot.Section.LATENCY, "_latency", Summary.MEDIAN, "Latency", "µs", SMALL);
        plots.operations(Plot.Section.BANDWIDTH, "_bandwidth", Summary.BANDWIDTH, "Bandwidth", "MiB/s", LARGE);
        plots.ways(Plot.Section.CONNECTIONS, "connection_round_trip", Summary.MEDIAN, "Round trip", "µs");
        plots.ways(Plot.Section.STREAMS, Summary.STREAM_ROUND_TRIP, Summary.TIME, "Round trip of a stream", "µs");
        plots.ways(Plot.Section.STREAMS, Summary.STREAM_TRANSFER, Summary.BANDWIDTH, "Transfers over a stream",
                "MiB/s");
        plots.add(Plot.Section.SET_UP, "Connection set-up by stage", "µs",
                plots.families("connect_stage", Summary.TIME).map(stage -> plots.group((String) stage.get("stage"),
                        "connect_stage", Summary.TIME, stage)).toList());
        return plots.plots;
    }

    /** Returns the different combinations of the other parameters. */
    private Stream<Map<String, Object>> families(String name, String metric, String... apart) {
        return results.results().stream()
                .filter(result -> result.name().equals(name) && result.metric().equals(metric))
                .map(result -> without(result.params(), apart)).distinct();
    }

    private static Map<String, Object> without(Map<String, Object> params, String... apart) {
        Map<String, Object> rest = new LinkedHashMap<>(params);
        rest.keySet().removeAll(COUNTS);
        rest.keySet().removeAll(List.of(apart));
        return rest;
    }

    private void add(Plot.Section section, String title, String unit, List<Svg.Group> groups) {
        if (!groups.isEmpty()) {
            String id = title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
            plots.add(new Plot(section, id, title, Svg.bars(title, unit, groups)));
        }
    }

    /** A plot for the classic calls and one for the extended ones, with one entry that is not inline. */
    private void overhead() {
        families(Summary.POST_POLL, Summary.TIME, "batch").filter(family -> family.get("sges").equals(1L)
                && family.get("inline").equals(false)).forEach(family ->
                add(Plot.Section.OVERHEAD, "Post and poll: calls " + family.get("calls") + ", sges 1", "ns",
                        families(Summary.POST_POLL, Summary.TIME).filter(one -> without(one, "batch").equals(family))
                                .map(at -> group("batch of " + at.get("batch"), Summary.POST_POLL, Summary.TIME, at))
                                .toList()));
    }

    /** A plot of all operations, each with the size that is nearest to one that is typical. */
    private void operations(Plot.Section section, String end, String metric, String what, String unit, long typical) {
        Set<String> names = results.results().stream().map(Result::name).filter(name -> name.endsWith(end))
                .collect(Collectors.toCollection(LinkedHashSet::new));
        List<Svg.Group> groups = names.stream().flatMap(name -> families(name, metric, SIZE).map(family -> {
            Map<String, Object> at = families(name, metric).filter(one -> without(one, SIZE).equals(family))
                    .min(Comparator.comparingLong(one -> Math.abs((long) one.get(SIZE) - typical))).orElseThrow();
            return group(name.substring(0, name.indexOf('_')) + ", " + at.values().stream().map(Object::toString)
                    .collect(Collectors.joining(" ")), name, metric, at);
        })).toList();
        add(section, what, unit, groups);
    }

    /** A plot for each combination of the other parameters, with a group of bars for each way to do the same. */
    private void ways(Plot.Section section, String name, String metric, String what, String unit) {
        families(name, metric, BY).forEach(family -> {
            String how = family.entrySet().stream().map(one -> switch (one.getKey()) {
                case "polling" -> (String) one.getValue();
                case SIZE -> size((long) one.getValue()) + "B";
                default -> one.getKey() + " " + one.getValue();
            }).collect(Collectors.joining(", "));
            add(section, what + ": " + how, unit, families(name, metric).filter(way -> without(way, BY).equals(family))
                    .map(way -> group((String) way.get(BY), name, metric, way)).toList());
        });
    }

    private static String size(long bytes) {
        return bytes < 1 << 10 ? Long.toString(bytes) : bytes < 1 << 20 ? (bytes >> 10) + "K" : (bytes >> 20) + "M";
    }

    private Svg.Group group(String label, String name, String metric, Map<String, Object> at) {
        List<Svg.Bar> bars = new ArrayList<>();
        for (Side side : List.of(Side.C, Side.JAVA, Side.DISNI, Side.JNI, Side.NAIVE)) {
            results.median(name, metric, side, at).ifPresent(value -> bars.add(new Svg.Bar(side, value)));
        }
        return new Svg.Group(label, bars);
    }
}
