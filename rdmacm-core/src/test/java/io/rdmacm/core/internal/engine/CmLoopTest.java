// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.junit.jupiter.api.Test;

@FakeRdmaCm.With
class CmLoopTest {
    /** Notes why it has failed. */
    private static final class Noting implements CmLoop.Handler {
        private final List<RdmaException> reasons = new ArrayList<>();

        @Override
        public void handle(CmEvent event) {
        }

        @Override
        public void fail(RdmaException reason) {
            reasons.add(reason);
        }
    }

    /** No event comes that would make the thread look for the task. */
    @Test
    void aTaskOfAnAlarmIsRun() throws Exception {
        CmLoop loop = CmLoop.start();
        CountDownLatch done = new CountDownLatch(1);
        loop.run(() -> loop.at(Deadline.after(Duration.ofMillis(1)), () -> loop.later(done::countDown)));
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        loop.closeAll();
    }

    @Test
    void aTaskThatFailsDoesNotEndTheLoop() throws Exception {
        CmLoop loop = CmLoop.start();
        CountDownLatch done = new CountDownLatch(1);
        loop.later(() -> {
            throw new IllegalStateException("part of a test");
        });
        loop.later(done::countDown);
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        loop.closeAll();
    }

    @Test
    void whoComesTooLateFailsAsTheOthersDid() throws Exception {
        CmLoop loop = CmLoop.start();
        Noting before = new Noting();
        loop.open(before);
        RdmaException reason = new RdmaClosedException("rdma_connect", "a test");
        loop.failAll(reason);
        Noting after = new Noting();
        loop.open(after);
        assertThat(before.reasons).containsExactly(reason);
        assertThat(after.reasons).containsExactly(reason);
        loop.closeAll();
    }

    /** Returns when the thread of the only loop sleeps. */
    private static void awaitAsleep() {
        while (Thread.getAllStackTraces().entrySet().stream()
                .noneMatch(entry -> entry.getKey().getName().startsWith("rdmacm-events-")
                        && Stream.of(entry.getValue()).anyMatch(frame -> frame.getMethodName().equals("poll")))) {
            Thread.yield();
        }
    }

    @Test
    void aTaskWakesTheLoop() throws Exception {
        CmLoop loop = CmLoop.start();
        awaitAsleep();
        CountDownLatch done = new CountDownLatch(1);
        loop.later(done::countDown);
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        loop.closeAll();
    }

    @Test
    void aTaskIsRunOnceByTheThreadOfTheLoop() throws Exception {
        CmLoop loop = CmLoop.start();
        List<Thread> threads = new ArrayList<>();
        loop.run(() -> {
            threads.add(Thread.currentThread());
            // it would wait for itself
            loop.run(() -> threads.add(Thread.currentThread()));
        });
        assertThat(threads).hasSize(2);
        assertThat(threads.getFirst().getName()).startsWith("rdmacm-events-");
        assertThat(threads.getLast()).isSameAs(threads.getFirst());
        loop.closeAll();
        loop.run(() -> threads.add(Thread.currentThread()));
        loop.later(() -> threads.add(Thread.currentThread()));
        assertThat(threads.subList(2, 4)).as("after its end, by who asks").containsOnly(Thread.currentThread());
    }

    @Test
    void anAlarmComesNotBeforeItsTimeUnlessItIsUndone() throws Exception {
        CmLoop loop = CmLoop.start();
        CountDownLatch done = new CountDownLatch(1);
        AtomicLong rung = new AtomicLong();
        long start = System.nanoTime();
        loop.run(() -> {
            Runnable undo = loop.at(Deadline.after(Duration.ofMillis(1)), () -> rung.set(-1));
            loop.at(Deadline.after(Duration.ofMillis(20)), () -> {
                rung.addAndGet(System.nanoTime() - start);
                done.countDown();
            });
            undo.run();
        });
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(rung.get()).isGreaterThanOrEqualTo(Duration.ofMillis(20).toNanos());
        loop.closeAll();
    }

    /** What would be given up may have come to a good end meanwhile. */
    @Test
    void anAlarmWaitsForTheEventsAtHand() throws Exception {
        CmLoop loop = CmLoop.start();
        List<String> order = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(1);
        CmId id = loop.open(new CmLoop.Handler() {
            @Override
            public void handle(CmEvent event) {
                order.add(event.type().name());
            }

            @Override
            public void fail(RdmaException reason) {
            }
        });
        loop.run(() -> {
            FakeRdmaCm.event(id, CmEventType.ADDR_CHANGE);
            FakeRdmaCm.event(id, CmEventType.TIMEWAIT_EXIT);
            loop.at(Deadline.after(Duration.ZERO), () -> {
                order.add("alarm");
                done.countDown();
            });
        });
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(order).containsExactly("ADDR_CHANGE", "TIMEWAIT_EXIT", "alarm");
        loop.close(id);
        loop.closeAll();
    }

    /** An id whose events bring one another, as a steady stream of requests does, until a latch or a limit ends it. */
    private static final class Endless implements CmLoop.Handler {
        final AtomicLong events = new AtomicLong();
        final CountDownLatch done = new CountDownLatch(1);
        private final long most;
        private final CmId id;

        Endless(CmLoop loop, long most) throws RdmaException {
            this.most = most;
            this.id = loop.open(this);
        }

        void begin() {
            FakeRdmaCm.event(id, CmEventType.ADDR_CHANGE);
        }

        @Override
        public void handle(CmEvent event) {
            if (events.incrementAndGet() == most) {
                done.countDown();
            } else if (done.getCount() > 0) {
                begin();
            }
        }

        @Override
        public void fail(RdmaException reason) {
        }
    }

    @Test
    void anAlarmDoesNotWaitForEver() throws Exception {
        CmLoop loop = CmLoop.start();
        Endless stream = new Endless(loop, 100 * CmLoop.EVENTS_BEFORE_ALARMS);
        AtomicLong eventsBefore = new AtomicLong(-1);
        loop.run(() -> {
            stream.begin();
            loop.at(Deadline.after(Duration.ZERO), () -> {
                eventsBefore.set(stream.events.get());
                stream.done.countDown();
            });
        });
        assertThat(stream.done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(eventsBefore.get()).isBetween(1L, CmLoop.EVENTS_BEFORE_ALARMS + 1L);
        loop.closeAll();
    }

    @Test
    void aTaskDoesNotWaitForAFreeMomentForEver() throws Exception {
        CmLoop loop = CmLoop.start();
        long most = CmLoop.EVENTS_BETWEEN_TASKS;
        Endless stream = new Endless(loop, 100 * most);
        List<Long> eventsBefore = new ArrayList<>();
        loop.run(() -> {
            stream.begin();
            loop.whenFree(() -> eventsBefore.add(stream.events.get()));
            loop.whenFree(() -> {
                eventsBefore.add(stream.events.get());
                stream.done.countDown();
            });
        });
        assertThat(stream.done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(eventsBefore).containsExactly(most, 2 * most);
        loop.closeAll();
    }

    /** As those who wait for their connections, when many connect at once. */
    @Test
    void whatWaitsForNoEventsWaitsForAFewEvents() throws Exception {
        CmLoop loop = CmLoop.start();
        Endless stream = new Endless(loop, 10 * CmLoop.EVENTS_BEFORE_IDLE);
        AtomicLong eventsBefore = new AtomicLong(-1);
        loop.run(() -> {
            stream.begin();
            loop.whenIdle(() -> {
                eventsBefore.set(stream.events.get());
                stream.done.countDown();
            });
        });
        assertThat(stream.done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(eventsBefore.get()).isEqualTo(CmLoop.EVENTS_BEFORE_IDLE);
        loop.closeAll();
    }

    /** As those who wait for their connections, while others begin. */
    @Test
    void whatWaitsForNoEventsWaitsForAFewOfTheTasksThatTakeLong() throws Exception {
        CmLoop loop = CmLoop.start();
        int most = CmLoop.TASKS_BEFORE_IDLE;
        CountDownLatch done = new CountDownLatch(most + 2);
        List<String> order = new ArrayList<>();
        loop.run(() -> {
            for (int i = 0; i < most + 2; i++) {
                loop.whenFree(() -> {
                    order.add("long");
                    loop.whenIdle(() -> {
                        order.add("idle");
                        done.countDown();
                    });
                });
            }
        });
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        List<String> expected = new ArrayList<>();
        for (int together : new int[] {most, 2}) {
            expected.addAll(Collections.nCopies(together, "long"));
            expected.addAll(Collections.nCopies(together, "idle"));
        }
        assertThat(order).isEqualTo(expected);
        loop.closeAll();
    }

    @Test
    void anErrorOfAHandlerEndsItsIdOnly() throws Exception {
        CmLoop loop = CmLoop.start();
        CountDownLatch failed = new CountDownLatch(1);
        List<RdmaException> reasons = new ArrayList<>();
        CmId bad = loop.open(new CmLoop.Handler() {
            @Override
            public void handle(CmEvent event) {
                throw new OutOfMemoryError("part of a test");
            }

            @Override
            public void fail(RdmaException reason) {
                reasons.add(reason);
                failed.countDown();
            }
        });
        Noting good = new Noting();
        loop.open(good);
        FakeRdmaCm.event(bad, CmEventType.ADDR_RESOLVED);
        assertThat(failed.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(reasons.getFirst()).hasMessageContaining("ENOMEM").hasMessageContaining("part of a test");
        // The loop goes on.
        loop.run(() -> assertThat(good.reasons).isEmpty());
        loop.closeAll();
    }

    @Test
    void anErrorOfATaskIsThrownToWhoWaitsForIt() throws Exception {
        CmLoop loop = CmLoop.start();
        StackOverflowError error = new StackOverflowError("part of a test");
        assertThatThrownBy(() -> loop.run(() -> {
            throw error;
        })).isSameAs(error);
        CountDownLatch done = new CountDownLatch(1);
        loop.later(() -> {
            throw error;
        });
        loop.later(done::countDown);
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        loop.closeAll();
    }

    @Test
    void aTaskThatThereIsNoMemoryForIsRunAgain() throws Exception {
        CmLoop loop = CmLoop.start();
        CountDownLatch attempts = new CountDownLatch(3);
        loop.later(() -> {
            attempts.countDown();
            if (attempts.getCount() > 0) {
                throw new OutOfMemoryError("part of a test");
            }
        });
        assertThat(attempts.await(60, TimeUnit.SECONDS)).isTrue();
        loop.closeAll();
    }

    /** An id that is never told of its end waits for ever, and one with an open event cannot be closed. */
    @Test
    void aHandlerIsToldOfItsFailureWhenThereIsMemoryAgain() throws Exception {
        CmLoop loop = CmLoop.start();
        CountDownLatch attempts = new CountDownLatch(3);
        CmId bad = loop.open(new CmLoop.Handler() {
            @Override
            public void handle(CmEvent event) {
                throw new OutOfMemoryError("part of a test");
            }

            @Override
            public void fail(RdmaException reason) {
                attempts.countDown();
                if (attempts.getCount() > 0) {
                    throw new OutOfMemoryError("part of a test");
                }
            }
        });
        FakeRdmaCm.event(bad, CmEventType.ADDR_RESOLVED);
        assertThat(attempts.await(60, TimeUnit.SECONDS)).isTrue();
        loop.close(bad);
        loop.closeAll();
    }

    @Test
    void theLoopOfAllStreamsEndsWithItsLastUser() throws Exception {
        CmLoop loop = CmLoop.acquire();
        assertThat(CmLoop.acquire()).isSameAs(loop);
        loop.release();
        loop.run(() -> assertThat(loop.isCurrent()).isTrue());
        loop.release();
        loop.run(() -> assertThat(loop.isCurrent()).isFalse());
        CmLoop next = CmLoop.acquire();
        assertThat(next).isNotSameAs(loop);
        next.release();
    }

    @Test
    void whatATaskThrowsIsThrownToWhoWaitsForIt() throws Exception {
        CmLoop loop = CmLoop.start();
        RdmaException failure = new RdmaClosedException("rdma_connect", "a test");
        assertThatThrownBy(() -> loop.run(() -> {
            throw failure;
        })).isSameAs(failure);
        assertThatThrownBy(() -> loop.run(() -> {
            throw new UnsupportedOperationException("no");
        })).isInstanceOf(IllegalStateException.class).hasMessage("no");
        loop.closeAll();
    }
}
