// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Writes the report: {@code Report FOLDER PART...} merges the results of the parts into {@code results.json} and
 * {@code performance.md} in the folder; {@code Report --docs FOLDER RESULTS} writes {@code performance.md} from a
 * {@code results.json}; {@code Report --gate RESULTS} fails if posts and polls take far longer than they should.
 */
public final class Report {
    private static final double SLACK = 1.15;

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
            Page.write(Path.of(args[1]), Results.read(Path.of(args[2])));
        } else if (args.length == 2 && args[0].equals("--gate")) {
            List<Summary.Goal> missed = missed(Results.read(Path.of(args[1])));
            missed.forEach(goal -> System.err.println("missed by far: " + goal.name() + " " + goal.text()));
            System.exit(missed.isEmpty() ? 0 : 1);
        } else if (args.length >= 2 && !args[0].startsWith("-")) {
            Summary.print(write(Path.of(args[0]), Arrays.stream(args).skip(1).map(Path::of).toList()));
        } else {
            System.err.println("usage: Report FOLDER PART... | Report --docs FOLDER RESULTS | Report --gate RESULTS");
            System.exit(2);
        }
    }

    /** {@return which goals of posts and polls are missed by far: one at a time and 16 at a time, with libmlx5 too} */
    static List<Summary.Goal> missed(Results results) {
        return Summary.goals().stream().filter(goal -> goal.name().matches("overhead_(mlx5_)?batch\\d+"))
                .filter(goal -> !goal.isMet(results, SLACK)).toList();
    }

    /** Merges the parts, and writes the report. */
    static Results write(Path folder, List<Path> parts) throws IOException {
        // The parts say when and where they were measured: this may run later, and elsewhere.
        Results results = new Results(Map.of(), List.of());
        for (Path part : parts) {
            results = results.with(Results.read(part));
        }
        results.write(folder.resolve("results.json"));
        Page.write(folder, results);
        return results;
    }
}
