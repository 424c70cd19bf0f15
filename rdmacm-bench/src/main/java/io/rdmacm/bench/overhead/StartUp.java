// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;

import io.rdmacm.bench.overhead.VerbsStack.Payload;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;

/** Measures the time from the start of a JVM until its first request has completed. */
final class StartUp {
    private static final String DONE = "completed";

    private StartUp() {
    }

    /** A program that posts one request, polls its completion, and says so. */
    static final class FirstPost {
        private FirstPost() {
        }

        /** Runs the program. */
        public static void main(String[] args) throws RdmaException {
            try (VerbsStack stack = new VerbsStack(false, VerbsStack.DEPTH, 1, 1)) {
                SendRequests writes = stack.writes(1, Payload.ONE_ENTRY);
                WorkCompletions completions = WorkCompletions.allocate(1);
                stack.pairs[0].postSend(writes, 0, 1);
                while (stack.queue.poll(completions) == 0) {
                    Thread.onSpinWait();
                }
                System.out.println(DONE);
            }
        }
    }

    /** Returns the milliseconds until the program has said that its request has completed. */
    static double millis() throws IOException, InterruptedException {
        ProcessBuilder program = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                FirstPost.class.getName()).redirectError(ProcessBuilder.Redirect.INHERIT);
        long start = System.nanoTime();
        Process process = program.start();
        try (BufferedReader output = process.inputReader()) {
            String line = output.readLine();
            double millis = (System.nanoTime() - start) / 1e6;
            if (process.waitFor() != 0 || !DONE.equals(line)) {
                throw new IOException("the first post failed: " + line);
            }
            return millis;
        }
    }
}
