import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Prints one table of the tests that ran on several distributions, kernels and processors, and below it the failures
/// and, for each reason, how many tests every row skipped. Run as
///
///     java TestMatrix.java FOLDER...
///
/// A folder holds JUnit's reports (`TEST-*.xml`), `row` (its name), `facts` (processor, kernel and version of rdma-core,
/// one per line) and, if it did not run to its end, `problem`. The exit status is 1 if a test failed, was skipped
/// without a reason, or if a row has no reports or a problem.
public final class TestMatrix {

    private static final List<String> HEAD =
            List.of("distribution", "architecture", "kernel", "rdma-core", "passed", "failed", "skipped");

    /// One row: what it ran on and its tests.
    private record Row(String name, List<String> facts, TestSummary tests) {

        static Row read(Path folder) throws IOException {
            String name = Files.readString(folder.resolve("row")).strip();
            TestSummary tests = new TestSummary();
            Path problem = folder.resolve("problem");
            if (Files.exists(problem)) {
                tests.problems.add(Files.readString(problem).strip());
            }
            tests.readTier(name, folder.toString(), folder + "/unit/bindings-gen", folder + "/unit/verbs",
                    folder + "/unit/core");
            Path facts = folder.resolve("facts");
            return new Row(name, Files.exists(facts) ? Files.readAllLines(facts) : List.of("-", "-", "-"), tests);
        }

        List<String> cells() {
            return Stream.of(Stream.of(name.replaceFirst("/.*", "")), facts.stream(),
                    Stream.of(tests.passed, tests.failed, tests.skipped).map(String::valueOf))
                    .flatMap(cells -> cells).toList();
        }
    }

    private TestMatrix() {
    }

    public static void main(String[] args) throws IOException {
        List<Row> rows = new ArrayList<>();
        for (String folder : args) {
            rows.add(Row.read(Path.of(folder)));
        }
        printTable(Stream.concat(Stream.of(HEAD), rows.stream().map(Row::cells)).toList());
        printSkips(rows);
        boolean good = true;
        for (Row row : rows) {
            row.tests.failures.forEach(failure -> System.out.println("Failed: " + failure));
            row.tests.problems.forEach(problem -> System.out.println("Problem: " + row.name + ": " + problem));
            good &= row.tests.isGood();
        }
        System.exit(good ? 0 : 1);
    }

    private static void printTable(List<List<String>> lines) {
        for (List<String> line : lines) {
            StringBuilder text = new StringBuilder("|");
            for (int i = 0; i < line.size(); i++) {
                int column = i;
                int width = lines.stream().mapToInt(other -> other.get(column).length()).max().orElse(0);
                text.append(' ').append(line.get(i)).repeat(' ', width - line.get(i).length()).append(" |");
            }
            System.out.println(text);
            if (line == HEAD) {
                System.out.println(text.toString().replaceAll("[^|]", "-"));
            }
        }
    }

    private static void printSkips(List<Row> rows) {
        Map<String, Map<String, Integer>> skips = new LinkedHashMap<>();
        for (Row row : rows) {
            row.tests.skips.forEach((reason, names) ->
                    skips.computeIfAbsent(reason, _ -> new LinkedHashMap<>()).put(row.name, names.size()));
        }
        skips.forEach((reason, counts) -> System.out.println("Skipped: " + reason + ": " + counts.entrySet().stream()
                .map(count -> count.getKey() + " " + count.getValue()).collect(Collectors.joining(", "))));
    }
}
