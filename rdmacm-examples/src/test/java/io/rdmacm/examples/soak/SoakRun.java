// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;

import io.rdmacm.core.EventChannel;
import io.rdmacm.verbs.testing.ResourceCounts;

/** A soak: runs one interval after the other, and checks between them that everything has been released. */
final class SoakRun {
    // The watchdog reports a hang after this many timeouts.
    private static final int TIMEOUTS_TO_HANG = 3;
    private static final double SECOND = 1e9;
    private static final double MEGA = 1 << 20;

    private final Plan plan;
    private final PrintWriter out;
    private final Counters counters = new Counters();
    private final Trend allocated = new Trend();
    private final Trend resident = new Trend();
    // The first run of each scenario, before the clock starts, does not count.
    private Counters.Snapshot first = counters.snapshot();
    private final long start = System.nanoTime();

    SoakRun(Plan plan, PrintWriter out) {
        this.plan = plan;
        this.out = out;
    }

    /** Runs the soak, prints what went wrong, and returns whether nothing did. */
    boolean run() throws IOException, InterruptedException {
        try (Watchdog watchdog = new Watchdog(plan.timeout().multipliedBy(TIMEOUTS_TO_HANG), out)) {
            long objects = ResourceCounts.now().objects();
            waitInVirtualThread();
            Interval.Failure failure = new Interval(plan, counters, watchdog).runEachOnce();
            if (failure != null) {
                return failed(failure);
            }
            // Whatever is loaded or opened once per process is included from here on.
            Sample idle = Sample.take(counts -> counts.objects() == objects, plan.timeout());
            print("each scenario once; " + idle);
            if (idle.counts().objects() != objects) {
                return leaked(objects + " objects", idle);
            }
            return runIntervals(watchdog, idle);
        }
    }

    /** Opens the file that virtual threads wait with, which no scenario may need when it runs for the first time. */
    private static void waitInVirtualThread() throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open()) {
            Thread.ofVirtual().start(() -> {
                try {
                    channel.pollEvent(Duration.ofSeconds(1));
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }).join();
        }
    }

    private boolean runIntervals(Watchdog watchdog, Sample idle) throws IOException, InterruptedException {
        long began = System.nanoTime();
        long end = began + plan.duration().toNanos();
        first = counters.snapshot();
        Counters.Snapshot before = first;
        for (int number = 1; !isOver(end); number++) {
            long now = System.nanoTime();
            long pause = Math.min(end, now + plan.interval().toNanos());
            Interval.Failure failure = new Interval(plan, counters, watchdog).run(number, () -> isOver(pause));
            double seconds = (System.nanoTime() - now) / SECOND;
            Counters.Snapshot after = counters.snapshot();
            if (failure != null) {
                return failed(failure);
            }
            Sample sample = Sample.take(counts -> !counts.exceed(idle.counts()), plan.timeout());
            allocated.add(sample.allocated());
            resident.add(sample.resident());
            print(after.minus(before).format(seconds) + "; " + sample);
            if (sample.counts().exceed(idle.counts())) {
                return leaked(idle.toString(), sample);
            }
            before = after;
        }
        print("in all " + counters.snapshot().minus(first).format((System.nanoTime() - began) / SECOND));
        return checkTotals();
    }

    private boolean checkTotals() {
        out.println("operations: " + counters.operationsByName());
        out.println("faults: " + counters.faultsByName());
        boolean grows = grows("malloc", allocated) | grows("RSS", resident);
        if (grows) {
            out.println("LEAK: memory outside the heap");
            return false;
        }
        if (plan.connections() != Long.MAX_VALUE && connections() < plan.connections()) {
            out.printf("TOO SLOW: %d connections of %d in the time given%n", connections(), plan.connections());
            return false;
        }
        out.println("OK: nothing lost, nothing leaked");
        return true;
    }

    private boolean grows(String name, Trend memory) {
        if (memory.isKnown()) {
            out.printf("%s: rises by %.1f MiB over the second half (%d samples; up to %.0f MiB is noise)%n",
                    name, memory.rise() / MEGA, memory.points(), Trend.NOISE / MEGA);
        } else {
            out.printf("%s: too few samples (%d after the warm-up, %d needed) to tell whether it rises%n",
                    name, memory.points(), Trend.PARTS);
        }
        return memory.grows();
    }

    private boolean isOver(long end) {
        return System.nanoTime() >= end || connections() >= plan.connections();
    }

    private long connections() {
        return counters.connections() - first.connections();
    }

    private boolean failed(Interval.Failure failure) {
        out.println("LOSS: in " + failure.where());
        failure.reason().printStackTrace(out);
        return false;
    }

    private boolean leaked(String expected, Sample found) {
        out.println("LEAK: " + expected + " before, and now " + found);
        out.println("-Dio.rdmacm.leakDetection=true in RDMACM_JAVA_OPTS shows where leaked objects were created");
        return false;
    }

    private void print(String text) {
        Duration since = Duration.ofNanos(System.nanoTime() - start);
        out.printf("%02d:%02d %s%n", since.toMinutes(), since.toSecondsPart(), text);
    }
}
