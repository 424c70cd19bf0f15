// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.machine;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The C programs that are part of the benchmark, compiled when it runs. */
public final class CPrograms implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final Path folder;

    public CPrograms() throws IOException {
        folder = Files.createTempDirectory("rdmacm-bench");
    }

    /** {@return a library that makes polls yield the CPU when it is preloaded into perftest} */
    public Path yielding() throws IOException, InterruptedException {
        return compile("yield", List.of("-shared", "-fPIC"), List.of("-ldl"));
    }

    /** {@return a library that makes cmtime post receives when it is preloaded} */
    public Path receiving() throws IOException, InterruptedException {
        return compile("receive", List.of("-shared", "-fPIC"), List.of("-ldl", "-libverbs"));
    }

    /** {@return the file that this library writes the duration of a test to} */
    public Path elapsed() {
        return folder.resolve("elapsed");
    }

    /** {@return a program that measures memory registration} */
    public Path register() throws IOException, InterruptedException {
        return compile("register", List.of(), List.of("-libverbs"));
    }

    /** {@return the number of cycles per microsecond, as perftest counts cycles} */
    public double cyclesPerMicrosecond() throws IOException, InterruptedException {
        Path program = compile("cycles", List.of(), List.of());
        return Double.parseDouble(Commands.run(LIMIT, Map.of(), List.of(program.toString())).strip());
    }

    private Path compile(String name, List<String> options, List<String> libraries)
            throws IOException, InterruptedException {
        Path source = folder.resolve(name + ".c");
        Path target = folder.resolve(name);
        if (!Files.exists(target)) {
            try (InputStream text = CPrograms.class.getResourceAsStream(name + ".c")) {
                Files.write(source, text.readAllBytes());
            }
            List<String> command = new ArrayList<>(List.of("gcc", "-O2", "-Wall", "-Wextra", "-Werror"));
            command.addAll(options);
            command.addAll(List.of("-o", target.toString(), source.toString()));
            command.addAll(libraries);
            Commands.run(LIMIT, Map.of(), command);
        }
        return target;
    }

    @Override
    public void close() throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
