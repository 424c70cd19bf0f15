// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** The workers that play at once, from one look at what is in use to the next. */
final class Shift {
    private final Plan plan;
    private final Tally tally;
    private final Watchdog watchdog;
    private final AtomicReference<Failure> failure = new AtomicReference<>();

    Shift(Plan plan, Tally tally, Watchdog watchdog) {
        this.plan = plan;
        this.tally = tally;
        this.watchdog = watchdog;
    }

    /**
     * The first thing that failed.
     *
     * @param where in which act
     */
    record Failure(String where, Throwable reason) {
    }

    /** Plays each act once, one after the other. */
    Failure rehearse() {
        Iterator<Repertoire.Piece> pieces = plan.repertoire().pieces().iterator();
        play(0, 0, () -> !pieces.hasNext(), random -> pieces.next());
        return failure.get();
    }

    /**
     * Plays until it is over, or something fails.
     *
     * @param number of the shift, from 1 on
     * @return null when all went well
     */
    Failure play(int number, BooleanSupplier over) throws InterruptedException {
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < plan.workers(); i++) {
            int worker = i;
            workers.add(Thread.ofPlatform().name("worker-" + i)
                    .start(() -> play(number, worker, over, plan.repertoire()::choose)));
        }
        for (Thread worker : workers) {
            worker.join();
        }
        return failure.get();
    }

    private void play(int number, int worker, BooleanSupplier over,
            Function<RandomGenerator, Repertoire.Piece> choice) {
        // By itself whatever the other workers do.
        SplittableRandom random = new SplittableRandom(plan.seed() ^ ((long) number << Integer.SIZE) ^ worker);
        String where = "the beginning";
        int acts = 0;
        try (Stage stage = new Stage(plan.address(), tally, plan.patience())) {
            while (!over.getAsBoolean() && failure.get() == null) {
                Repertoire.Piece piece = choice.apply(random);
                where = piece.name() + ", act " + acts++ + " of worker " + worker + " in shift " + number;
                watchdog.begin(where);
                piece.act().play(stage, random.split());
            }
            watchdog.begin("the end of worker " + worker + " in shift " + number);
        } catch (Throwable e) {
            failure.compareAndSet(null, new Failure(where, e));
        } finally {
            watchdog.done();
        }
    }
}
