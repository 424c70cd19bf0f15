import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.helpers.DefaultHandler;

/// Prints a summary of the JUnit XML reports of all tiers: each skipped test with its reason, each failure with its
/// message, and as the last line `N passed, N failed, N skipped`. Run as
///
///     java TestSummary.java unit=FOLDER,FOLDER device=FOLDER [expect=FILE] [problem=TEXT]
///
/// The exit status is 1 if a test failed, if a tier (`name=FOLDERS`) has no report or ran no test, if a test was skipped
/// without a reason, if no report mentions a class of the `expect` file (one per line), or if there is a `problem`.
public final class TestSummary {

    /// What JUnit reports when a test gives no reason of its own.
    private static final Pattern NO_REASON =
            Pattern.compile("|Assumption failed|.*assumption is (not )?true|.* is @Disabled", Pattern.DOTALL);
    private static final Pattern EXCEPTION = Pattern.compile("^[\\w.$]*TestAbortedException(: )?");
    private static final Pattern ASSUMPTION = Pattern.compile("^Assumption failed: ");

    final List<String> failures = new ArrayList<>();
    final Map<String, List<String>> skips = new LinkedHashMap<>();
    final List<String> problems = new ArrayList<>();
    private final Set<String> classes = new HashSet<>();
    int passed;
    int failed;
    int skipped;

    TestSummary() {
    }

    public static void main(String[] args) throws Exception {
        TestSummary summary = new TestSummary();
        List<String> expected = new ArrayList<>();
        for (String arg : args) {
            String name = arg.substring(0, arg.indexOf('='));
            String value = arg.substring(name.length() + 1);
            switch (name) {
                case "expect" -> expected.addAll(Files.readAllLines(Path.of(value)));
                case "problem" -> summary.problems.add(value);
                default -> summary.readTier(name, value.split(","));
            }
        }
        for (String type : expected) {
            if (!summary.classes.contains(type)) {
                summary.problems.add("no report mentions the test class " + type);
            }
        }
        System.exit(summary.print() ? 0 : 1);
    }

    void readTier(String tier, String... folders) throws IOException {
        int before = passed + failed;
        boolean reported = false;
        for (String folder : folders) {
            if (!Files.isDirectory(Path.of(folder))) {
                continue;
            }
            try (DirectoryStream<Path> reports = Files.newDirectoryStream(Path.of(folder), "TEST-*.xml")) {
                for (Path report : reports) {
                    reported = true;
                    readReport(tier, report);
                }
            }
        }
        if (!reported) {
            problems.add("no report of the " + tier + " tests");
        } else if (passed + failed == before) {
            problems.add("no " + tier + " test ran");
        }
    }

    private void readReport(String tier, Path report) {
        NodeList cases;
        try {
            DocumentBuilder parser = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder();
            // The default handler prints errors that are thrown as well.
            parser.setErrorHandler(new DefaultHandler());
            cases = parser.parse(report.toFile()).getElementsByTagName("testcase");
        } catch (Exception e) {
            problems.add("unreadable report " + report + ": " + e.getMessage());
            return;
        }
        for (int i = 0; i < cases.getLength(); i++) {
            readCase(tier, (Element) cases.item(i));
        }
    }

    private void readCase(String tier, Element test) {
        String type = test.getAttribute("classname");
        // Nested classes count for their outer class.
        classes.add(type.replaceFirst("\\$.*", ""));
        String name = tier + ": " + type.substring(type.lastIndexOf('.') + 1) + "." + test.getAttribute("name");
        Element failure = child(test, "failure", "error");
        Element skip = child(test, "skipped");
        if (failure != null) {
            failed++;
            failures.add(name + "\n" + describe(failure));
        } else if (skip != null) {
            String reason = reason(skip);
            if (NO_REASON.matcher(reason).matches()) {
                failed++;
                failures.add(name + "\n    skipped without a reason");
            } else {
                skipped++;
                skips.computeIfAbsent(reason, _ -> new ArrayList<>()).add(name);
            }
        } else {
            passed++;
        }
    }

    private static Element child(Element test, String... names) {
        for (Node node = test.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element && List.of(names).contains(element.getTagName())) {
                return element;
            }
        }
        return null;
    }

    /// Surefire puts the reason into an attribute, JUnit's own report into the text, followed by a stack trace.
    private static String reason(Element skip) {
        String text = skip.getAttribute("message").isBlank() ? skip.getTextContent() : skip.getAttribute("message");
        String line = text.strip().lines().findFirst().orElse("");
        line = EXCEPTION.matcher(line).replaceFirst("");
        return ASSUMPTION.matcher(line).replaceFirst("").strip();
    }

    /// The message, and the lines of the stack trace that belong to this project.
    private static String describe(Element failure) {
        StringBuilder text = new StringBuilder();
        String message = failure.getAttribute("message").strip();
        List<String> trace = failure.getTextContent().strip().lines().toList();
        List<String> head = message.isEmpty() ? trace.stream().limit(1).toList() : message.lines().limit(12).toList();
        text.append("    ").append(failure.getAttribute("type"));
        head.forEach(line -> text.append("\n    ").append(line.strip()));
        trace.stream().map(String::strip).filter(line -> line.startsWith("at ") && line.contains("io.rdmacm"))
                .limit(4).forEach(line -> text.append("\n      ").append(line));
        return text.toString();
    }

    private boolean print() {
        if (!skips.isEmpty()) {
            System.out.println("Skipped:");
            skips.forEach((reason, names) -> {
                System.out.println("  " + reason);
                names.forEach(name -> System.out.println("    " + name));
            });
        }
        if (!failures.isEmpty()) {
            System.out.println("Failed:");
            failures.forEach(failure -> System.out.println("  " + failure));
        }
        problems.forEach(problem -> System.out.println("Problem: " + problem));
        System.out.printf("%d passed, %d failed, %d skipped%n", passed, failed, skipped);
        return isGood();
    }

    boolean isGood() {
        return failed == 0 && problems.isEmpty();
    }
}
