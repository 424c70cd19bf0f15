// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;

import io.rdmacm.examples.testing.Documents;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import picocli.CommandLine.Command;

/** What the documents count, name and link is what there is. */
class ClaimsInDocumentsTest {
    private static final Path ROOT = Documents.root();
    private static final Pattern CODE_BLOCK = Pattern.compile("(?ms)^```.*?^```$");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern QUOTE = Pattern.compile("(?m)^\\| `([^`]*)`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]*)(?:#([^)]*))?\\)");
    private static final Pattern SCRIPT = Pattern.compile("\\bscripts/([a-z][a-z-]*(?:/[\\w.-]*\\w)?)([^`\\n#]*)");
    private static final Pattern OPTION = Pattern.compile(" (--[a-z][a-z-]*)");
    private static final Pattern PROPERTY = Pattern.compile("-D(io\\.rdmacm\\.\\w+(?:\\.\\w+)*)");
    private static final Pattern VARIABLE = Pattern.compile("\\bRDMA(?:CM)?_[A-Z_]*[A-Z]\\b");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\| `(io\\.rdmacm[a-z0-9.]*)` \\|");
    private static final Pattern PAST = Pattern.compile("\\b(?:January|February|March|April|May|June|July|August"
            + "|September|October|November|December) 20\\d\\d\\b"
            + "|\\b20\\d\\d-\\d\\d-\\d\\d\\b|\\bcommit `?[0-9a-f]{7,}\\b|\\b(?:was|were|has been|have been) seen\\b");
    private static final String JAVA = Stream.of("rdmacm-bindings-gen", "rdmacm-verbs", "rdmacm-core", "rdmacm-netty",
                    "rdmacm-sockets")
            .map(module -> sources(module + "/src")).collect(Collectors.joining());
    private static final String SCRIPTS = sources("scripts") + sources("rdmacm-bench/src/main/java");

    private static List<Path> documents() throws IOException {
        return Documents.pages();
    }

    private static String text(String name) throws IOException {
        return Files.readString(ROOT.resolve(name));
    }

    private static long functions(String includes) throws IOException {
        return text("rdmacm-bindings-gen/src/main/jextract/" + includes).lines()
                .filter(line -> line.startsWith("--include-function ")).count();
    }

    @Test
    void theReadmeCountsTheExportedFunctions() throws IOException {
        long own = functions("includes.txt");
        assertThat(text("README.md")).contains("all " + own + " exported functions",
                own + functions("mlx5-includes.txt") + functions("efa-includes.txt") + " with `mlx5dv.h`");
    }

    @ParameterizedTest
    @CsvSource({"mlx5dv.h, true", "efadv.h, true", "verbs.h, false", "rdma_cma.h, false", "rdma_verbs.h, false"})
    void theReadmeSaysHowMuchOfAHeaderIsCovered(String header, boolean part) throws IOException {
        MatchResult covered = Pattern.compile("\n## " + header + "\n\n(\\d+) of (\\d+) with a method and a test")
                .matcher(text("docs/coverage.md")).results().findFirst().orElseThrow();
        if (part) {
            assertThat(text("README.md")).contains(covered.group(1) + " of " + covered.group(2));
        } else {
            // "every function of ..."
            assertThat(covered.group(1)).isEqualTo(covered.group(2));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"overhead_batch1", "overhead_batch16", "overhead_geomean_classic",
        "overhead_worst_classic", "overhead_worst_extended_batch1", "overhead_worst_extended_batch16",
        "overhead_mlx5_batch1", "overhead_mlx5_batch16"})
    void theReadmeNamesTheMeasuredOverheadAndNotThatOfTheBestRows(String figure) throws IOException {
        String measured = Pattern.compile("\\| " + figure + " \\| ([0-9.]+) \\|").matcher(text("docs/performance.md"))
                .results().findFirst().orElseThrow().group(1);
        assertThat(text("README.md")).contains(String.format(Locale.ROOT, "%.2f", Double.parseDouble(measured)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdmacm-bindings-gen", "rdmacm-verbs", "rdmacm-core", "rdmacm-netty"})
    void theReadmeNamesEveryDependency(String module) throws Exception {
        NodeList all = DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(ROOT.resolve(module).resolve("pom.xml").toFile()).getElementsByTagName("dependency");
        String readme = text("README.md");
        for (int i = 0; i < all.getLength(); i++) {
            Element dependency = (Element) all.item(i);
            String name = content(dependency, "artifactId");
            if (content(dependency, "scope").isEmpty() && !content(dependency, "groupId").equals("io.rdmacm")) {
                assertThat(readme).containsIgnoringCase(name.equals("jspecify") ? name : "`" + name + "`");
            }
        }
    }

    private static String content(Element element, String child) {
        NodeList found = element.getElementsByTagName(child);
        return found.getLength() == 0 ? "" : found.item(0).getTextContent();
    }

    @Test
    void architectureHasEveryPackageAndNoOthers() throws IOException {
        Set<String> packages = new TreeSet<>();
        for (String module : List.of("rdmacm-bindings-gen", "rdmacm-verbs", "rdmacm-core", "rdmacm-netty",
                "rdmacm-sockets")) {
            Path sources = ROOT.resolve(module).resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(file -> file.endsWith("package-info.java"))
                        .map(file -> sources.relativize(file.getParent()).toString().replace('/', '.'))
                        .forEach(packages::add);
            }
        }

        assertThat(PACKAGE.matcher(text("docs/architecture.md")).results().map(found -> found.group(1)))
                .containsExactlyInAnyOrderElementsOf(packages);
    }

    @Test
    void theIndexHasEveryPage() throws IOException {
        Path index = ROOT.resolve("docs/index.md");
        assertThat(LINK.matcher(Files.readString(index)).results().filter(link -> !link.group(1).startsWith("http"))
                .map(link -> index.resolveSibling(link.group(1)).normalize()))
                .containsAll(Documents.below("docs").stream().filter(page -> !page.equals(index)).toList());
    }

    @Test
    void troubleshootingQuotesWhatTheLibrarySays() throws IOException {
        String said = JAVA.replaceAll("\"\\s*\\+\\s*\"", "").replace("\\\"", "\"");
        assertThat(QUOTE.matcher(text("docs/troubleshooting.md")).results()
                .flatMap(quote -> Stream.of(quote.group(1).split("\\.\\.\\.")))
                .map(String::strip).filter(part -> !part.isEmpty())).hasSizeGreaterThan(10).allMatch(said::contains);
    }

    @ParameterizedTest
    @MethodSource("documents")
    void linksLeadSomewhere(Path document) throws IOException {
        String text = CODE_BLOCK.matcher(Files.readString(document)).replaceAll("");
        for (MatchResult link : LINK.matcher(text).results().toList()) {
            if (link.group(1).startsWith("http")) {
                continue;
            }
            Path target = link.group(1).isEmpty() ? document : document.resolveSibling(link.group(1)).normalize();
            assertThat(target).as(link.group()).exists();
            if (link.group(2) != null) {
                assertThat(HEADING.matcher(CODE_BLOCK.matcher(Files.readString(target)).replaceAll("")).results()
                        .map(heading -> anchor(heading.group(1)))).as(link.group()).contains(link.group(2));
            }
        }
    }

    /** What GitHub makes of a heading. */
    private static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\w -]", "").replace(' ', '-');
    }

    @ParameterizedTest
    @MethodSource("documents")
    void scriptsAndTheirOptionsExist(Path document) throws IOException {
        for (MatchResult command : SCRIPT.matcher(Files.readString(document)).results().toList()) {
            Path script = ROOT.resolve("scripts").resolve(command.group(1));
            assertThat(script).as(command.group()).exists();
            // What follows is of the command that the script runs.
            String options = command.group(2).replaceFirst(" -- .*", "");
            String usage = command.group(1).equals("soak") ? sources("rdmacm-examples/src/test/java")
                    : Files.isRegularFile(script) ? Files.readString(script) : "";
            assertThat(OPTION.matcher(options).results().map(found -> found.group(1))).as(command.group())
                    .allMatch(usage::contains);
        }
    }

    @Test
    void everyProgramIsListed() throws IOException {
        String list = text("docs/programs.md");
        assertThat(Programs.all()).extracting(program -> program.getAnnotation(Command.class).name())
                .allMatch(name -> list.contains("`" + name + "`") || name.matches("ibv_\\w+_pingpong")
                        && list.contains("`ibv_rc_pingpong` and its variants"));
    }

    @ParameterizedTest
    @MethodSource("documents")
    void propertiesAndVariablesAreRead(Path document) throws IOException {
        String text = Files.readString(document);
        assertThat(PROPERTY.matcher(text).results().map(found -> '"' + found.group(1) + '"')).allMatch(JAVA::contains);
        assertThat(VARIABLE.matcher(CODE_BLOCK.matcher(text).replaceAll("")).results().map(MatchResult::group)
                .filter(name -> !name.matches("RDMA_(READ|WRITE|PS)\\w*"))).allMatch(SCRIPTS::contains);
    }

    private static String sources(String folder) {
        try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
            StringBuilder all = new StringBuilder();
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (!file.toString().contains("/generated/")) {
                    all.append(Files.readString(file));
                }
            }
            return all.toString();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Performance.md has the dates of its figures, and the changelog those of releases. */
    @ParameterizedTest
    @MethodSource("documents")
    void noPageTellsOfAPastRun(Path document) throws IOException {
        if (!Set.of("performance.md", "CHANGELOG.md").contains(document.getFileName().toString())) {
            assertThat(CODE_BLOCK.matcher(Files.readString(document)).replaceAll("")).doesNotContainPattern(PAST);
        }
    }
}
