// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

class ReportTest {
    @TempDir
    private Path folder;

    private final List<Result> results = new ArrayList<>();

    private void add(String name, Side side, String metric, double value, Object... params) {
        results.add(new Result(name, side, Result.params(params), metric, "unit", value));
    }

    /** A bit of everything. */
    private Results some() {
        for (Side side : List.of(Side.JAVA, Side.C)) {
            double slower = side == Side.JAVA ? 1.02 : 1;
            for (int size = 4; size <= 1 << 20; size *= 4) {
                add("send_latency", side, "p50", slower * (10 + size / 1000.0), "transport", "RC", "polling", "yield",
                        "size", size, "depth", 1, "iterations", 100, "round", 0);
                add("write_bandwidth", side, "bandwidth", size / 7.0 / slower, "transport", "RC", "polling", "busy",
                        "size", size, "depth", 128, "iterations", 100, "round", 0);
            }
            for (String by : List.of("receive", "handler")) {
                add("connection_round_trip", side, "p50", slower * 60, "by", by, "polling", "yield", "size", 64,
                        "depth", 1, "iterations", 100, "round", 0);
            }
            add("connect_stage", side, "time", 100, "stage", "create <qp>", "connections", 50, "round", 0);
        }
        add("connection_round_trip", Side.JAVA, "allocated", 32, "by", "receive", "polling", "yield", "size", 64,
                "depth", 1, "iterations", 100, "round", 0);
        for (String by : List.of("engine", "netty tcp")) {
            add("stream_round_trip", Side.JAVA, "time", 70, "by", by, "polling", "await", "size", 64, "iterations", 10,
                    "round", 0);
            add("stream_transfer", Side.JAVA, "bandwidth", 900, "by", by, "polling", "await", "size", 1 << 20,
                    "iterations", 10, "round", 0);
        }
        add("stream_round_trip", Side.C, "time", 68.25, "by", "engine", "polling", "await", "size", 64,
                "iterations", 10, "round", 0);
        add("stream_transfer", Side.C, "bandwidth", 950, "by", "engine", "polling", "await", "size", 1 << 20,
                "iterations", 10, "round", 0);
        add("stream_round_trip", Side.JAVA, "allocated", 24, "by", "netty tcp", "polling", "await", "size", 64,
                "iterations", 10, "round", 0);
        for (Side side : List.of(Side.JAVA, Side.C)) {
            double time = side == Side.JAVA ? 26 : 20;
            for (int batch : new int[] {1, 16}) {
                add("post_poll", side, "time", time, "batch", batch, "sges", 1, "inline", false, "calls", "classic");
            }
            add("post_poll", side, "time", time, "batch", 1, "sges", 1, "inline", false, "calls", "extended");
        }
        return new Results(Map.of("device", "rxe0 & co"), results);
    }

    private static Document parse(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void everyPlotIsWellFormedAndShowsBothSides() throws Exception {
        List<Plot> plots = Plot.of(some());

        assertThat(plots).extracting(Plot::title).doesNotHaveDuplicates().hasSize(8);
        for (Plot plot : plots) {
            parse(plot.svg());
            assertThat(plot.svg()).contains(">Java<", ">C<", "class=\"back\"")
                    .doesNotContain("NaN", "Infinity", "var(");
        }
        assertThat(plots).extracting(plot -> plot.groups().keySet()).containsExactly(
                Set.of("1 at a time", "16 at a time"), Set.of("1 at a time"), Set.of("send, yield"), Set.of("write"),
                Set.of("yield, by receive", "yield, by handler"), Set.of("engine", "netty tcp"),
                Set.of("1024 KiB, by engine", "1024 KiB, by netty tcp"), Set.of("create <qp>"));
        assertThat(plots.get(2).svg()).contains(">send, yield<", ">10.3 µs<");
        assertThat(plots.getLast().svg()).contains("create &lt;qp&gt;");
    }

    @Test
    void thePageOfTheDocumentationNamesPlotsThatExist() throws IOException {
        Files.createDirectories(folder.resolve("performance"));
        Files.writeString(folder.resolve("performance/old.svg"), "of an earlier run");
        Page.write(folder, some());
        String page = Files.readString(folder.resolve("performance.md"));

        assertThat(page).contains("| send_latency | 1.020 | ≤ 1.05 |", "| device | rxe0 & co |",
                "| connection_latency | 1.020 | ≤ 1.10 |", "| `rstream` (C) | 68.3 |  |  | 950 |",
                "| engine | 70.0 |  |  | 900 |", "| netty tcp | 70.0 | 24 |  | 900 |");
        try (var plots = Files.list(folder.resolve("performance"))) {
            assertThat(plots).hasSize(8).allSatisfy(plot ->
                    assertThat(page).contains("](performance/" + plot.getFileName() + ")"));
        }
    }

    @Test
    void theGateFailsOnlyFarFromTheGoal() {
        for (Object[] row : new Object[][] {{1, 1.2}, {16, 1.3}}) {
            add("post_poll", Side.C, "time", 1, "batch", row[0], "sges", 1, "inline", false, "calls", "classic");
            add("post_poll", Side.JAVA, "time", (double) row[1], "batch", row[0], "sges", 1, "inline", false, "calls",
                    "classic");
        }
        assertThat(Report.missed(new Results(Map.of(), results))).extracting(Summary.Goal::name)
                .containsExactly("overhead_batch16");
    }

    @Test
    void thePageMarksGoalsThatAreMissedAndNoOthers() throws IOException {
        assertThat(Page.of(some())).contains("| overhead_worst_classic | 1.300 | ≤ 1.20, **missed** |",
                "| send_latency | 1.020 | ≤ 1.05 |", "| read_latency | not run | ≤ 1.05 |");
    }

    @Test
    void thePageHasTheDatesOfTheFiguresAndNotThatOfItsMaking() throws IOException {
        List<Path> parts = List.of(folder.resolve("first.json"), folder.resolve("second.json"));
        new Results(Map.of("date", "2001-02-03", "JDK", "25"), List.of()).write(parts.get(0));
        new Results(Map.of("date", "2001-02-04", "JDK", "25"), List.of()).write(parts.get(1));
        Results all = Report.write(folder, List.of(parts.get(0), parts.get(1), parts.get(0)));

        assertThat(folder.resolve("performance.md")).exists();
        assertThat(all.environment()).containsOnly(Map.entry("date", "2001-02-03; 2001-02-04"),
                Map.entry("JDK", "25"));
        Page.write(folder, Results.read(folder.resolve("results.json")));
        assertThat(folder.resolve("performance.md")).content().contains("| date | 2001-02-03; 2001-02-04 |");
    }

    /** What is not in the results would be old, and stand below a new date. */
    @Test
    void withoutResultsThePageHasNoFigures() throws IOException {
        assertThat(Page.of(new Results(Map.of(), List.of())))
                .doesNotContainPattern("\\d ?(ns|us|µs|ms|s|MB/s|MiB/s)\\b").doesNotContainPattern("\\b20\\d\\d\\b");
    }

    @Test
    void theTextOfThePageStays() throws IOException {
        Predicate<String> generated = line -> line.startsWith("|") || line.startsWith("![");
        List<String> old = Files.readAllLines(Path.of("..", "docs", "performance.md"));

        assertThat(Page.of(some()).lines()).filteredOn(generated.negate())
                .containsExactlyElementsOf(old.stream().filter(generated.negate()).toList());
    }
}
