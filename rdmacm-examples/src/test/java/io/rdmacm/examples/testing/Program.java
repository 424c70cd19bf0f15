// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.rdmacm.examples.Main;
import io.rdmacm.verbs.testing.ForkedJvm;

/** A running program, in a thread of this JVM or in a process of its own, and its output. */
public final class Program implements AutoCloseable {
    /** The time that anything may take, on the slowest machine too. Tests reach it only if they fail. */
    public static final Duration LIMIT = Duration.ofMinutes(4);

    private static final int PAUSE = 10;

    private final String name;
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private FutureTask<Integer> task;
    private Thread thread;
    // null if the program runs in a thread
    private Process process;

    private Program(String name) {
        this.name = name;
    }

    /**
     * The outcome of a program.
     *
     * @param status its exit status
     * @param out its standard output
     * @param err its standard error
     */
    public record Result(int status, String out, String err) {
        /** Returns the lines of its standard output. */
        public List<String> outLines() {
            return out.lines().toList();
        }

        /** Returns the lines of its standard error. */
        public List<String> errLines() {
            return err.lines().toList();
        }
    }

    /** Starts one of the Java programs in a thread. */
    public static Program inThread(String... arguments) {
        Program program = new Program(String.join(" ", arguments));
        program.start(() -> Main.run(new PrintWriter(program.out, true), new PrintWriter(program.err, true),
                arguments));
        return program;
    }

    /** Starts one of the Java programs in a JVM of its own. */
    public static Program inJvm(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(javaCommand(Main.class));
        command.addAll(List.of(arguments));
        return process(String.join(" ", arguments) + " in a JVM", new ProcessBuilder(command));
    }

    /** Starts a command in a process of its own. */
    public static Program process(String... command) throws IOException {
        return process(new ProcessBuilder(command));
    }

    /** Starts a process. */
    public static Program process(ProcessBuilder builder) throws IOException {
        return process(String.join(" ", builder.command()), builder);
    }

    private static Program process(String name, ProcessBuilder builder) throws IOException {
        Program program = new Program(name);
        Process process = builder.start();
        program.process = process;
        program.start(() -> {
            Thread errors = Thread.ofPlatform().daemon().start(() -> copy(process.errorReader(), program.err));
            copy(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8), program.out);
            errors.join();
            return process.waitFor();
        });
        return program;
    }

    /** Returns the command that starts a main class with the class path of this JVM. */
    public static List<String> javaCommand(Class<?> main) {
        List<String> command = ForkedJvm.command();
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), main.getName()));
        return command;
    }

    /** Returns the id of the process that the program runs in. */
    public long pid() {
        return process == null ? ProcessHandle.current().pid() : process.pid();
    }

    /** Returns whether the program has ended. */
    public boolean hasEnded() {
        return task.isDone();
    }

    /** Returns what the program has printed so far, standard output first. */
    public String output() {
        return out.toString() + err;
    }

    /** Waits until the standard output has a match of a pattern, and returns it. */
    public Matcher awaitOutput(String regex) throws InterruptedException {
        return await(out, regex);
    }

    /** Waits until the standard error has a match of a pattern, and returns it. */
    public Matcher awaitError(String regex) throws InterruptedException {
        return await(err, regex);
    }

    private Matcher await(StringWriter stream, String regex) throws InterruptedException {
        Pattern pattern = Pattern.compile(regex);
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            boolean ended = task.isDone();
            Matcher matcher = pattern.matcher(stream.toString());
            if (matcher.find()) {
                return matcher;
            }
            if (ended || System.nanoTime() > end) {
                throw new AssertionError(name + (ended ? " ended" : " went on") + " without printing " + regex + ": "
                        + out + err);
            }
            Thread.sleep(PAUSE);
        }
    }

    /** Waits for the program to end. */
    public Result result() throws InterruptedException {
        try {
            return new Result(task.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS), out.toString(), err.toString());
        } catch (ExecutionException e) {
            throw new AssertionError(name + " failed: " + out + err, e.getCause());
        } catch (TimeoutException e) {
            AssertionError hanging = new AssertionError(name + " does not end: " + out + err);
            hanging.setStackTrace(thread.getStackTrace());
            throw hanging;
        }
    }

    /** Ends the program by force: kills the process, or interrupts the thread. */
    public void kill() {
        if (process == null) {
            thread.interrupt();
        } else {
            // Process.destroyForcibly would also close the streams that are still being read.
            process.toHandle().destroyForcibly();
        }
    }

    /** Ends the program by force unless it has ended. */
    @Override
    public void close() {
        if (task.isDone()) {
            return;
        }
        kill();
        try {
            result();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void start(Callable<Integer> body) {
        task = new FutureTask<>(body);
        thread = Thread.ofPlatform().daemon().name(name).start(task);
    }

    private static void copy(Reader reader, StringWriter writer) {
        try (reader) {
            reader.transferTo(writer);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
