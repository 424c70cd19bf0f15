// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;

import io.rdmacm.verbs.testing.ResourceCounts;

/** All shifts of a soak, and what is in use between them. */
final class Season {
    private static final int HANG = 3;
    private static final double SECOND = 1e9;
    private static final double MEGA = 1 << 20;

    private final Plan plan;
    private final PrintWriter out;
    private final Tally tally = new Tally();
    private final Trend memory = new Trend();
    // What the acts were rehearsed with does not count.
    private Tally.Count first = tally.count();
    private final long start = System.nanoTime();

    Season(Plan plan, PrintWriter out) {
        this.plan = plan;
        this.out = out;
    }

    /** Whether all went well; what did not is told. */
    boolean run() throws IOException, InterruptedException {
        try (Watchdog watchdog = new Watchdog(plan.patience().multipliedBy(HANG), out)) {
            long objects = ResourceCounts.now().objects();
            Shift.Failure failure = new Shift(plan, tally, watchdog).rehearse();
            if (failure != null) {
                return failed(failure);
            }
            // What is loaded and opened once is there now.
            Sample idle = Sample.take(counts -> counts.objects() == objects, plan.patience());
            say("each act once; " + idle);
            if (idle.counts().objects() != objects) {
                return leaked(objects + " objects", idle);
            }
            return play(watchdog, idle);
        }
    }

    private boolean play(Watchdog watchdog, Sample idle) throws IOException, InterruptedException {
        long began = System.nanoTime();
        long end = began + plan.duration().toNanos();
        first = tally.count();
        Tally.Count before = first;
        for (int shift = 1; !isOver(end); shift++) {
            long now = System.nanoTime();
            long pause = Math.min(end, now + plan.shift().toNanos());
            Shift.Failure failure = new Shift(plan, tally, watchdog).play(shift, () -> isOver(pause));
            double seconds = (System.nanoTime() - now) / SECOND;
            Tally.Count after = tally.count();
            if (failure != null) {
                return failed(failure);
            }
            Sample sample = Sample.take(idle.counts()::equals, plan.patience());
            memory.add(sample.resident());
            say(after.minus(before).in(seconds) + "; " + sample);
            if (!sample.counts().equals(idle.counts())) {
                return leaked(idle.toString(), sample);
            }
            before = after;
        }
        say("in all " + tally.count().minus(first).in((System.nanoTime() - began) / SECOND));
        return isWellAtTheEnd();
    }

    private boolean isWellAtTheEnd() {
        out.println("operations: " + tally.operationsByName());
        out.println("faults: " + tally.faultsByName());
        if (memory.isKnown()) {
            out.printf("RSS: rises by %.1f MiB over the second half (%d looks; up to %.0f MiB is noise)%n",
                    memory.rise() / MEGA, memory.points(), Trend.NOISE / MEGA);
        } else {
            out.printf("RSS: too few looks (%d after the warm-up, %d needed) to tell whether it rises%n",
                    memory.points(), Trend.LEAST);
        }
        if (memory.grows()) {
            out.println("LEAK: memory outside the heap, by the rise of RSS");
            return false;
        }
        if (plan.connections() != Long.MAX_VALUE && connections() < plan.connections()) {
            out.printf("TOO SLOW: %d connections of %d in the time given%n", connections(), plan.connections());
            return false;
        }
        out.println("well: nothing lost, nothing left");
        return true;
    }

    private boolean isOver(long end) {
        return System.nanoTime() >= end || connections() >= plan.connections();
    }

    private long connections() {
        return tally.connections() - first.connections();
    }

    private boolean failed(Shift.Failure failure) {
        out.println("LOSS: in " + failure.where());
        failure.reason().printStackTrace(out);
        return false;
    }

    private boolean leaked(String wanted, Sample found) {
        out.println("LEAK: " + wanted + " before, and now " + found);
        out.println("-Dio.rdmacm.leakDetection=true in RDMACM_JAVA_OPTS tells where lost objects were made");
        return false;
    }

    private void say(String text) {
        Duration since = Duration.ofNanos(System.nanoTime() - start);
        out.printf("%02d:%02d %s%n", since.toMinutes(), since.toSecondsPart(), text);
    }
}
