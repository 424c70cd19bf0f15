// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.machine;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Runs the programs in C: those of this machine, and small ones that are compiled when the benchmark runs. */
public final class Programs implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int PORTS = 18515;
    private static final int PORTS_COUNT = 10_000;
    private static final int PAUSE_MILLIS = 20;
    // The server listens as soon as it can; on a busy machine that takes some time.
    private static final Duration START = Duration.ofSeconds(60);

    private final Cpus cpus;
    private final Path folder;

    /** Prepares to run programs, peers on a CPU each if there are enough. */
    public Programs(Cpus cpus) throws IOException {
        this.cpus = cpus;
        this.folder = Files.createTempDirectory("rdmacm-bench");
    }

    /** {@return whether a program is on PATH} */
    public static boolean exists(String program) {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":"))
                .anyMatch(path -> Files.isExecutable(Path.of(path, program)));
    }

    /** {@return the path of a file that a program may write} */
    public Path file(String name) {
        return folder.resolve(name);
    }

    /** {@return a program or library, compiled from the resource with this name} */
    public Path compiled(String name, String... options) throws IOException, InterruptedException {
        Path target = folder.resolve(name);
        if (!Files.exists(target)) {
            Path source = folder.resolve(name + ".c");
            try (InputStream text = Programs.class.getResourceAsStream(name + ".c")) {
                Files.write(source, text.readAllBytes());
            }
            List<String> command = new ArrayList<>(List.of("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o",
                    target.toString(), source.toString()));
            command.addAll(List.of(options));
            run(Map.of(), command);
        }
        return target;
    }

    /**
     * Runs a program until it exits.
     *
     * @param environment additional environment variables
     * @param command the program and its arguments
     * @return its standard output and standard error
     * @throws IOException if it cannot be started, takes too long or exits with a status other than 0
     */
    public String run(Map<String, String> environment, List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "client", ".out");
        Process process = start(environment, output, command);
        try {
            if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new IOException(command.getFirst() + " did not end within " + LIMIT.toSeconds() + " s");
            }
            String text = Files.readString(output);
            if (process.exitValue() != 0) {
                throw new IOException(String.join(" ", command) + " ended with " + process.exitValue() + ": "
                        + text.strip());
            }
            return text;
        } finally {
            process.destroyForcibly().waitFor();
            Files.delete(output);
        }
    }

    private static Process start(Map<String, String> environment, Path output, List<String> command)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile()).redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** Reads what a program printed. */
    @FunctionalInterface
    public interface Reader<T> {
        /** {@return the figure}
         *
         * @throws IOException if there is none
         */
        T read(String output) throws IOException;
    }

    /** Runs a server, and a client until it has reached the server. */
    public <T> T besideServer(Map<String, String> environment, List<String> server, List<String> client,
            Reader<T> reader) throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "server", ".out");
        Process process = start(environment, output, pinned(cpus.server(), server));
        long end = System.nanoTime() + START.toNanos();
        try {
            while (true) {
                try {
                    return reader.read(run(environment, pinned(cpus.client(), client)));
                } catch (IOException e) {
                    if (!process.isAlive() || System.nanoTime() - end > 0) {
                        throw new IOException(e.getMessage() + "; the server: " + Files.readString(output).strip(), e);
                    }
                    Thread.sleep(PAUSE_MILLIS);
                }
            }
        } finally {
            process.destroyForcibly().waitFor();
            Files.delete(output);
        }
    }

    /** {@return a port that is free most probably} */
    public static String anyPort() {
        return Integer.toString(PORTS + ThreadLocalRandom.current().nextInt(PORTS_COUNT));
    }

    private static List<String> pinned(List<String> prefix, List<String> command) {
        List<String> all = new ArrayList<>(prefix);
        all.addAll(command);
        return all;
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
