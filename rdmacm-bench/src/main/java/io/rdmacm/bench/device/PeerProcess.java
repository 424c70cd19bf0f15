// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.EOFException;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A {@link Peer} in a JVM of its own. */
final class PeerProcess implements AutoCloseable {
    private static final long LIMIT_SECONDS = 300;

    private final Process process;
    private final ObjectOutputStream calls;
    private ObjectInputStream answers;

    /**
     * Starts a process.
     *
     * @param prefix the command prefix, such as {@code taskset}
     * @param heap the size of the heap in megabytes
     */
    PeerProcess(List<String> prefix, int heap) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // the options of this JVM suit the machine
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(option -> option.startsWith("-X"))
                .forEach(command::add);
        // otherwise the first access to each page of the heap would be measured too
        command.addAll(List.of("-Xms" + heap + "m", "-Xmx" + heap + "m", "-XX:+AlwaysPreTouch",
                // what is outside of the heap is not bounded by it
                "-XX:MaxDirectMemorySize=1g",
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                Peer.class.getName()));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        calls = new ObjectOutputStream(process.getOutputStream());
    }

    /** Sends a call. */
    void send(Peer.Call call) throws IOException {
        calls.reset();
        calls.writeObject(call);
        calls.flush();
    }

    /** Waits for the answer to a call. */
    Object receive() throws IOException {
        CompletableFuture<Void> limit = CompletableFuture.runAsync(process::destroyForcibly,
                CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS));
        try {
            if (answers == null) {
                answers = new ObjectInputStream(process.getInputStream());
            }
            Object received = answers.readObject();
            if (received instanceof Peer.Failure(String message)) {
                throw new IOException(message);
            }
            return received;
        } catch (EOFException | ClassNotFoundException e) {
            throw new IOException("the peer's process ended, or was ended after " + LIMIT_SECONDS + " s", e);
        } finally {
            limit.cancel(false);
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
