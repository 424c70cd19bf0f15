// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

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
                Plot.Section.PERCENTILES, Plot.Section.BANDWIDTH, Plot.Section.CONNECTIONS,
                Plot.Section.STREAMS, Plot.Section.STREAMS, Plot.Section.SET_UP);
        for (Plot plot : plots) {
            parse(plot.svg());
            parse(Svg.standalone(plot.svg()));
            assertThat(plot.svg()).contains(">Java<", ">C<").doesNotContain("NaN", "Infinity");
        }
        assertThat(plots.getFirst().svg()).contains(">JNI<", ">DiSNI<", ">naive FFM<", "batch of 16");
        assertThat(plots).filteredOn(plot -> plot.section() == Plot.Section.STREAMS).extracting(Plot::svg)
                .allMatch(svg -> svg.contains(">engine<") && svg.contains(">netty tcp<"))
                .anyMatch(svg -> svg.contains("Round trip of a stream: await, 64B"))
                .anyMatch(svg -> svg.contains("Transfers over a stream: await, 1MB"));
        assertThat(plots).filteredOn(plot -> plot.section() == Plot.Section.CONNECTIONS).singleElement()
                .satisfies(plot -> assertThat(plot.svg()).contains("Round trip: yield, 64B, depth 1", ">handler<"));
    }

    @Test
    void logarithmicAxesPutEqualRatiosAtEqualDistances() {
        Axis axis = Axis.logarithmic("us", 3, 1500);

        assertThat(axis.from()).isEqualTo(2);
        assertThat(axis.to()).isEqualTo(2000);
        assertThat(axis.position(2)).isZero();
        assertThat(axis.position(2000)).isEqualTo(1);
        assertThat(axis.position(200) - axis.position(20)).isEqualTo(axis.position(20) - axis.position(2),
                within(1e-9));
        assertThat(axis.ticks()).extracting(Axis.Tick::label).containsExactly("10", "100", "1000");
    }

    @Test
    void axesAreMarkedWithRoundNumbers() {
        assertThat(Axis.logarithmic("us", 8, 8).ticks()).extracting(Axis.Tick::label).containsExactly("5", "10");
        assertThat(Axis.fromZero("ns", 43).ticks()).extracting(Axis.Tick::label)
                .containsExactly("0", "10", "20", "30", "40", "50");
        assertThat(Axis.sizes("bytes", 1, 4 << 20).ticks()).extracting(Axis.Tick::label)
                .containsExactly("1", "16", "256", "4K", "64K", "1M");
        assertThat(Axis.percentiles("p").position(Axis.nines(99))).isEqualTo(0.5, within(1e-9));
    }

    @Test
    void thePageNeedsNothingElse() throws IOException {
        ResultsFile.write(folder.resolve("part.json"), some());
        Report.write(folder.resolve("report"), List.of(folder.resolve("part.json")));
        String page = Files.readString(folder.resolve("report/index.html"));

        assertThat(page).contains("width=device-width", "rxe0 &amp; co", "create &lt;qp&gt;")
                .doesNotContain("src=", "href=", "@import", "url(", "<script", "NaN");
        assertThat(page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "")).doesNotContain("http");
        assertThat(ResultsFile.read(folder.resolve("report/results.json")).results()).hasSameSizeAs(results);
    }

    @Test
    void goalsAreMarkedAsMetOrMissed() {
        String page = HtmlReport.of(some());

        assertThat(page).contains("tile met\"><span class=\"soft\">send latency</span><b>1.020</b>")
                .contains("tile missed\"><span class=\"soft\">jni over java</span>")
                .contains("tile unknown\"><span class=\"soft\">read latency</span><b>not run</b>");
    }

    @Test
    void thePageOfTheDocumentationNamesPlotsThatExist() throws IOException {
        Files.createDirectories(folder.resolve("performance"));
        Files.writeString(folder.resolve("performance/old.svg"), "of an earlier run");
        MarkdownReport.write(folder, some());
        String page = Files.readString(folder.resolve("performance.md"));

        assertThat(page).doesNotContain("${").contains("| send_latency | 1.020 | ≤ 1.05 |", "| device | rxe0 & co |",
                "| connection_latency | 1.020 | ≤ 1.10 |", "| connection round trip, allocated, unit | by receive",
                "| stream round trip, time, unit | by netty tcp", "| `rstream` (C) | 68.3 |  |  | 950 |",
                "| engine | 70.0 |  |  | 900 |", "| netty tcp | 70.0 | 24 |  | 900 |");
        try (var plots = Files.list(folder.resolve("performance"))) {
            assertThat(plots).hasSize(8).allSatisfy(plot ->
                    assertThat(page).contains("](performance/" + plot.getFileName() + ")"));
        }
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
