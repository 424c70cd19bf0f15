// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

class ReportTest {
    @TempDir
    private Path folder;

    private final List<Result> results = new ArrayList<>();

    private void add(String name, Side side, String metric, double value, Object... params) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < params.length; i += 2) {
            map.put((String) params[i], params[i + 1]);
        }
        results.add(new Result(name, side, map, metric, "unit", value));
    }

    /** A bit of everything. */
    private Results some() {
        for (Side side : List.of(Side.JAVA, Side.C)) {
            double slower = side == Side.JAVA ? 1.02 : 1;
            for (int size = 1; size <= 1 << 20; size *= 16) {
                add("send_latency", side, "p50", slower * (10 + size / 1000.0), "transport", "RC", "polling", "yield",
                        "size", size, "depth", 1, "iterations", 100, "round", 0);
                add("write_bandwidth", side, "bandwidth", size / 7.0 / slower, "transport", "RC", "polling", "busy",
                        "size", size, "depth", 128, "iterations", 100, "round", 0);
            }
            for (String percentile : List.of("0", "50", "99", "99.9", "100")) {
                add("send_latency", side, "all_p" + percentile, 10 + Double.parseDouble(percentile), "transport", "RC",
                        "polling", "yield", "size", 16, "depth", 1, "iterations", 100);
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
        for (Side side : Side.values()) {
            for (int batch : new int[] {1, 16}) {
                add("post_poll", side, "time", 20 + side.ordinal(), "batch", batch, "sges", 1, "inline", false,
                        "calls", "classic");
            }
        }
        return new Results(Map.of("device", "rxe0 & co"), results);
    }

    private static Document parse(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void everyPlotIsWellFormedAndShowsBothSides() throws Exception {
        List<Plot> plots = Plots.of(some());

        assertThat(plots).extracting(Plot::section).containsExactly(Plot.Section.OVERHEAD, Plot.Section.LATENCY,
                Plot.Section.BANDWIDTH, Plot.Section.CONNECTIONS, Plot.Section.STREAMS, Plot.Section.STREAMS,
                Plot.Section.SET_UP);
        for (Plot plot : plots) {
            parse(plot.svg());
            assertThat(plot.svg()).contains(">Java<", ">C<").doesNotContain("NaN", "Infinity", "var(");
        }
        assertThat(plots.getFirst().svg()).contains(">JNI<", ">DiSNI<", ">naive FFM<", "batch of 16");
        assertThat(plots.get(1).svg()).contains(">send, RC yield 16 1<", ">10.2 µs<");
        assertThat(plots.get(2).svg()).contains(">write, RC busy 65536 128<");
        assertThat(plots.get(3).svg()).contains("Round trip: yield, 64B, depth 1", ">handler<");
        assertThat(plots.get(4).svg()).contains("Round trip of a stream: await, 64B", ">engine<", ">netty tcp<");
        assertThat(plots.get(5).svg()).contains("Transfers over a stream: await, 1MB", ">engine<", ">netty tcp<");
        assertThat(plots.getLast().svg()).contains("create &lt;qp&gt;");
    }

    @Test
    void thePageOfTheDocumentationNamesPlotsThatExist() throws IOException {
        Files.createDirectories(folder.resolve("performance"));
        Files.writeString(folder.resolve("performance/old.svg"), "of an earlier run");
        MarkdownReport.write(folder, some());
        String page = Files.readString(folder.resolve("performance.md"));

        assertThat(page).doesNotContain("${").contains("| send_latency | 1.020 | ≤ 1.05 |", "| device | rxe0 & co |",
                "| connection_latency | 1.020 | ≤ 1.10 |", "| `rstream` (C) | 68.3 |  |  | 950 |",
                "| engine | 70.0 |  |  | 900 |", "| netty tcp | 70.0 | 24 |  | 900 |");
        try (var plots = Files.list(folder.resolve("performance"))) {
            assertThat(plots).hasSize(7).allSatisfy(plot ->
                    assertThat(page).contains("](performance/" + plot.getFileName() + ")"));
        }
    }

    @Test
    void theTableOfFiguresHasWhatHasNoCounterpartToo() throws IOException {
        assertThat(MarkdownReport.figures(some())).contains("| connection round trip, allocated, unit | by receive",
                "| stream round trip, time, unit | by netty tcp");
    }

    @Test
    void theGateFailsOnlyFarFromTheGoal() {
        for (Object[] row : new Object[][] {{1, 1.2}, {16, 1.3}}) {
            add("post_poll", Side.C, "time", 1, "batch", row[0], "sges", 1, "inline", false, "calls", "classic");
            add("post_poll", Side.JAVA, "time", (double) row[1], "batch", row[0], "sges", 1, "inline", false, "calls",
                    "classic");
        }
        assertThat(Report.missed(new Results(Map.of(), results))).extracting(Goal::name)
                .containsExactly("overhead_batch16");
    }

    @Test
    void thePageMarksGoalsThatAreMissedAndNoOthers() throws IOException {
        assertThat(MarkdownReport.page(some(), List.of())).contains("| jni_over_java | 1.100 | ≥ 1.50, **missed** |",
                "| send_latency | 1.020 | ≤ 1.05 |", "| read_latency | not run | ≤ 1.05 |");
    }

    @Test
    void thePageHasTheDatesOfTheFiguresAndNotThatOfItsMaking() throws IOException {
        List<Path> parts = List.of(folder.resolve("first.json"), folder.resolve("second.json"));
        ResultsFile.write(parts.get(0), new Results(Map.of("date", "2001-02-03", "JDK", "25"), List.of()));
        ResultsFile.write(parts.get(1), new Results(Map.of("date", "2001-02-04", "JDK", "25"), List.of()));
        Results all = Report.write(folder, List.of(parts.get(0), parts.get(1), parts.get(0)));

        assertThat(folder.resolve("performance.md")).exists();
        assertThat(all.environment()).containsOnly(Map.entry("date", "2001-02-03; 2001-02-04"),
                Map.entry("JDK", "25"));
        MarkdownReport.write(folder, ResultsFile.read(folder.resolve("results.json")));
        assertThat(folder.resolve("performance.md")).content().contains("| date | 2001-02-03; 2001-02-04 |");
    }

    /** What is not in the results would be old, and stand below a new date. */
    @Test
    void withoutResultsThePageHasNoFigures() throws IOException {
        assertThat(MarkdownReport.page(new Results(Map.of(), List.of()), List.of()))
                .doesNotContainPattern("\\d ?(ns|us|µs|ms|s|MB/s|MiB/s)\\b").doesNotContainPattern("\\b20\\d\\d\\b");
    }

    @Test
    void thePageOfTheProjectWasNotEditedByHand() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "performance.md"));
        String[] parts = MarkdownReport.template().split("\\$\\{\\w+}");

        assertThat(parts).hasSizeGreaterThan(4).allSatisfy(part -> assertThat(page).contains(part));
    }

    @Test
    void withoutStreamsThePageSaysSo() throws IOException {
        assertThat(MarkdownReport.page(new Results(Map.of(), List.of()), List.of()))
                .contains("Not measured in this run.");
    }
}
