// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

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

/** A program that runs, in a thread of this JVM or in a process of its own, and what it prints. */
public final class Program implements AutoCloseable {
    /** How long anything may take on the slowest machine; no test waits so long when all is well. */
    public static final Duration LIMIT = Duration.ofMinutes(4);

    private static final int PAUSE = 10;

    private final String name;
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private FutureTask<Integer> task;
    private Thread thread;
    // null when it runs in a thread
    private Process process;

    private Program(String name) {
        this.name = name;
    }

    /**
     * How it ended.
     *
     * @param status its exit status
     * @param out what it printed
     * @param err what it printed to standard error
     */
    public record Result(int status, String out, String err) {
        /** Line by line what it printed. */
        public List<String> outLines() {
            return out.lines().toList();
        }

        /** Line by line what it printed to standard error. */
        public List<String> errLines() {
            return err.lines().toList();
        }
    }

    /** One of our programs, in a thread. */
    public static Program inThread(String... arguments) {
        Program program = new Program(String.join(" ", arguments));
        program.start(() -> Main.run(new PrintWriter(program.out, true), new PrintWriter(program.err, true),
                arguments));
        return program;
    }

    /** One of our programs, in a JVM of its own. */
    public static Program inJvm(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(javaCommand(Main.class));
        command.addAll(List.of(arguments));
        return process(new ProcessBuilder(command));
    }

    /** Any program. */
    public static Program process(String... command) throws IOException {
        return process(new ProcessBuilder(command));
    }

    /** Any program. */
    public static Program process(ProcessBuilder builder) throws IOException {
        Program program = new Program(String.join(" ", builder.command()));
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

    /** What starts a main class of this class path. */
    public static List<String> javaCommand(Class<?> main) {
        List<String> command = ForkedJvm.command();
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xshare:auto", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), main.getName()));
        return command;
    }

    /** The process that it runs in. */
    public long pid() {
        return process == null ? ProcessHandle.current().pid() : process.pid();
    }

    /** Whether it has ended. */
    public boolean hasEnded() {
        return task.isDone();
    }

    /** What it has printed so far, on both streams. */
    public String output() {
        return out.toString() + err;
    }

    /** Waits until it has printed something. */
    public Matcher awaitOutput(String regex) throws InterruptedException {
        return await(out, regex);
    }

    /** Waits until it has printed something to standard error. */
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

    /** Waits for its end. */
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

    /** Ends it by force: SIGKILL for a process, an interrupt for a thread. */
    public void kill() {
        if (process == null) {
            thread.interrupt();
        } else {
            // by its handle: the process itself would close the streams that are still read
            process.toHandle().destroyForcibly();
        }
    }

    /** Ends it if it has not ended by itself. */
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
