// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** The start and end of each step, for each connection and for all together; prints the table of cmtime. */
final class StepTimes {
    private static final double MICROSECOND = TimeUnit.MICROSECONDS.toNanos(1);
    private static final double MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    private final int connections;
    private final Span[] totals = new Span[Step.values().length];
    private final Span[][] spans;

    /** The steps that are measured. */
    enum Step {
        CREATE_ID("create id"), BIND_ADDR("bind addr"), RESOLVE_ADDR("resolve addr"), RESOLVE_ROUTE("resolve route"),
        CREATE_QP("create qp"), CONNECT("connect"), DISCONNECT("disconnect"), DESTROY("destroy");

        private final String text;

        Step(String text) {
            this.text = text;
        }
    }

    /** Times of {@link System#nanoTime}; the end is 0 until the step has ended. */
    private record Span(long begin, long end) {
        long length() {
            return end - begin;
        }
    }

    StepTimes(int connections) {
        this.connections = connections;
        this.spans = new Span[totals.length][connections];
    }

    void begin(Step step) {
        totals[step.ordinal()] = new Span(System.nanoTime(), 0);
    }

    void end(Step step) {
        totals[step.ordinal()] = new Span(totals[step.ordinal()].begin, System.nanoTime());
    }

    void begin(Step step, int connection) {
        spans[step.ordinal()][connection] = new Span(System.nanoTime(), 0);
    }

    void end(Step step, int connection) {
        spans[step.ordinal()][connection] = new Span(spans[step.ordinal()][connection].begin, System.nanoTime());
    }

    /** Returns the table, with a line for each step that was run. */
    String table() {
        StringBuilder table = new StringBuilder("step              total ms     max ms     min us  us / conn");
        for (Step step : Step.values()) {
            Span total = totals[step.ordinal()];
            if (total != null) {
                table.append(System.lineSeparator()).append(line(step, total.length()));
            }
        }
        return table.toString();
    }

    private String line(Step step, long total) {
        long max = 0;
        long min = Long.MAX_VALUE;
        for (Span span : spans[step.ordinal()]) {
            if (span != null && span.end != 0) {
                max = Math.max(max, span.length());
                min = Math.min(min, span.length());
            }
        }
        return String.format(Locale.ROOT, "%-13s: %11.2f%11.2f%11.2f%11.2f", step.text, total / MILLISECOND,
                max / MILLISECOND, min == Long.MAX_VALUE ? 0 : min / MICROSECOND,
                total / MICROSECOND / connections);
    }
}
