// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A {@link Peer} in a JVM of its own. */
final class PeerProcess implements AutoCloseable {
    private static final int HEAP = 64;
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final Process process;
    private final BufferedWriter commands;
    private final BufferedReader answers;

    /**
     * Starts a process.
     *
     * @param prefix the command prefix, such as {@code taskset}
     * @param environment variables for it, unless they are set
     */
    PeerProcess(List<String> prefix, Map<String, String> environment) throws IOException {
        this(prefix, HEAP, environment);
    }

    /**
     * Starts a process.
     *
     * @param prefix the command prefix, such as {@code taskset}
     * @param heap the size of the heap in megabytes
     */
    PeerProcess(List<String> prefix, int heap) throws IOException {
        this(prefix, heap, Map.of());
    }

    private PeerProcess(List<String> prefix, int heap, Map<String, String> environment) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // the options of this JVM suit the machine
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(option -> option.startsWith("-X"))
                .forEach(command::add);
        // otherwise the first access to each page of the heap would be measured too
        command.addAll(List.of("-Xms" + heap + "m", "-Xmx" + heap + "m", "-XX:+AlwaysPreTouch",
                // that of the structs of a thousand channels is not bounded by the heap
                "-XX:MaxDirectMemorySize=1g",
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                Peer.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        environment.forEach(builder.environment()::putIfAbsent);
        process = builder.start();
        commands = process.outputWriter();
        answers = process.inputReader();
    }

    /** Sends a command. */
    void send(String command) throws IOException {
        commands.write(command);
        commands.newLine();
        commands.flush();
    }

    /**
     * Waits for the answer to a command.
     *
     * @param expected its first word
     * @return the rest of the line
     */
    String receive(String expected) throws IOException, InterruptedException {
        String line = receiveLine();
        if (!line.equals(expected) && !line.startsWith(expected + " ")) {
            throw new IOException(line);
        }
        return line.substring(Math.min(line.length(), expected.length() + 1));
    }

    /** {@return the next answer, whatever it is} */
    String receiveLine() throws IOException, InterruptedException {
        String line = readLine();
        if (line == null) {
            throw new IOException("the peer's process ended");
        }
        return line;
    }

    private String readLine() throws IOException, InterruptedException {
        CompletableFuture<String> line = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                line.complete(answers.readLine());
            } catch (IOException e) {
                line.completeExceptionally(e);
            }
        });
        try {
            return line.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IOException("the peer's process: " + e.getCause().getMessage(), e);
        } catch (TimeoutException e) {
            throw new IOException("the peer did not answer within " + LIMIT.toSeconds() + " s", e);
        }
    }

    /** Kills the process. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
