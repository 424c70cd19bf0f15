// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.rdmacm.examples.testing.Documents;
import org.junit.jupiter.api.Test;

/** The table of faults in docs/reliability.md is complete, and the tests that it names exist; so do those of others. */
class FaultTableTest {
    private static final String HEAD = "| Fault | What the program sees | Test |";
    private static final String HEAD_OF_OTHERS = "| Problem | Source | What this library does | Test |";
    private static final Pattern NAME = Pattern.compile("`(\\w+)\\.(\\w+)`");

    /** Each of these must occur in the column of faults. */
    private static final List<String> FAULTS = List.of("killed while it listens", "killed before it answers",
            "killed when connected", "killed while it is written to", "killed while it resolves",
            "killed before it is answered", "killed before its request is taken", "killed while it disconnects",
            "killed while this side disconnects", "device removed under traffic", "device comes back",
            "fatal error", "not ready beyond its retries", "completion queue overrun", "runs dry",
            "reaches its limit", "backlog of a listener", "1,000 connections", "events not acknowledged",
            "wrong remote key", "revoked window", "outside its region", "region to be read", "`ulimit -l`",
            "`/dev/infiniband`", "file descriptors", "larger than the device", "loses 1 or 5 %", "64 MiB", "reorders",
            "duplicates", "cut for less than the retry time", "cut for longer than the retry time",
            "goes down and up within the retry time", "down for longer than the retry time",
            "powered off while this side resolves", "powered off while this side connects",
            "powered off while it is written to", "powered off while this side disconnects");

    private record Row(String fault, String seen, String tests) {
        static Row of(String line) {
            List<String> cells = cells(line);
            return new Row(cells.getFirst(), cells.get(1), cells.getLast());
        }
    }

    private static List<String> cells(String line) {
        return Stream.of(line.substring(1, line.length() - 1).split("\\|")).map(String::strip).toList();
    }

    private static List<Row> rows() throws IOException {
        return rows("docs/reliability.md", HEAD);
    }

    /** Returns the rows of all tables of a page, which have the same head. */
    private static List<Row> rows(String page, String head) throws IOException {
        List<String> lines = Files.readAllLines(Documents.root().resolve(page)).stream()
                .filter(line -> line.startsWith("|") && !line.startsWith("|---")).toList();
        assertThat(lines).as("the lines " + head).contains(head)
                .allSatisfy(line -> assertThat(cells(line)).hasSameSizeAs(cells(head)));
        return lines.stream().filter(line -> !line.equals(head)).map(Row::of).toList();
    }

    @Test
    void noFaultIsMissing() throws IOException {
        assertThat(rows()).extracting(Row::fault).satisfies(faults -> assertThat(FAULTS).allSatisfy(
                fault -> assertThat(faults).anyMatch(named -> named.contains(fault))));
    }

    @Test
    void eachRowSaysWhatTheProgramSees() throws IOException {
        assertThat(rows()).extracting(Row::seen).doesNotContain("");
    }

    @Test
    void theTestsOfEachRowExist() throws IOException {
        assertTestsExist(rows());
    }

    @Test
    void theProblemsOfOthersHaveTests() throws IOException {
        assertTestsExist(rows("docs/contributing/problems-of-others.md", HEAD_OF_OTHERS));
    }

    private static void assertTestsExist(List<Row> rows) throws IOException {
        List<Path> sources = sources();
        for (Row row : rows) {
            List<MatchResult> tests = NAME.matcher(row.tests()).results().toList();
            assertThat(tests).as(row.fault()).isNotEmpty();
            for (MatchResult test : tests) {
                assertThat(testsOf(sources, test.group(1))).as(row.fault()).contains(test.group(2));
            }
        }
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> modules = Files.list(Documents.root())) {
            List<Path> sources = new ArrayList<>();
            for (Path tests : modules.map(module -> module.resolve("src/test/java")).filter(Files::exists).toList()) {
                try (Stream<Path> files = Files.walk(tests)) {
                    files.filter(file -> file.toString().endsWith("Test.java")).forEach(sources::add);
                }
            }
            return sources;
        }
    }

    /** Returns the test methods of a class: their annotation stands between an empty line and their name. */
    private static List<String> testsOf(List<Path> sources, String type) throws IOException {
        List<String> names = new ArrayList<>();
        for (Path source : sources) {
            if (source.getFileName().toString().equals(type + ".java")) {
                for (String block : Files.readString(source).split("\n\n")) {
                    Pattern.compile("@(?:Parameterized|Repeated)?Test\\b.*? void (\\w+)\\(", Pattern.DOTALL)
                            .matcher(block).results().map(found -> found.group(1)).forEach(names::add);
                }
            }
        }
        return names;
    }
}
