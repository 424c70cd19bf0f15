// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.util.EnumMap;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** How long each step has taken, for all connections together and for each of them: the table of cmtime. */
final class StepTimes {
    private static final double MICROSECOND = TimeUnit.MICROSECONDS.toNanos(1);
    private static final double MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    private final Map<Step, Long> totals = new EnumMap<>(Step.class);
    private final Map<Step, LongSummaryStatistics> each = new EnumMap<>(Step.class);

    /** The steps that are measured. */
    enum Step {
        CREATE_ID("create id", "creating id"), BIND_ADDR("bind addr", "binding source address"),
        RESOLVE_ADDR("resolve addr", "resolving address"), RESOLVE_ROUTE("resolve route", "resolving route"),
        CREATE_QP("create qp", "creating qp"), CONNECT("connect", "connecting"),
        DISCONNECT("disconnect", "disconnecting"), DESTROY("destroy", "destroying id");

        private final String row;
        private final String title;

        Step(String row, String title) {
            this.row = row;
            this.title = title;
        }

        /** Returns what is printed when the step begins. */
        String title() {
            return title;
        }
    }

    /** Records how long a step has taken for all connections. */
    void addTotal(Step step, long nanos) {
        totals.put(step, nanos);
    }

    /** Records how long a step has taken for one connection. */
    synchronized void add(Step step, long nanos) {
        each.computeIfAbsent(step, first -> new LongSummaryStatistics()).accept(nanos);
    }

    /** Returns the table, with a line for each step that was run. */
    synchronized String table(int connections) {
        return totals.entrySet().stream().map(total -> line(total.getKey(), total.getValue(), connections))
                .collect(Collectors.joining(System.lineSeparator(),
                        "step              total ms     max ms     min us  us / conn" + System.lineSeparator(), ""));
    }

    private String line(Step step, long total, int connections) {
        LongSummaryStatistics times = each.getOrDefault(step, new LongSummaryStatistics());
        return String.format(Locale.ROOT, "%-13s: %11.2f%11.2f%11.2f%11.2f", step.row, total / MILLISECOND,
                times.getCount() == 0 ? 0 : times.getMax() / MILLISECOND,
                times.getCount() == 0 ? 0 : times.getMin() / MICROSECOND, total / MICROSECOND / connections);
    }
}
