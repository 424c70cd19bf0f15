// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page {@value #NAME}, with its plots in a folder beside it. Its text stands in the documentation only, which the
 * build packs with this class: a new page is the old one with new tables and plots.
 */
final class Page {
    private static final String NAME = "performance.md";
    private static final String PLOTS = "performance";
    private static final Pattern GENERATED = Pattern.compile("(?m)(^(\\||!\\[).*\\n?)+");

    private Page() {
    }

    /**
     * Writes the page and the plots, and deletes plots of an earlier run.
     *
     * @param docs the folder of the documentation
     * @param results the results
     */
    static void write(Path docs, Results results) throws IOException {
        Path folder = Files.createDirectories(docs.resolve(PLOTS));
        try (var files = Files.list(folder)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".svg")).toList()) {
                Files.delete(file);
            }
        }
        for (Plot plot : Plot.of(results)) {
            Files.writeString(folder.resolve(plot.file()), plot.svg());
        }
        Files.writeString(docs.resolve(NAME), of(results));
    }

    static String of(Results results) throws IOException {
        // in the order in which they stand on the page
        Iterator<String> parts = List.of(summary(results), environment(results), streams(results), plots(results))
                .iterator();
        try (InputStream in = Page.class.getResourceAsStream(NAME)) {
            String old = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return GENERATED.matcher(old).replaceAll(part -> Matcher.quoteReplacement(parts.next() + "\n"));
        }
    }

    private static String plots(Results results) {
        return Plot.of(results).stream().map(plot -> "![" + plot.title() + "](" + PLOTS + "/" + plot.file() + ")")
                .collect(Collectors.joining("\n"));
    }

    private static String environment(Results results) {
        return table("| | |\n|---|---|",
                results.environment().entrySet().stream().map(one -> List.of(one.getKey(), one.getValue())));
    }

    private static String summary(Results results) {
        return table("| figure | measured | goal | |\n|---|---:|---:|---|", Summary.goals().stream().map(goal -> {
            Double ratio = goal.figure().apply(results);
            return List.of(goal.name(), ratio == null ? "not run" : figure("%.3f", ratio),
                    goal.text() + (goal.isMet(results, 1) ? "" : ", **missed**"), goal.meaning());
        }));
    }

    /** The streams of bytes: a row for each way, a column for each figure. */
    private static String streams(Results results) {
        Stream<String> ways = results.results().stream()
                .filter(result -> result.name().equals(Summary.STREAM_ROUND_TRIP)
                        || result.name().equals(Summary.STREAM_TRANSFER))
                .map(result -> (String) result.params().get("by")).distinct();
        return table("| | round trip of 64 B, µs | allocated, B | 64 KiB, MiB/s | 1 MiB, MiB/s |\n"
                + "|---|---:|---:|---:|---:|", Stream.concat(
                        Stream.of(streams(results, "`rstream` (C)", Side.C, "engine")),
                        ways.map(way -> streams(results, way, Side.JAVA, way))));
    }

    private static List<String> streams(Results results, String name, Side side, String by) {
        return List.of(name,
                figure("%.1f", results.median(Summary.STREAM_ROUND_TRIP, Summary.TIME, side, at(by, 64))),
                figure("%.0f", results.median(Summary.STREAM_ROUND_TRIP, Summary.ALLOCATED, side, at(by, 64))),
                figure("%.0f", results.median(Summary.STREAM_TRANSFER, Summary.BANDWIDTH, side, at(by, 1 << 16))),
                figure("%.0f", results.median(Summary.STREAM_TRANSFER, Summary.BANDWIDTH, side, at(by, 1 << 20))));
    }

    private static Map<String, Object> at(String by, int size) {
        return Map.of("by", by, "size", size);
    }

    private static String figure(String format, Double value) {
        return value == null ? "" : String.format(Locale.ROOT, format, value);
    }

    private static String table(String head, Stream<List<String>> rows) {
        return head + rows.map(cells -> cells.stream().map(cell -> cell.replace("|", "\\|"))
                .collect(Collectors.joining(" | ", "\n| ", " |"))).collect(Collectors.joining());
    }
}
