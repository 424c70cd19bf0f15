// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Programs of this machine. */
final class Commands {
    private Commands() {
    }

    /** {@return where a program is that PATH leads to} */
    static Optional<Path> find(String program) {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":"))
                .map(folder -> Path.of(folder, program)).filter(Files::isExecutable).findFirst();
    }

    /**
     * Runs a program to its end.
     *
     * @param limit after which it is killed
     * @param environment what it has besides
     * @param command the program and its arguments
     * @return what it printed, on both streams
     * @throws IOException when it fails
     */
    static String run(Duration limit, Map<String, String> environment, List<String> command)
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
     * @param environment what it has besides
     * @param output the file for what it prints
     * @param command the program and its arguments
     */
    static Process start(Map<String, String> environment, Path output, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile()).redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        return builder.start();
    }
}
