// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Runs a main class of the tests in a JVM of its own: for what is decided once a JVM. */
public final class ForkedJvm {
    private static final long MINUTES = 10;

    private final List<String> options = new ArrayList<>();
    private final List<String> wrapper = new ArrayList<>();
    private final Class<?> main;
    private List<String> path = List.of("-cp", System.getProperty("java.class.path"));

    private ForkedJvm(Class<?> main) {
        this.main = main;
        String library = System.getProperty(FakeVerbs.PROPERTY);
        if (library != null) {
            property(FakeVerbs.PROPERTY, library);
        }
    }

    /**
     * How it ended.
     *
     * @param status its exit status
     * @param output what it wrote to standard output
     * @param errors what it wrote to standard error
     */
    public record Result(int status, String output, String errors) {
    }

    /** The java of this JVM, with the options that a JVM should have on this machine: an emulated one sets some. */
    public static List<String> command() {
        String light = System.getenv().getOrDefault("RDMACM_JAVA_OPTS", "-XX:+UseSerialGC");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(light.strip().split("\\s+")));
        return command;
    }

    /** A JVM on the class path of this one, without leave to call native code. */
    public static ForkedJvm of(Class<?> main) {
        return new ForkedJvm(main);
    }

    /** Adds options of the java command. */
    public ForkedJvm options(String... more) {
        options.addAll(List.of(more));
        return this;
    }

    /** Sets a system property; the last one counts. */
    public ForkedJvm property(String name, String value) {
        return options("-D" + name + "=" + value);
    }

    /** Lets the class path call native code. */
    public ForkedJvm nativeAccess() {
        return options("--enable-native-access=ALL-UNNAMED");
    }

    /**
     * Puts jars or folders on the module path; only the main class stays on the class path.
     *
     * @param root the module to resolve
     * @param members a class of each jar or folder
     */
    public ForkedJvm modules(String root, Class<?>... members) {
        String modules = Arrays.stream(members).map(ForkedJvm::location)
                .collect(Collectors.joining(System.getProperty("path.separator")));
        path = List.of("-p", modules, "--add-modules", root, "-cp", location(main));
        return this;
    }

    /** Starts the JVM by another program, which gets the command as its last arguments; the first one is outermost. */
    public ForkedJvm by(String... program) {
        wrapper.addAll(List.of(program));
        return this;
    }

    /** Takes another class path. */
    public ForkedJvm classPath(String entries) {
        path = List.of("-cp", entries);
        return this;
    }

    private ProcessBuilder process(String... arguments) {
        List<String> command = new ArrayList<>(wrapper);
        command.addAll(command());
        command.addAll(options);
        command.addAll(path);
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    /** Starts it, to be talked to, and to be ended by the caller; its standard error is written to a file. */
    public Process start(Path errors, String... arguments) throws IOException {
        return process(arguments).redirectError(errors.toFile()).start();
    }

    /** Runs it to its end. */
    public Result run(String... arguments) throws IOException, InterruptedException {
        Path output = Files.createTempFile("forked", ".out");
        Path errors = Files.createTempFile("forked", ".err");
        try {
            Process process = process(arguments).redirectOutput(output.toFile())
                    .redirectError(errors.toFile()).start();
            if (!process.waitFor(MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly().waitFor();
            }
            return new Result(process.exitValue(), Files.readString(output), Files.readString(errors));
        } finally {
            Files.delete(output);
            Files.delete(errors);
        }
    }

    private static String location(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }
}
