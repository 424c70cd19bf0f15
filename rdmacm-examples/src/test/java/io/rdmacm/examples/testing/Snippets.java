// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;

/** The programs in README.md and docs/guide. */
public final class Snippets {
    private static final Pattern PROGRAM = Pattern.compile(
            "```java\n// (\\w+)\\.java\n(.*?)```\n+```text\n(.*?)```", Pattern.DOTALL);
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static final Path CLASSES = Documents.root().resolve("rdmacm-examples/target/snippets/classes");

    /**
     * A program.
     *
     * @param name its class
     * @param source all of its code
     * @param output the lines that the document says it prints
     */
    public record Program(String name, String source, List<String> output) {
    }

    private Snippets() {
    }

    /** Compiles them, so that a test in a slow guest need not. */
    public static void main(String[] args) throws IOException {
        compile(all());
    }

    /** Returns the program of the README, Hello, and those of the guide; each of their blocks of Java is one. */
    public static List<Program> all() throws IOException {
        List<Program> programs = new ArrayList<>();
        programs.add(new Program("Hello", blocks(read("README.md")).getFirst(), List.of("hello from far away")));
        for (Path page : Documents.below("docs/guide")) {
            String text = Files.readString(page);
            int before = programs.size();
            for (Matcher program = PROGRAM.matcher(text); program.find();) {
                programs.add(new Program(program.group(1), program.group(2), program.group(3).lines().toList()));
            }
            if (programs.size() != before + blocks(text).size()) {
                throw new IllegalStateException(page + " has Java that is no program, without a name or an output");
            }
        }
        return programs;
    }

    /** Returns the folder of their classes, compiled now unless they have been. */
    public static Path classes(List<Program> programs) throws IOException {
        for (Program program : programs) {
            Path source = source(program);
            if (!Files.exists(CLASSES.resolve(program.name() + ".class")) || !Files.exists(source)
                    || !Files.readString(source).equals(program.source())) {
                compile(programs);
                break;
            }
        }
        return CLASSES;
    }

    private static void compile(List<Program> programs) throws IOException {
        Files.createDirectories(CLASSES);
        List<String> arguments = new ArrayList<>(List.of("-cp", System.getProperty("java.class.path"), "-d",
                CLASSES.toString()));
        for (Program program : programs) {
            Files.deleteIfExists(CLASSES.resolve(program.name() + ".class"));
            arguments.add(Files.writeString(source(program), program.source()).toString());
        }
        // All in one run: most of the time goes into starting the compiler.
        javac(arguments);
    }

    private static Path source(Program program) {
        return CLASSES.resolveSibling(program.name() + ".java");
    }

    private static void javac(List<String> arguments) {
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        PrintStream errors = new PrintStream(messages, true, StandardCharsets.UTF_8);
        if (ToolProvider.findFirst("javac").orElseThrow().run(errors, errors, arguments.toArray(String[]::new)) != 0) {
            throw new IllegalStateException(messages.toString(StandardCharsets.UTF_8));
        }
    }

    private static String read(String document) throws IOException {
        return Files.readString(Documents.root().resolve(document));
    }

    private static List<String> blocks(String document) {
        return BLOCK.matcher(document).results().map(block -> block.group(1)).toList();
    }
}
