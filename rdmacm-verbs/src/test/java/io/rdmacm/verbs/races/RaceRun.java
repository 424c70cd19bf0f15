// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.rdmacm.verbs.error.RdmaClosedException;

/**
 * One race, run again and again with fresh objects. All threads meet before each: the users begin, and when each has
 * done its part at least once the closers close, after a short while that differs each time.
 *
 * @param <T> what is raced for
 */
final class RaceRun<T> {
    private static final int SPINS = 2000;
    private static final int CHECK_EVERY = 128;
    // The closers may be waiting for this processor.
    private static final int USES_BEFORE_YIELDING = 32;
    // A line of the cache apart.
    private static final int LINE = 16;
    private static final int ROUND_SHIFT = 24;
    private static final int NOISE = 40;

    private final Race<T> race;
    private final Supplier<String> misuse;
    private final AtomicReference<String> failure = new AtomicReference<>();
    private final AtomicInteger closing = new AtomicInteger();
    // One for each thread: the last round that it has finished.
    private final AtomicLongArray finished;
    // One for each user: the round and how often it has used the object.
    private final AtomicLongArray uses;
    // Written by all, so that the stores of a user take long to reach memory, and its mark waits behind them.
    private final AtomicLongArray noise = new AtomicLongArray(NOISE * LINE);
    private volatile long round;
    private volatile boolean stop;
    private T object;
    private long totalUses;

    RaceRun(Race<T> race, Supplier<String> misuse) {
        this.race = race;
        this.misuse = misuse;
        this.finished = new AtomicLongArray((race.users().size() + race.closers().size()) * LINE);
        this.uses = new AtomicLongArray(race.users().size() * LINE);
    }

    /**
     * What came of it.
     *
     * @param races how many objects were raced for
     * @param uses how often they were used before their close was noticed
     * @param failure empty when all went well
     */
    record Outcome(long races, long uses, String failure) {
    }

    /** Which race is run now; for a watchdog. */
    long progress() {
        return round;
    }

    Outcome run(long count, long nanos) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int user = 0; user < race.users().size(); user++) {
            int index = user;
            threads.add(start(index, dice -> use(index)));
        }
        for (int closer = 1; closer < race.closers().size(); closer++) {
            Race.Act<T> act = race.closers().get(closer);
            threads.add(start(race.users().size() + closer, dice -> close(act, dice)));
        }
        Dice dice = new Dice(0);
        long start = System.nanoTime();
        long races = 0;
        while (races < count && failure.get() == null && System.nanoTime() - start < nanos) {
            raceOnce(dice);
            races++;
            if (races % CHECK_EVERY == 0) {
                checkMisuse();
            }
        }
        checkMisuse();
        stop = true;
        round++;
        for (Thread thread : threads) {
            thread.join();
        }
        return new Outcome(races, totalUses, failure.get() == null ? "" : failure.get());
    }

    private void raceOnce(Dice dice) throws Exception {
        closing.setPlain(0);
        object = race.maker().make();
        long now = round + 1;
        round = now;
        close(race.closers().getFirst(), dice);
        for (int thread = 0; thread < finished.length() / LINE; thread++) {
            int place = thread * LINE;
            if (thread != race.users().size()) {
                spinUntil(() -> finished.getAcquire(place) == now);
            }
        }
        for (int user = 0; user < race.users().size(); user++) {
            totalUses += uses.getPlain(user * LINE) & (1 << ROUND_SHIFT) - 1;
        }
        race.end().on(object);
    }

    private interface Part {
        void play(Dice dice) throws Exception;
    }

    private Thread start(int index, Part part) {
        Dice dice = new Dice(index + 1);
        return Thread.ofPlatform().daemon().name(race.name() + " " + index).start(() -> {
            long seen = 0;
            while (true) {
                long last = seen;
                spinUntil(() -> round != last);
                seen = round;
                if (stop) {
                    return;
                }
                try {
                    part.play(dice);
                } catch (Throwable e) {
                    fail(e);
                }
                finished.setRelease(index * LINE, seen);
            }
        });
    }

    private void use(int index) throws Exception {
        Race.Act<T> act = race.users().get(index);
        T mine = object;
        long count = round << ROUND_SHIFT;
        int place = index * LINE;
        uses.setOpaque(place, count);
        while (true) {
            try {
                disturb(count);
                act.on(mine);
                count++;
                uses.setOpaque(place, count);
                if (count % USES_BEFORE_YIELDING == 0) {
                    Thread.yield();
                }
            } catch (IllegalStateException | RdmaClosedException e) {
                if (closing.getAcquire() == 0) {
                    fail(e);
                    // the closers wait for a use
                    uses.setOpaque(place, count + 1);
                }
                return;
            } catch (Throwable e) {
                uses.setOpaque(place, count + 1);
                throw e;
            }
        }
    }

    private void close(Race.Act<T> act, Dice dice) {
        long now = round;
        if (!race.isWaiting()) {
            for (int user = 0; user < race.users().size(); user++) {
                int place = user * LINE;
                spinUntil(() -> uses.getOpaque(place) > now << ROUND_SHIFT);
            }
        }
        for (int turns = dice.delay(); turns > 0; turns--) {
            Thread.onSpinWait();
        }
        disturb(now);
        closing.setRelease(1);
        try {
            act.on(object);
        } catch (Throwable e) {
            fail(e);
        }
    }

    private void disturb(long value) {
        for (int i = 0; i < NOISE; i++) {
            noise.setOpaque(i * LINE, value);
        }
    }

    private void checkMisuse() {
        String found = misuse.get();
        if (!found.isEmpty()) {
            failure.compareAndSet(null, found);
        }
    }

    private void fail(Throwable e) {
        StringWriter text = new StringWriter();
        e.printStackTrace(new PrintWriter(text));
        failure.compareAndSet(null, text.toString());
    }

    private static void spinUntil(BooleanSupplier condition) {
        for (int spins = 0; !condition.getAsBoolean(); spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                // more threads than processors
                Thread.yield();
            }
        }
    }

    /** Numbers that look random, for a thread of its own. */
    private static final class Dice {
        private static final int LONGEST = 9;

        private long state;

        Dice(int seed) {
            state = 0x9e3779b97f4a7c15L * (seed + 1);
        }

        private int next() {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            return (int) (state >>> 32);
        }

        /** Mostly short, sometimes long. */
        int delay() {
            return next() & (1 << (next() & Integer.MAX_VALUE) % (LONGEST + 1)) - 1;
        }
    }
}
