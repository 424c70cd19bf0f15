// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/** Creates the plots of the results. */
final class Plots {
    private static final String SIZE = "size";
    private static final String DEPTH = "depth";
    private static final String BY = "by";
    private static final String PERCENTILE = "all_p";
    private static final long TYPICAL_SIZE = 64;
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
        for (String name : plots.names("_latency")) {
            plots.latency(name);
        }
        for (String name : plots.names("_bandwidth")) {
            plots.bandwidth(name);
        }
        plots.connections("connection_round_trip", Summary.MEDIAN, "Round trip", "µs");
        plots.connections("connection_stream", Summary.BANDWIDTH, "Stream of messages", "MiB/s");
        plots.connections("connection_reads", Summary.BANDWIDTH, "Reads", "MiB/s");
        plots.ways(Plot.Section.STREAMS, Summary.STREAM_ROUND_TRIP, Summary.TIME, "Round trip of a stream", "µs");
        plots.ways(Plot.Section.STREAMS, Summary.STREAM_TRANSFER, Summary.BANDWIDTH, "Transfers over a stream",
                "MiB/s");
        plots.connections(Summary.CONNECTION_SET_UP, Summary.RATE, "Connections set up in a second", "/s");
        plots.setUp();
        return plots.plots.stream().sorted(Comparator.comparing(Plot::section)).toList();
    }

    private Set<String> names(String end) {
        return results.results().stream().map(Result::name).filter(name -> name.endsWith(end))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Returns the different combinations of the other parameters. */
    private Set<Map<String, Object>> families(String name, String metric, String... apart) {
        return results.results().stream()
                .filter(result -> result.name().equals(name) && result.metric().equals(metric))
                .map(result -> without(result.params(), apart))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static Map<String, Object> without(Map<String, Object> params, String... apart) {
        Map<String, Object> rest = new LinkedHashMap<>(params);
        rest.keySet().removeAll(COUNTS);
        rest.keySet().removeAll(List.of(apart));
        return rest;
    }

    private List<Long> values(String name, String metric, Map<String, Object> family, String parameter) {
        return results.results().stream().filter(result -> result.name().equals(name)
                && result.metric().equals(metric) && result.has(family))
                .map(result -> (Long) result.params().get(parameter)).filter(Objects::nonNull).distinct().sorted()
                .toList();
    }

    private List<Svg.Series> series(String name, String metric, Map<String, Object> family, String parameter) {
        List<Svg.Series> series = new ArrayList<>();
        for (Side side : Side.values()) {
            List<double[]> points = new ArrayList<>();
            for (long x : values(name, metric, family, parameter)) {
                Map<String, Object> at = new LinkedHashMap<>(family);
                at.put(parameter, x);
                results.median(name, metric, side, at).ifPresent(y -> points.add(new double[] {x, y}));
            }
            if (!points.isEmpty()) {
                series.add(new Svg.Series(side, points));
            }
        }
        return series;
    }

    private static double[] range(Collection<Svg.Series> series, int coordinate) {
        return series.stream().flatMap(one -> one.points().stream()).mapToDouble(point -> point[coordinate]).sorted()
                .toArray();
    }

    private static double last(double[] values) {
        return values[values.length - 1];
    }

    private void curves(Plot.Section section, String title, String yLabel, List<Svg.Series> series, String xLabel) {
        double[] xs = range(series, 0);
        double[] ys = range(series, 1);
        // one point is not a curve
        if (xs.length == 0 || xs[0] == last(xs)) {
            return;
        }
        add(section, title, Svg.lines(title, Axis.sizes(xLabel, xs[0], last(xs)),
                Axis.logarithmic(yLabel, ys[0], last(ys)), series));
    }

    private void add(Plot.Section section, String title, String svg) {
        String id = title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
        plots.add(new Plot(section, id, title, svg));
    }

    private void latency(String name) {
        String operation = name.substring(0, name.indexOf('_'));
        Set<Object> seen = new LinkedHashSet<>();
        for (Map<String, Object> family : families(name, Summary.MEDIAN, SIZE)) {
            String title = "Latency of " + operation + ", " + mode(family);
            curves(Plot.Section.LATENCY, title, "median, µs", series(name, Summary.MEDIAN, family, SIZE),
                    "bytes");
            if (seen.add(family.get("transport"))) {
                percentiles(name, operation, family);
            }
        }
    }

    private void percentiles(String name, String operation, Map<String, Object> family) {
        List<Long> sizes = values(name, Summary.MEDIAN, family, SIZE);
        long size = sizes.stream().min(Comparator.comparing(value -> Math.abs(value - TYPICAL_SIZE))).orElseThrow();
        Map<String, Object> at = new LinkedHashMap<>(family);
        at.put(SIZE, size);
        List<Svg.Series> series = new ArrayList<>();
        for (Side side : Side.values()) {
            Map<Double, Double> points = results.results().stream()
                    .filter(result -> result.name().equals(name) && result.side() == side
                            && result.metric().startsWith(PERCENTILE) && result.has(at))
                    .collect(Collectors.toMap(
                            result -> Axis.nines(Double.parseDouble(result.metric().substring(PERCENTILE.length()))),
                            Result::value, (a, b) -> a));
            if (!points.isEmpty()) {
                series.add(new Svg.Series(side, points.entrySet().stream().sorted(Map.Entry.comparingByKey())
                        .map(point -> new double[] {point.getKey(), point.getValue()}).toList()));
            }
        }
        double[] ys = range(series, 1);
        if (ys.length > 0) {
            String title = "Percentiles of " + operation + ", " + size + " B, " + mode(family);
            add(Plot.Section.PERCENTILES, title, Svg.lines(title, Axis.percentiles("percentile"),
                    Axis.logarithmic("µs", Math.max(ys[0], 0.01), last(ys)), series));
        }
    }

    private void bandwidth(String name) {
        String operation = name.substring(0, name.indexOf('_'));
        for (Map<String, Object> family : families(name, Summary.BANDWIDTH, SIZE)) {
            curves(Plot.Section.BANDWIDTH, "Bandwidth of " + operation + ", " + mode(family), "MiB/s",
                    series(name, Summary.BANDWIDTH, family, SIZE), "bytes");
        }
        for (Map<String, Object> family : families(name, Summary.RATE, DEPTH)) {
            Object size = family.get(SIZE);
            curves(Plot.Section.BANDWIDTH, "Rate of " + operation + " of " + Axis.size(((Long) size).doubleValue())
                    + "B by depth, " + mode(family), "messages/s", series(name, Summary.RATE, family, DEPTH),
                    "outstanding operations");
        }
    }

    private static String mode(Map<String, Object> family) {
        String mode = family.get("transport") + " " + family.get("polling");
        return family.containsKey(DEPTH) && !family.get(DEPTH).equals(1L) ? mode + ", depth " + family.get(DEPTH)
                : mode;
    }

    private void overhead() {
        for (Map<String, Object> family : families(Summary.POST_POLL, Summary.TIME, "batch")) {
            String how = family.entrySet().stream().map(one -> one.getValue() instanceof Boolean truth
                    ? truth ? one.getKey() : "" : one.getKey() + " " + one.getValue())
                    .filter(word -> !word.isEmpty()).collect(Collectors.joining(", "));
            List<Svg.Group> groups = new ArrayList<>();
            for (long batch : values(Summary.POST_POLL, Summary.TIME, family, "batch")) {
                Map<String, Object> at = new LinkedHashMap<>(family);
                at.put("batch", batch);
                groups.add(group("batch of " + batch, Summary.POST_POLL, Summary.TIME, at));
            }
            String title = "Post and poll: " + how;
            add(Plot.Section.OVERHEAD, title, Svg.bars(title, "ns", groups));
        }
    }

    private void connections(String name, String metric, String what, String unit) {
        ways(Plot.Section.CONNECTIONS, name, metric, what, unit);
    }

    /** Draws a group of bars for each way to do the same, a plot for each combination of the other parameters. */
    private void ways(Plot.Section section, String name, String metric, String what, String unit) {
        for (Map<String, Object> family : families(name, metric, BY)) {
            String how = family.entrySet().stream().map(one -> switch (one.getKey()) {
                case "polling" -> (String) one.getValue();
                case SIZE -> Axis.size(((Long) one.getValue()).doubleValue()) + "B";
                default -> one.getKey() + " " + one.getValue();
            }).collect(Collectors.joining(", "));
            List<Svg.Group> groups = families(name, metric).stream().filter(way -> without(way, BY).equals(family))
                    .map(way -> group((String) way.get(BY), name, metric, way)).toList();
            String title = what + ": " + how;
            add(section, title, Svg.bars(title, unit, groups));
        }
    }

    private Svg.Group group(String label, String name, String metric, Map<String, Object> at) {
        List<Svg.Bar> bars = new ArrayList<>();
        for (Side side : List.of(Side.C, Side.JAVA, Side.DISNI, Side.JNI, Side.NAIVE)) {
            OptionalDouble value = results.median(name, metric, side, at);
            value.ifPresent(time -> bars.add(new Svg.Bar(side, time)));
        }
        return new Svg.Group(label, bars);
    }

    private void setUp() {
        List<Svg.Group> stages = families("connect_stage", Summary.TIME).stream()
                .map(stage -> group((String) stage.get("stage"), "connect_stage", Summary.TIME, stage)).toList();
        if (!stages.isEmpty()) {
            String title = "Connection set-up by stage";
            add(Plot.Section.SET_UP, title, Svg.bars(title, "µs", stages));
        }
        for (String name : List.of("registration", "deregistration")) {
            curves(Plot.Section.SET_UP, "Cost of " + name, "median, µs", series(name, Summary.TIME, Map.of(), SIZE),
                    "bytes");
        }
    }
}
