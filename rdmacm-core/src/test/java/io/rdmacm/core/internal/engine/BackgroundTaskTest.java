// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

/** What goes on without a thread of the program. */
class BackgroundTaskTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final long SOON = 1_000;

    /** Runs so many times and then ends, or fails. */
    private static class Counted extends BackgroundTask {
        private final CompletableFuture<Thread> end = new CompletableFuture<>();
        private final List<Object> log;
        private final Error error;
        private int left;

        Counted(int times, List<Object> log, Error error) {
            this.left = times;
            this.log = log;
            this.error = error;
        }

        static Counted of(int times) {
            return new Counted(times, Collections.synchronizedList(new ArrayList<>()), null);
        }

        @Override
        protected long run() {
            log.add(this);
            left--;
            if (left > 0) {
                return SOON;
            }
            if (error != null) {
                throw error;
            }
            end.complete(Thread.currentThread());
            return DONE;
        }

        @Override
        protected void failed(Throwable reason) {
            end.completeExceptionally(reason);
        }

        @Override
        protected boolean finishes() {
            return false;
        }

        Thread await() throws Exception {
            return end.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void aTaskRunsUntilItIsDone() throws Exception {
        Counted task = Counted.of(5);
        task.submit();
        Thread thread = task.await();
        assertThat(task.log).hasSize(5);
        assertThat(thread.isVirtual()).isFalse();
        assertThat(thread.isDaemon()).isTrue();
    }

    @Test
    void aTaskThatWaitsRunsAtOnceWhenItIsSubmittedAgain() throws Exception {
        Counted task = new Counted(3, Collections.synchronizedList(new ArrayList<>()), null) {
            @Override
            protected long run() {
                return super.run() == DONE ? DONE : LIMIT.multipliedBy(60).toNanos();
            }
        };
        for (int i = 1; i < 3; i++) {
            task.submit();
            awaitSize(task.log, i);
        }
        task.submit();
        task.await();
        assertThat(task.log).hasSize(3);
    }

    private static void awaitSize(List<Object> log, int size) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (log.size() < size && System.nanoTime() < end) {
            Thread.yield();
        }
        assertThat(log).hasSize(size);
    }

    @Test
    void anErrorIsTheEndOfOneTaskOnly() throws Exception {
        StackOverflowError error = new StackOverflowError();
        Counted failing = new Counted(1, new ArrayList<>(), error);
        Counted other = Counted.of(100);
        other.submit();
        failing.submit();
        assertThat(failing.end.handle((thread, reason) -> reason).get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isSameAs(error);
        other.await();
    }

    @Test
    void tasksRunInTheOrderInWhichTheyWereSubmitted() throws Exception {
        List<Object> log = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<Void> all = new CompletableFuture<>();
        BackgroundTask first = new Counted(1, log, null) {
            @Override
            protected long run() {
                // The others are submitted meanwhile.
                all.join();
                return super.run();
            }
        };
        List<Object> expected = new ArrayList<>();
        expected.add(first);
        first.submit();
        Counted last = null;
        for (int i = 0; i < 10; i++) {
            last = new Counted(1, log, null);
            last.submit();
            last.submit();
            expected.add(last);
        }
        all.complete(null);
        last.await();
        assertThat(log).containsExactlyElementsOf(expected);
    }

    @Test
    void aThreadThatCannotEndForWantOfMemoryRemainsTheOnlyOne() throws Exception {
        ThreadFactory threads = BackgroundTask.threads;
        CountDownLatch tried = new CountDownLatch(2);
        BackgroundTask.threads = work -> {
            tried.countDown();
            throw new InternalError("for a test");
        };
        try {
            Counted task = Counted.of(1);
            task.submit();
            Thread thread = task.await();
            tried.await();
            Counted next = Counted.of(1);
            next.submit();
            assertThat(next.await()).isSameAs(thread);
        } finally {
            BackgroundTask.threads = threads;
        }
    }

    /** So it keeps no class loader. */
    @Test
    void theThreadEndsWhenNothingIsToBeDoneAndStartsAgain() throws Exception {
        Counted task = Counted.of(1);
        task.submit();
        Thread thread = task.await();
        assertThat(thread.join(LIMIT)).isTrue();
        Counted next = Counted.of(1);
        next.submit();
        assertThat(next.await()).isNotSameAs(thread);
    }
}
