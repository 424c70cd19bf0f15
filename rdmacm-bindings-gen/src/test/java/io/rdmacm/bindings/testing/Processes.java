// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings.testing;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.rdmacm.bindings.Rdma;

/** Runs programs and JVMs. */
public final class Processes {
    /** The outcome of a program: its exit status and what it wrote. */
    public record Result(int status, String output) {
        /** Returns the first line that reports an error, or everything if there is none. */
        public String firstError() {
            return output.lines().filter(line -> line.contains("error")).findFirst().orElse(output);
        }
    }

    private Processes() {
    }

    /** Runs a program to its end. The output is what it writes to standard output and standard error. */
    public static Result run(Path directory, List<String> command) throws IOException, InterruptedException {
        return run(directory, Map.of(), command);
    }

    /** Runs a program to its end, with additional environment variables. */
    public static Result run(Path directory, Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
        // The messages of compilers are read, so they must not be translated.
        builder.environment().put("LC_ALL", "C");
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    /** Runs a main class of the tests in a JVM of its own. */
    public static Result java(List<String> options, Class<?> main) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(jdk("java"), "-XX:+UseSerialGC"));
        command.addAll(options);
        String classPath = location(Rdma.class) + File.pathSeparator + location(main);
        command.addAll(List.of("-cp", classPath, main.getName()));
        return run(Path.of("").toAbsolutePath(), command);
    }

    /** Returns the path of a program of the JDK that runs the tests. */
    public static String jdk(String program) {
        return Path.of(System.getProperty("java.home"), "bin", program).toString();
    }

    private static Path location(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }
}
