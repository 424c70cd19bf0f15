// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

import io.rdmacm.examples.testing.Documents;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The programs in README.md and docs/guide.md compile as they are, and print the output that is given below them. */
@RequiresRdma
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SnippetDeviceTest {
    private static final Pattern PROGRAM = Pattern.compile(
            "```java\n// (\\w+)\\.java\n(.*?)```\n+```text\n(.*?)```", Pattern.DOTALL);

    private List<Program> programs;
    private URLClassLoader classes;

    /** A program of the guide. */
    private record Program(String name, String source, List<String> output) {
    }

    // All in one run: most of the time goes into starting the compiler.
    @BeforeAll
    void compile(@TempDir Path folder) throws Exception {
        programs = new ArrayList<>();
        programs.add(new Program("Hello", blocks("README.md").getFirst(), List.of()));
        String guide = Files.readString(Documents.root().resolve("docs/guide.md"));
        for (Matcher program = PROGRAM.matcher(guide); program.find();) {
            programs.add(new Program(program.group(1), program.group(2), program.group(3).lines().toList()));
        }
        assertThat(programs).hasSize(1 + blocks("docs/guide.md").size());
        List<String> arguments = new ArrayList<>(List.of("-cp", System.getProperty("java.class.path"), "-d",
                folder.toString()));
        for (Program program : programs) {
            arguments.add(Files.writeString(folder.resolve(program.name() + ".java"), program.source()).toString());
        }
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        PrintStream errors = new PrintStream(messages, true, StandardCharsets.UTF_8);
        int status = ToolProvider.findFirst("javac").orElseThrow().run(errors, errors,
                arguments.toArray(String[]::new));
        assertThat(status).describedAs(messages.toString(StandardCharsets.UTF_8)).isZero();
        classes = new URLClassLoader(new URL[] {folder.toUri().toURL()});
    }

    @AfterAll
    void forget() throws Exception {
        if (classes != null) {
            classes.close();
        }
    }

    @Test
    void theProgramOfTheReadme() throws Exception {
        assertThat(run("Hello")).containsExactly("hello from far away");
    }

    @TestFactory
    Stream<DynamicTest> theProgramsOfTheGuide() {
        return programs.stream().skip(1).map(program -> DynamicTest.dynamicTest(program.name(),
                () -> assertThat(run(program.name())).isEqualTo(program.output())));
    }

    private List<String> run(String name) throws Exception {
        Class<?> program = classes.loadClass(name);
        Method main = program.getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        Object instance = null;
        if (!Modifier.isStatic(main.getModifiers())) {
            Constructor<?> constructor = program.getDeclaredConstructor();
            constructor.setAccessible(true);
            instance = constructor.newInstance();
        }
        PrintStream console = System.out;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
            main.invoke(instance, (Object) new String[] {RdmaTestDevice.get().ipv4().getHostAddress()});
        } finally {
            System.setOut(console);
        }
        return output.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static List<String> blocks(String document) throws Exception {
        return Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(
                Documents.root().resolve(document))).results().map(block -> block.group(1)).toList();
    }
}
