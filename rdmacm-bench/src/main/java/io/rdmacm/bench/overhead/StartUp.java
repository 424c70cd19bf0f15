// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Side;
import io.rdmacm.bench.report.Summary;

/**
 * Measures the time from the start of a JVM until its first request has completed: with nothing but the JVM's own
 * archive of classes, and with a cache of the classes that the program loads (JEP 483).
 */
final class StartUp {
    private StartUp() {
    }

    /** Returns a result for each start. The cache is left out where the JVM cannot write it. */
    static List<Result> measure(int rounds) throws IOException, InterruptedException {
        List<Result> results = new ArrayList<>();
        Path folder = Files.createTempDirectory("rdmacm-bench");
        Path cache = folder.resolve("classes.aot");
        try {
            // fails where classes are not in jars
            program("-Xlog:aot*=off", "-XX:AOTCacheOutput=" + cache).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
            boolean cached = Files.exists(cache);
            for (int round = 1; round <= rounds; round++) {
                results.add(result(false, round, start()));
                if (cached) {
                    results.add(result(true, round, start("-Xlog:aot*=off", "-XX:AOTCache=" + cache)));
                }
            }
        } finally {
            Files.deleteIfExists(cache);
            // what is left if it failed
            Files.deleteIfExists(folder.resolve("classes.aot.config"));
            Files.delete(folder);
        }
        return results;
    }

    private static Result result(boolean cache, int round, double millis) {
        System.out.printf("first post after %.0f ms%s%n", millis, cache ? " with a cache of classes" : "");
        return new Result(Summary.FIRST_POST, Side.JAVA, Map.of("cache", cache, Result.ROUND, round), Summary.TIME,
                "ms", millis);
    }

    /** Returns the milliseconds until the program has said that its request has completed. */
    private static double start(String... options) throws IOException, InterruptedException {
        ProcessBuilder program = program(options).redirectError(ProcessBuilder.Redirect.INHERIT);
        long start = System.nanoTime();
        Process process = program.start();
        try (BufferedReader output = process.inputReader()) {
            String line = output.readLine();
            double millis = (System.nanoTime() - start) / 1e6;
            if (process.waitFor() != 0 || !FirstPost.DONE.equals(line)) {
                throw new IOException("the first post failed: " + line);
            }
            return millis;
        }
    }

    private static ProcessBuilder program(String... options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:+UseSerialGC");
        command.addAll(List.of(options));
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                FirstPost.class.getName()));
        return new ProcessBuilder(command);
    }
}
