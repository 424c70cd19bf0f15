// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Checks facts with a C compiler and the headers that the bindings are generated from. */
public final class CCompiler {
    private static final Path HEADERS = Path.of("src/main/jextract");
    // both include rdmacm.h
    private static final String INCLUDES = "#include \"mlx5.h\"\n#include \"efa.h\"\n";

    private final String compiler;
    private final List<String> options;
    private final Path directory;

    /** Uses a compiler with options of its own; the directory takes the files that it reads and writes. */
    public CCompiler(String compiler, List<String> options, Path directory) {
        this.compiler = compiler;
        this.options = options;
        this.directory = directory;
    }

    /** Returns why the compiler cannot be used here; empty if it can. */
    public String obstacle() throws IOException, InterruptedException {
        try {
            Processes.Result result = compile(INCLUDES, "-fsyntax-only");
            return result.status() == 0 ? "" : compiler + " cannot compile mlx5.h and efa.h (install libibverbs-dev, "
                    + "librdmacm-dev and the headers of the C library): " + result.firstError();
        } catch (IOException e) {
            return "there is no " + compiler;
        }
    }

    /** Compiles and runs a program that prints the values in C. Returns a line for each value that differs. */
    public List<String> compareByRunning(List<Facts.Fact> facts) throws IOException, InterruptedException {
        String source = facts.stream().map(fact -> "    printf(\"%lld\\n\", (long long) (" + fact.expression() + "));")
                .collect(Collectors.joining("\n",
                        INCLUDES + "#include <stdio.h>\nint main(void) {\n", "\n    return 0;\n}\n"));
        Path program = directory.resolve("facts");
        Processes.Result compiled = compile(source, "-o", program.toString());
        if (compiled.status() != 0) {
            throw new AssertionError("the facts do not compile: " + compiled.firstError());
        }
        Processes.Result printed = Processes.run(directory, List.of(program.toString()));
        List<String> values = printed.output().lines().toList();
        if (printed.status() != 0 || values.size() != facts.size()) {
            throw new AssertionError("the program printed " + values.size() + " values for " + facts.size());
        }
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < facts.size(); i++) {
            Facts.Fact fact = facts.get(i);
            long value = Long.parseLong(values.get(i));
            if (value != fact.value()) {
                differences.add(fact.claim() + ": " + fact.value() + " in Java, " + value + " in C");
            }
        }
        return differences;
    }

    /** Compiles assertions, for a compiler whose programs cannot run here. Returns the facts that do not hold. */
    public List<String> compareByCompiling(List<Facts.Fact> facts) throws IOException, InterruptedException {
        String source = facts.stream().map(fact -> "_Static_assert((" + fact.expression() + ") == " + fact.value()
                        + "L, \"" + fact.claim() + "\");")
                .collect(Collectors.joining("\n", INCLUDES, "\n"));
        Processes.Result compiled = compile(source, "-fsyntax-only");
        List<String> failed = compiled.output().lines().filter(line -> line.contains("static assertion failed: \""))
                .map(line -> line.split("\"")[1]).toList();
        if (compiled.status() != 0 && failed.isEmpty()) {
            throw new AssertionError("the facts do not compile: " + compiled.firstError());
        }
        return failed;
    }

    private Processes.Result compile(String source, String... arguments) throws IOException, InterruptedException {
        Path file = Files.writeString(directory.resolve("facts.c"), source);
        String headers = HEADERS.toAbsolutePath().toString();
        // The inline functions of verbs.h initialise mutexes, which rdmacm.h makes opaque.
        List<String> command = new ArrayList<>(List.of(compiler, "-std=gnu11", "-Wno-incompatible-pointer-types", "-I",
                headers));
        command.addAll(RdmaCore.includeOptions());
        command.addAll(options);
        command.addAll(List.of(arguments));
        command.add(file.toString());
        return Processes.run(directory, command);
    }
}
