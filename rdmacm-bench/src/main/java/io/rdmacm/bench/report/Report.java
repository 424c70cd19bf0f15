// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Writes the report: {@code Report FOLDER PART...} merges the results of the parts into {@code results.json} and
 * {@code index.html} in the folder; {@code Report --docs FOLDER RESULTS} writes {@code performance.md} from a
 * {@code results.json}.
 */
public final class Report {
    private static final String RESULTS = "results.json";

    private Report() {
    }

    /**
     * Writes the report.
     *
     * @param args see the class
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] args) throws IOException {
        if (args.length == 3 && args[0].equals("--docs")) {
            MarkdownReport.write(Path.of(args[1]), ResultsFile.read(Path.of(args[2])));
        } else if (args.length >= 2 && !args[0].startsWith("-")) {
            List<Path> parts = new ArrayList<>();
            for (int i = 1; i < args.length; i++) {
                parts.add(Path.of(args[i]));
            }
            Results results = write(Path.of(args[0]), parts);
            Summary.of(results).forEach((name, ratio) -> {
                if (ratio != null) {
                    System.out.printf("%-32s %.3f%n", name, ratio);
                }
            });
        } else {
            System.err.println("usage: Report FOLDER PART... | Report --docs FOLDER RESULTS");
            System.exit(2);
        }
    }

    /** Merges the parts, and writes the report. */
    static Results write(Path folder, List<Path> parts) throws IOException {
        // The parts say when and where they were measured: this may run later, and elsewhere.
        Results results = new Results(Map.of(), List.of());
        for (Path part : parts) {
            results = results.with(ResultsFile.read(part));
        }
        ResultsFile.write(folder.resolve(RESULTS), results);
        Files.writeString(folder.resolve("index.html"), HtmlReport.of(results));
        return results;
    }
}
