// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** The streams of bytes as a table: a row for each way, a column for each figure. */
final class StreamTable {
    private static final String HEAD = "| | round trip of 64 B, µs | allocated, B | 64 KiB, MiB/s | 1 MiB, MiB/s |\n"
            + "|---|---:|---:|---:|---:|\n";
    // beside the engine in the results
    private static final String REFERENCE = "engine";

    private StreamTable() {
    }

    /** {@return the table; a sentence if there are no such results} */
    static String of(Results results) {
        List<String> ways = results.results().stream()
                .filter(result -> result.name().equals(Summary.STREAM_ROUND_TRIP)
                        || result.name().equals(Summary.STREAM_TRANSFER))
                .map(result -> (String) result.params().get("by")).distinct().toList();
        if (ways.isEmpty()) {
            return "Not measured in this run.";
        }
        StringBuilder rows = new StringBuilder(row(results, "`rstream` (C)", Side.C, REFERENCE));
        ways.forEach(way -> rows.append(row(results, way, Side.JAVA, way)));
        return HEAD + rows.toString().strip();
    }

    private static String row(Results results, String name, Side side, String by) {
        List<String> cells = new ArrayList<>(List.of(name));
        cells.add(figure("%.1f", results.median(Summary.STREAM_ROUND_TRIP, Summary.TIME, side, at(by, 64))));
        cells.add(figure("%.0f", results.median(Summary.STREAM_ROUND_TRIP, Summary.ALLOCATED, side, at(by, 64))));
        for (int size : new int[] {1 << 16, 1 << 20}) {
            cells.add(figure("%.0f", results.median(Summary.STREAM_TRANSFER, Summary.BANDWIDTH, side, at(by, size))));
        }
        return MarkdownReport.row(cells);
    }

    private static Map<String, Object> at(String by, int size) {
        return Map.of("by", by, "size", size);
    }

    private static String figure(String format, OptionalDouble value) {
        return value.isPresent() ? String.format(Locale.ROOT, format, value.getAsDouble()) : "";
    }
}
