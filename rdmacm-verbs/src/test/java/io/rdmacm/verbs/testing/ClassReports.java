// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes the report of a class as soon as its tests have ended, into the folder {@code -Dio.rdmacm.reports}: if the JVM
 * crashes, only those of the classes that had not ended are missing. Ends the JVM, with the stacks of all threads,
 * if a test runs for longer than {@code -Dio.rdmacm.testLimit} seconds.
 */
public final class ClassReports implements TestExecutionListener {
    /** Longer than any test takes on an emulated machine. */
    private static final long LIMIT = Duration.ofMinutes(30).toSeconds();
    private static final int HANGS = 3;

    private final Path folder = Optional.ofNullable(System.getProperty("io.rdmacm.reports")).map(Path::of).orElse(null);
    private final long limit = Duration.ofSeconds(Long.getLong("io.rdmacm.testLimit", LIMIT)).toNanos();
    private final Map<String, List<String>> cases = new LinkedHashMap<>();
    private final Map<TestIdentifier, Long> running = new LinkedHashMap<>();
    private final Set<String> recorded = new HashSet<>();
    private TestPlan plan;

    /** Created by JUnit. */
    public ClassReports() {
    }

    @Override
    public synchronized void testPlanExecutionStarted(TestPlan started) {
        plan = started;
        Thread.ofPlatform().daemon().name("time limit of the tests").start(this::watch);
    }

    @Override
    public synchronized void executionStarted(TestIdentifier test) {
        if (test.isTest()) {
            running.put(test, System.nanoTime());
        }
    }

    @Override
    public synchronized void executionSkipped(TestIdentifier test, String reason) {
        record(test, "<skipped>" + text(reason) + "</skipped>");
        written(test);
    }

    @Override
    public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
        String outcome = result.getThrowable().map(thrown -> outcome(result.getStatus(), thrown)).orElse("");
        if (test.isTest() || !outcome.isEmpty()) {
            record(test, outcome);
        }
        running.remove(test);
        written(test);
    }

    private static String outcome(TestExecutionResult.Status status, Throwable thrown) {
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace, true));
        return status == TestExecutionResult.Status.ABORTED ? "<skipped>" + text(trace.toString()) + "</skipped>"
                : failure(String.valueOf(thrown.getMessage()), thrown.getClass().getName(), trace.toString());
    }

    private static String failure(String message, String type, String trace) {
        return "<failure message=\"" + attribute(message) + "\" type=\"" + attribute(type) + "\">" + text(trace)
                + "</failure>";
    }

    /** The outcome of a test or, of a container, that of all tests in it that have none. */
    private void record(TestIdentifier test, String outcome) {
        List<TestIdentifier> tests = test.isTest() ? List.of(test) : plan.getDescendants(test).stream()
                .filter(TestIdentifier::isTest).filter(one -> !recorded.contains(one.getUniqueId())).toList();
        for (TestIdentifier one : tests.isEmpty() ? List.of(test) : tests) {
            recorded.add(one.getUniqueId());
            String type = className(one);
            double seconds = running.containsKey(one) ? (System.nanoTime() - running.get(one)) / 1e9 : 0;
            cases.computeIfAbsent(outer(type), _ -> new ArrayList<>()).add("<testcase classname=\"" + attribute(type)
                    + "\" name=\"" + attribute(one.getLegacyReportingName()) + "\" time=\"" + seconds + "\">" + outcome
                    + "</testcase>");
        }
    }

    private String className(TestIdentifier test) {
        return test.getSource().map(source -> source instanceof MethodSource method ? method.getClassName()
                : source instanceof ClassSource type ? type.getClassName() : null)
                .or(() -> plan.getParent(test).map(this::className)).orElse("");
    }

    private static String outer(String type) {
        return type.replaceFirst("\\$.*", "");
    }

    private void written(TestIdentifier test) {
        if (test.getSource().filter(ClassSource.class::isInstance).isPresent()) {
            write(outer(className(test)));
        }
    }

    private void write(String type) {
        if (folder == null || !cases.containsKey(type)) {
            return;
        }
        try {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("TEST-" + type + ".xml"), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    + "<testsuite name=\"" + type + "\">\n" + String.join("\n", cases.get(type)) + "\n</testsuite>\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void watch() {
        while (true) {
            try {
                Thread.sleep(Duration.ofNanos(limit / 20));
            } catch (InterruptedException e) {
                return;
            }
            endIfATestHangs();
        }
    }

    private synchronized void endIfATestHangs() {
        for (Map.Entry<TestIdentifier, Long> one : Map.copyOf(running).entrySet()) {
            if (System.nanoTime() - one.getValue() > limit) {
                String name = className(one.getKey()) + "." + one.getKey().getLegacyReportingName();
                StringBuilder stacks = new StringBuilder(name + " does not end:\n");
                Thread.getAllStackTraces().forEach((thread, stack) -> {
                    stacks.append(thread).append('\n');
                    for (StackTraceElement frame : stack) {
                        stacks.append("\tat ").append(frame).append('\n');
                    }
                });
                System.err.println(stacks);
                record(one.getKey(), failure("does not end", "time limit", stacks.toString()));
                write(outer(className(one.getKey())));
                Runtime.getRuntime().halt(HANGS);
            }
        }
    }

    private static String text(String words) {
        return "<![CDATA[" + legal(words).replace("]]>", "]]]]><![CDATA[>") + "]]>";
    }

    private static String attribute(String words) {
        return legal(words).replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;").replace("\n", "&#10;");
    }

    /** Without the characters that XML does not have. */
    private static String legal(String words) {
        return words.replaceAll("[^\\t\\n\\r -\\x{D7FF}\\x{E000}-\\x{FFFD}\\x{10000}-\\x{10FFFF}]", "?");
    }
}
