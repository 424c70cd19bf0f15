// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.rdmacm.verbs.error.RdmaException;

/**
 * Threads that use objects which depend on each other, while two others close them all, in orders of their own. Uses
 * may be refused: as long as something is open with the exceptions of the library, afterwards because it is closed.
 */
public final class Contest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int CLOSERS = 2;
    private static final int LONGEST = 15;

    private final Random random;
    private final Set<Integer> errors;
    private final List<Act> acts = new ArrayList<>();
    private final CountDownLatch used;
    private final CountDownLatch closed = new CountDownLatch(CLOSERS);

    private Contest(Random random, Set<Integer> errors, List<Act> acts) {
        this.random = random;
        this.errors = errors;
        this.acts.addAll(acts);
        this.used = new CountDownLatch(acts.size());
    }

    /** What a thread does again and again. */
    @FunctionalInterface
    public interface Act {
        /** Does it once. */
        void run() throws Exception;
    }

    /**
     * Runs one contest to its end.
     *
     * @param random chooses the orders and the moments of the closes
     * @param errors the errno values that uses may fail with
     * @param objects what is closed
     * @param acts what the threads do, one each
     * @return how many uses were not refused
     */
    public static long run(Random random, Set<Integer> errors, List<? extends AutoCloseable> objects, List<Act> acts)
            throws Exception {
        Contest contest = new Contest(random, errors, acts);
        List<FutureTask<Long>> users = acts.stream().map(act -> start(() -> contest.use(act))).toList();
        List<FutureTask<Long>> closers = new ArrayList<>();
        for (int i = 0; i < CLOSERS; i++) {
            List<AutoCloseable> order = new ArrayList<>(objects);
            Collections.shuffle(order, random);
            long seed = random.nextLong();
            closers.add(start(() -> contest.close(order, new Random(seed))));
        }
        long uses = 0;
        for (FutureTask<Long> closer : closers) {
            await(closer);
        }
        for (FutureTask<Long> user : users) {
            uses += await(user);
        }
        return uses;
    }

    private static FutureTask<Long> start(Callable<Long> part) {
        FutureTask<Long> task = new FutureTask<>(part);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    private static long await(FutureTask<Long> task) throws Exception {
        try {
            return task.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            StringBuilder text = new StringBuilder("a thread hangs");
            for (Map.Entry<Thread, StackTraceElement[]> thread : Thread.getAllStackTraces().entrySet()) {
                text.append("\n").append(thread.getKey());
                for (StackTraceElement element : thread.getValue()) {
                    text.append("\n    ").append(element);
                }
            }
            throw new AssertionError(text.toString(), e);
        }
    }

    private long use(Act act) throws Exception {
        long uses = 0;
        boolean first = true;
        while (closed.getCount() > 0) {
            try {
                act.run();
                uses++;
            } catch (IllegalStateException e) {
                assertThat(e).isExactlyInstanceOf(IllegalStateException.class);
            } catch (RdmaException e) {
                assertThat(errors).as(e.toString()).contains(e.errno());
            } finally {
                if (first) {
                    used.countDown();
                    first = false;
                }
            }
        }
        assertThatIllegalStateException().isThrownBy(act::run).withMessageContaining("closed");
        return uses;
    }

    /** What others stand on is refused until they are closed. */
    private long close(List<AutoCloseable> order, Random own) throws Exception {
        try {
            used.await();
            List<AutoCloseable> left = order;
            while (!left.isEmpty()) {
                List<AutoCloseable> refused = new ArrayList<>();
                for (AutoCloseable object : left) {
                    for (int turns = own.nextInt(1 << own.nextInt(LONGEST)); turns > 0; turns--) {
                        Thread.onSpinWait();
                    }
                    try {
                        object.close();
                    } catch (IllegalStateException e) {
                        refused.add(object);
                    }
                }
                left = refused;
            }
            return order.size();
        } finally {
            closed.countDown();
        }
    }
}
