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

/** One interval of a soak: the workers run scenarios in parallel until it is time to check what is in use. */
final class Interval {
    private final Plan plan;
    private final Counters counters;
    private final Watchdog watchdog;
    private final AtomicReference<Failure> failure = new AtomicReference<>();

    Interval(Plan plan, Counters counters, Watchdog watchdog) {
        this.plan = plan;
        this.counters = counters;
        this.watchdog = watchdog;
    }

    /**
     * The first failure.
     *
     * @param where in which scenario
     */
    record Failure(String where, Throwable reason) {
    }

    /**
     * Runs each scenario once, one after the other.
     *
     * @return null if all went well
     */
    Failure runEachOnce() {
        Iterator<ScenarioMix.Entry> entries = plan.mix().entries().iterator();
        run(0, 0, () -> !entries.hasNext(), random -> entries.next());
        return failure.get();
    }

    /**
     * Runs scenarios in all workers until the interval is over or something fails.
     *
     * @param number of the interval, from 1 on
     * @return null if all went well
     */
    Failure run(int number, BooleanSupplier over) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < plan.workers(); i++) {
            int index = i;
            threads.add(Thread.ofPlatform().name("worker-" + i)
                    .start(() -> run(number, index, over, plan.mix()::choose)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return failure.get();
    }

    private void run(int number, int index, BooleanSupplier over,
            Function<RandomGenerator, ScenarioMix.Entry> choice) {
        // Each worker has its own random numbers, so that its choices do not depend on the timing of the others.
        SplittableRandom random = new SplittableRandom(plan.seed() ^ ((long) number << Integer.SIZE) ^ index);
        String where = "the beginning";
        int scenarios = 0;
        try (Worker worker = new Worker(plan.address(), counters, plan.timeout())) {
            while (!over.getAsBoolean() && failure.get() == null) {
                ScenarioMix.Entry entry = choice.apply(random);
                where = entry.name() + ", scenario " + scenarios++ + " of worker " + index + " in interval " + number;
                watchdog.begin(where);
                entry.scenario().run(worker, random.split());
            }
            watchdog.begin("the end of worker " + index + " in interval " + number);
        } catch (Throwable e) {
            failure.compareAndSet(null, new Failure(where, e));
        } finally {
            watchdog.done();
        }
    }
}
