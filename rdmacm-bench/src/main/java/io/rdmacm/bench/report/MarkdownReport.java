// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Writes {@code docs/performance.md}, with its plots in a folder beside it. */
final class MarkdownReport {
    private static final String PAGE = "performance.md";
    private static final String PLOTS = "performance";

    private MarkdownReport() {
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
        List<Plot> plots = Plots.of(results);
        for (Plot plot : plots) {
            Files.writeString(folder.resolve(plot.id() + ".svg"), plot.svg());
        }
        Files.writeString(docs.resolve(PAGE), page(results, plots));
    }

    static String page(Results results, List<Plot> plots) throws IOException {
        return template().replace("${environment}", environment(results)).replace("${summary}", summary(results))
                .replace("${streams}", StreamTable.of(results)).replace("${plots}", images(plots));
    }

    /** {@return what stands on the page whatever was measured} */
    static String template() throws IOException {
        try (InputStream in = MarkdownReport.class.getResourceAsStream(PAGE)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String environment(Results results) {
        return "| | |\n|---|---|\n" + results.environment().entrySet().stream()
                .map(one -> row(List.of(one.getKey(), one.getValue()))).collect(Collectors.joining());
    }

    private static String summary(Results results) {
        Map<String, Double> summary = Summary.of(results);
        return "| figure | measured | goal | |\n|---|---:|---:|---|\n" + Goal.of(summary).stream()
                .map(goal -> row(List.of(goal.name(), goal.value(summary), wanted(goal, summary), goal.meaning())))
                .collect(Collectors.joining());
    }

    private static String wanted(Goal goal, Map<String, Double> summary) {
        return goal.text().isEmpty() || goal.isMet(summary) ? goal.text() : goal.text() + ", **missed**";
    }

    private static String images(List<Plot> plots) {
        StringBuilder text = new StringBuilder();
        for (Plot.Section section : Plot.Section.values()) {
            List<Plot> own = plots.stream().filter(plot -> plot.section() == section).toList();
            if (!own.isEmpty()) {
                text.append("### ").append(section.heading()).append("\n\n");
                own.forEach(plot -> text.append("![").append(plot.title()).append("](").append(PLOTS).append('/')
                        .append(plot.id()).append(".svg)\n"));
                text.append('\n');
            }
        }
        return text.toString().strip();
    }

    /**
     * {@return a table of all figures that a reader may compare, which is too long for the page}
     *
     * <p>Only what was measured on at least two sides, and no rates, which follow from the bandwidths; of connections
     * and streams everything, with what has no counterpart in C.
     */
    static String figures(Results results) {
        Set<String> once = Set.of("connect_stage");
        String heads = row(Comparison.heads()) + "|---|---|" + "---:|".repeat(Comparison.heads().size() - 2) + "\n";
        return heads + Comparison.of(results).stream()
                .filter(one -> (one.medians().size() > 1 || one.name().contains("connection")
                        || one.name().startsWith("stream_"))
                        && !once.contains(one.name())
                        && !(one.name().endsWith("_bandwidth") && one.metric().equals(Summary.RATE)))
                .map(one -> row(one.cells())).collect(Collectors.joining());
    }

    /** {@return a row of a table} */
    static String row(List<String> cells) {
        return cells.stream().map(cell -> cell.replace("|", "\\|")).collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
