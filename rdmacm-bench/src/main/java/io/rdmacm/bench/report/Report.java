// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes the report: {@code Report FOLDER PART...} puts the results of the parts together as {@code results.json} and
 * {@code index.html} of the folder; {@code Report --docs FOLDER RESULTS} makes {@code performance.md} of such a file.
 */
public final class Report {
    private static final String RESULTS = "results.json";

    private Report() {
    }

    /** Makes it. */
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
                    System.out.printf("%-18s %.3f%n", name, ratio);
                }
            });
        } else {
            System.err.println("Report FOLDER PART... | Report --docs FOLDER RESULTS");
            System.exit(2);
        }
    }

    /** Puts parts together. */
    static Results write(Path folder, List<Path> parts) throws IOException {
        Map<String, String> here = new LinkedHashMap<>();
        here.put("date", Instant.now().truncatedTo(ChronoUnit.MINUTES).toString());
        here.put("machine", Environment.machine());
        here.put("kernel", Environment.kernel());
        here.put("JDK", Environment.jdk());
        Results results = new Results(here, List.of());
        for (Path part : parts) {
            results = results.with(ResultsFile.read(part));
        }
        ResultsFile.write(folder.resolve(RESULTS), results);
        Files.writeString(folder.resolve("index.html"), HtmlReport.of(results));
        return results;
    }
}
