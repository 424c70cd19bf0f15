// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.testing.FakeVerbs;

/**
 * Runs races, and prints a line for each: name, races, uses, milliseconds. Ends with 1 when something was used after
 * its end, by two threads at once, or left behind; with 3 when a race hangs, and prints what all threads do.
 */
public final class RunRaces {
    private static final int FAILED = 1;
    private static final int HANGS = 3;

    private RunRaces() {
    }

    /**
     * The class of the {@link Races}, then any of {@code races=} how many of each at most, {@code millis=} how long
     * each at most, {@code only=} a regular expression of names, {@code watch=} 0 not, 1 by poison, 2 by protected
     * pages, 3 by a sanitizer, {@code turns=} how long a call of C takes, {@code hang=} seconds without progress that
     * are a hang.
     */
    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = new HashMap<>(Map.of("races", "1000", "millis", "1000", "only", ".*", "watch",
                "1", "turns", "4096", "hang", "120"));
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            if (equals > 0) {
                options.put(argument.substring(0, equals), argument.substring(equals + 1));
            }
        }
        FakeVerbs.reset();
        FakeVerbs.recording(false);
        FakeVerbs.call("fake_watch", number(options, "watch"), number(options, "turns"));
        Watchdog watchdog = new Watchdog(TimeUnit.SECONDS.toNanos(number(options, "hang")));
        String failure = "";
        try (Races races = (Races) Class.forName(arguments[0]).getDeclaredConstructor().newInstance()) {
            for (Race<?> race : races.all()) {
                if (failure.isEmpty() && race.name().matches(options.get("only"))) {
                    failure = run(race, races, watchdog, number(options, "races"),
                            TimeUnit.MILLISECONDS.toNanos(number(options, "millis")));
                }
            }
        }
        if (failure.isEmpty() && Lifetime.openObjects() != 0) {
            failure = Lifetime.openObjects() + " objects were left open";
        }
        if (failure.isEmpty() && FakeVerbs.live().values().stream().anyMatch(count -> count != 0)) {
            failure = "objects of C were left behind: " + FakeVerbs.live();
        }
        if (!failure.isEmpty()) {
            System.out.println("FAILED " + failure);
            System.out.flush();
            // what was left behind by a failed race may not let the JVM end
            Runtime.getRuntime().halt(FAILED);
        }
    }

    private static <T> String run(Race<T> race, Races races, Watchdog watchdog, long count, long nanos)
            throws Exception {
        RaceRun<T> run = new RaceRun<>(race, races::misuse);
        watchdog.watch(race.name(), run);
        long start = System.nanoTime();
        RaceRun.Outcome outcome = run.run(count, nanos);
        System.out.printf("%s\t%d\t%d\t%d%n", race.name(), outcome.races(), outcome.uses(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        return outcome.failure().isEmpty() ? "" : race.name() + ": " + outcome.failure();
    }

    private static long number(Map<String, String> options, String name) {
        return Long.parseLong(options.get(name));
    }

    /** Ends the JVM when a race makes no progress. */
    private static final class Watchdog {
        private record Watched(String name, RaceRun<?> run) {
        }

        private final long patience;
        private volatile Watched watched;

        Watchdog(long patience) {
            this.patience = patience;
            Thread.ofPlatform().daemon().name("watchdog").start(this::look);
        }

        void watch(String name, RaceRun<?> run) {
            watched = new Watched(name, run);
        }

        private void look() {
            Watched last = null;
            long progress = -1;
            long since = System.nanoTime();
            while (true) {
                try {
                    TimeUnit.MILLISECONDS.sleep(200);
                } catch (InterruptedException e) {
                    return;
                }
                Watched now = watched;
                if (now != last || now != null && now.run.progress() != progress) {
                    last = now;
                    progress = now.run.progress();
                    since = System.nanoTime();
                } else if (now != null && System.nanoTime() - since > patience) {
                    System.out.println("HANGS " + now.name + " in race " + progress);
                    for (ThreadInfo thread : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
                        System.out.print(thread);
                    }
                    System.out.flush();
                    Runtime.getRuntime().halt(HANGS);
                }
            }
        }
    }
}
