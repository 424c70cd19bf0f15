// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Finds and runs programs of this machine. */
public final class Commands {
    private Commands() {
    }

    /** {@return the path of a program that is on PATH} */
    public static Optional<Path> find(String program) {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":"))
                .map(folder -> Path.of(folder, program)).filter(Files::isExecutable).findFirst();
    }

    /**
     * Runs a program until it exits.
     *
     * @param limit the time after which it is killed
     * @param environment additional environment variables
     * @param command the program and its arguments
     * @return its standard output and standard error
     * @throws IOException if it cannot be started, times out or exits with a status other than 0
     */
    public static String run(Duration limit, Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        Path output = Files.createTempFile("rdmacm-bench", ".out");
        Process process = null;
        try {
            process = start(environment, output, command);
            if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
                throw new IOException(command.getFirst() + " did not end within " + limit.toSeconds() + " s");
            }
            String text = Files.readString(output);
            if (process.exitValue() != 0) {
                throw new IOException(String.join(" ", command) + " ended with " + process.exitValue() + ": "
                        + text.strip());
            }
            return text;
        } finally {
            if (process != null) {
                process.destroyForcibly().waitFor();
            }
            Files.deleteIfExists(output);
        }
    }

    /**
     * Starts a program.
     *
     * @param environment additional environment variables
     * @param output the file for its standard output and standard error
     * @param command the program and its arguments
     */
    public static Process start(Map<String, String> environment, Path output, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile()).redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        return builder.start();
    }
}
