// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.rdmacm.examples.testing.Documents;
import jdk.jfr.Name;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The methods and classes that the documents name exist. */
class NamesInDocumentsTest {
    private static final Pattern METHOD = Pattern.compile("`([A-Z]\\w+)\\.([a-z]\\w+)`");
    private static final Pattern EVENT = Pattern.compile("`(io\\.rdmacm\\.[A-Z]\\w+)`");
    private static final Pattern CLASS = Pattern.compile("`([A-Z]\\w*[a-z]\\w*)`");
    // those of the JDK and of Netty that the documents name
    private static final List<String> OTHERS = List.of("java.lang.", "java.lang.foreign.", "java.io.", "java.net.",
            "java.nio.channels.", "java.util.", "java.util.concurrent.", "io.netty.channel.",
            "io.netty.channel.epoll.", "io.netty.channel.socket.");
    private static final List<String> PACKAGES = List.of("io.rdmacm.core.connection.", "io.rdmacm.core.nio.",
            "io.rdmacm.core.stream.",
            "io.rdmacm.core.", "io.rdmacm.verbs.", "io.rdmacm.verbs.address.", "io.rdmacm.verbs.counter.",
            "io.rdmacm.verbs.device.", "io.rdmacm.verbs.efa.", "io.rdmacm.verbs.error.",
            "io.rdmacm.verbs.flow.", "io.rdmacm.verbs.memory.", "io.rdmacm.verbs.mlx5.",
            "io.rdmacm.verbs.pool.", "io.rdmacm.verbs.queue.", "io.rdmacm.verbs.work.", "io.rdmacm.netty.");

    /** But those that are generated: their tests compare them with the code. */
    private static List<Path> documents() throws IOException {
        return Documents.pages().stream()
                .filter(page -> !page.endsWith("coverage.md") && !page.endsWith("performance.md")).toList();
    }

    /** Without the first column of tables that have what another library has. */
    private static String text(Path document) throws IOException {
        String text = Files.readString(document);
        return document.getParent().endsWith("migration") ? text.lines()
                .map(line -> line.startsWith("|") ? line.substring(line.indexOf('|', 1)) : line)
                .collect(Collectors.joining("\n")) : text;
    }

    /** But architecture.md, which names methods that are not public. */
    private static List<Path> documentsForPrograms() throws IOException {
        return documents().stream().filter(page -> !page.endsWith("architecture.md")).toList();
    }

    @ParameterizedTest
    @MethodSource("documentsForPrograms")
    void everyNamedMethodExists(Path document) throws Exception {
        // Those of tests are looked for by FaultTableTest.
        assertThat(METHOD.matcher(text(document)).results().filter(name -> !name.group(1).endsWith("Test")
                && !isOfOthers(name.group(1)) && methods(name.group(1)).noneMatch(name.group(2)::equals))
                .map(MatchResult::group)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyNamedClassExists(Path document) throws Exception {
        Set<String> classes;
        try (Stream<Path> files = Files.walk(Documents.root())) {
            classes = files.filter(file -> !file.toString().contains("/target/"))
                    .map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".java"))
                    .map(name -> name.substring(0, name.length() - ".java".length())).collect(Collectors.toSet());
        }

        assertThat(CLASS.matcher(text(document)).results().map(name -> name.group(1))
                .filter(name -> !classes.contains(name) && !isOfOthers(name))).isEmpty();
    }

    private static boolean isOfOthers(String simpleName) {
        return OTHERS.stream().anyMatch(packageName -> {
            try {
                Class.forName(packageName + simpleName, false, NamesInDocumentsTest.class.getClassLoader());
                return true;
            } catch (ClassNotFoundException e) {
                return false;
            }
        });
    }

    @Test
    void operatingNamesTheEventsOfFlightRecorder() throws Exception {
        String text = Files.readString(Documents.root().resolve("docs/operating.md"));
        List<String> named = EVENT.matcher(text).results().map(name -> name.group(1)).toList();
        List<String> events = Stream.of("io.rdmacm.core.internal.jfr.ConnectEvent",
                "io.rdmacm.core.internal.jfr.AcceptEvent", "io.rdmacm.core.internal.jfr.DisconnectEvent",
                "io.rdmacm.core.internal.jfr.FailedCompletionEvent", "io.rdmacm.core.internal.jfr.SleepEvent",
                "io.rdmacm.verbs.internal.jfr.RegistrationEvent").map(NamesInDocumentsTest::eventName).toList();

        assertThat(named).containsExactlyInAnyOrderElementsOf(events);
    }

    private static String eventName(String className) {
        try {
            return Class.forName(className).getAnnotation(Name.class).value();
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static Stream<String> methods(String simpleName) {
        return PACKAGES.stream().flatMap(packageName -> {
            try {
                return Arrays.stream(Class.forName(packageName + simpleName).getMethods()).map(Method::getName);
            } catch (ClassNotFoundException e) {
                return Stream.empty();
            }
        });
    }
}
