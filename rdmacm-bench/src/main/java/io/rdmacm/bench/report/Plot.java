// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Groups of bars, one below the other: what a reader compares. Drawn as SVG small enough for a phone, with colours for
 * light and for dark, and a background, because a page need not be dark where the reader's system is.
 *
 * <p>By hand, because libraries of Java measure text with AWT: they fail where there are no fonts, as beside a headless
 * JDK, and what they write is at least five times as long, and only light.
 *
 * @param title the title
 * @param unit the unit of all bars
 * @param groups the medians of the sides by the label of their group
 */
record Plot(String title, String unit, Map<String, Map<Side, Double>> groups) {
    private static final int WIDTH = 420;
    private static final int TOP = 48;
    private static final int BAR = 20;
    private static final int LEFT = 12;
    private static final String STYLE = "<style>text{font:12px system-ui,sans-serif;fill:#212529}"
            + ".title{font-size:14px;font-weight:600}.java{fill:#c92a2a}.c{fill:#1c7ed6}"
            + ".direct{fill:#2b8a3e}.back{fill:#fff}"
            + "@media(prefers-color-scheme:dark){text{fill:#e9ecef}.java{fill:#ff8787}.c{fill:#74c0fc}"
            + ".direct{fill:#8ce99a}.back{fill:#212529}}</style>\n";

    /** {@return the plots of what was measured} */
    static List<Plot> of(Results results) {
        return Stream.of(
                postAndPoll(results, "classic"), postAndPoll(results, "extended"),
                of(results, "Latency of operations of 64 B, atomics of 8 B", "µs",
                        one -> one.name().endsWith("_latency") && one.metric().equals(Summary.MEDIAN)
                                && (one.name().startsWith("atomic") || one.has(Map.of("size", 64))),
                        one -> operation(one) + ", " + one.params().get("polling")),
                of(results, "Bandwidth of operations of 64 KiB", "MiB/s",
                        one -> one.name().endsWith("_bandwidth") && is(one, Summary.BANDWIDTH, Map.of("size", 1 << 16)),
                        Plot::operation),
                of(results, "Round trip of 64 B over a connection", "µs",
                        one -> one.name().equals(Summary.ROUND_TRIP) && is(one, Summary.MEDIAN, Map.of("size", 64)),
                        one -> one.params().get("polling") + ", by " + one.params().get("by")),
                of(results, "Round trip of 64 B over a stream", "µs",
                        one -> one.name().equals(Summary.STREAM_ROUND_TRIP) && is(one, Summary.TIME, Map.of()),
                        one -> (String) one.params().get("by")),
                of(results, "Transfers over a stream", "MiB/s",
                        one -> one.name().equals(Summary.STREAM_TRANSFER) && is(one, Summary.BANDWIDTH, Map.of()),
                        one -> ((long) one.params().get("size") >> 10) + " KiB, by " + one.params().get("by")),
                of(results, "Setting up a connection, stage by stage", "µs",
                        one -> one.name().equals(Summary.CONNECT_STAGE), one -> (String) one.params().get("stage")))
                .filter(plot -> !plot.groups.isEmpty()).toList();
    }

    private static Plot postAndPoll(Results results, String calls) {
        return of(results, "Post and poll with " + calls + " calls", "ns",
                one -> one.name().equals(Summary.POST_POLL)
                        && is(one, Summary.TIME, Map.of("calls", calls, "sges", 1, "inline", false)),
                one -> one.params().get("batch") + " at a time");
    }

    private static boolean is(Result one, String metric, Map<String, ?> params) {
        return one.metric().equals(metric) && one.has(params);
    }

    private static String operation(Result one) {
        return one.name().substring(0, one.name().indexOf('_'));
    }

    private static Plot of(Results results, String title, String unit, Predicate<Result> which,
            Function<Result, String> label) {
        return new Plot(title, unit, results.results().stream().filter(which).collect(Collectors.groupingBy(label,
                LinkedHashMap::new, Collectors.groupingBy(Result::side, () -> new EnumMap<>(Side.class),
                        Results.median()))));
    }

    /** {@return the name of its file} */
    String file() {
        return title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-") + ".svg";
    }

    String svg() {
        List<Double> all = groups.values().stream().flatMap(bars -> bars.values().stream()).toList();
        double largest = all.stream().max(Double::compare).orElse(1.0);
        StringBuilder svg = new StringBuilder();
        add(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\" viewBox=\"0 0 %1$d %2$d\""
                        + " role=\"img\" aria-label=\"%3$s\">",
                WIDTH, TOP + all.size() * BAR + groups.size() * (BAR + 4) + LEFT, escape(title));
        svg.append(STYLE).append("<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n");
        text(svg, LEFT, 16, "title", title);
        double x = LEFT;
        for (Side side : groups.values().stream().flatMap(bars -> bars.keySet().stream()).distinct().sorted()
                .toList()) {
            add(svg, "<rect class=\"%s\" x=\"%.0f\" y=\"26\" width=\"10\" height=\"10\"/>", Result.word(side), x);
            text(svg, x + 14, 35, "legend", side.label());
            x += 30 + 7 * side.label().length();
        }
        double y = TOP;
        for (Map.Entry<String, Map<Side, Double>> group : groups.entrySet()) {
            text(svg, LEFT, y + 14, "group", group.getKey());
            y += BAR;
            for (Map.Entry<Side, Double> bar : group.getValue().entrySet()) {
                double length = Math.max(1, (WIDTH - 120) * bar.getValue() / largest);
                add(svg, "<rect class=\"%s\" x=\"12\" y=\"%.1f\" width=\"%.1f\" height=\"16\" rx=\"2\"/>",
                        Result.word(bar.getKey()), y, length);
                text(svg, 18 + length, y + 13, "value", String.format(Locale.ROOT,
                        bar.getValue() >= 100 ? "%.0f %s" : "%.3g %s", bar.getValue(), unit));
                y += BAR;
            }
            y += 4;
        }
        return svg.append("</svg>\n").toString();
    }

    private static void text(StringBuilder svg, double x, double y, String kind, String words) {
        add(svg, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>", kind, x, y, escape(words));
    }

    private static void add(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    static String escape(String words) {
        return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
