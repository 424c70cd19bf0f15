// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Leader and followers over a file that never tells of anything: what one thread reads, the right one must get. */
class EventSourceTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private int file;
    private EventSource<String> source;
    private volatile boolean closed;

    @BeforeEach
    void open() throws RdmaException {
        file = Libc.eventfd();
        source = new EventSource<>(file, events::poll);
    }

    @AfterEach
    void close() throws RdmaException {
        source.close(() -> { });
        Libc.close(file);
    }

    private Background<String> await(String event) {
        return Background.call(() -> next(event::equals));
    }

    private String next(Predicate<String> wanted) throws RdmaException, InterruptedException {
        return source.next(wanted, this::check, Deadline.after(Duration.ofMinutes(10)), event -> event);
    }

    private void check() throws RdmaException {
        if (closed) {
            throw new RdmaClosedException("test", "the source");
        }
    }

    private void locked(Background.Action action) throws Exception {
        source.lock().lock();
        try {
            action.run();
        } finally {
            source.lock().unlock();
        }
    }

    @Test
    void anEventThatThereIsNoMemoryForIsDeliveredLater() throws Exception {
        events.addAll(List.of("first", "second"));
        OutOfMemoryError full = new OutOfMemoryError();
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> source.next(event -> true, this::check,
                Deadline.after(LONG), event -> {
                    throw full;
                })).isSameAs(full);
        assertThat(next(event -> true)).isEqualTo("first");
        assertThat(next(event -> true)).isEqualTo("second");
    }

    /** The leader of virtual threads sleeps on the file, too, and may not find it readable any more. */
    @Test
    void anEventThatThereIsNoMemoryForIsLeftToAnotherThread() throws Exception {
        try (Background<String> virtual = Background.virtual(() -> next(event -> true))
                .awaitInside(ParkSleep.class, "run").awaitWaiting()) {
            events.add("either's");
            assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> source.next(event -> true, this::check,
                    Deadline.after(LONG), event -> {
                        throw new OutOfMemoryError("in a test");
                    }));
            assertThat(virtual.result()).isEqualTo("either's");
        }
    }

    /** One that was lost would never be acknowledged, for which C waits. */
    @Test
    void allEventsThatAreWantedAreRemovedOrNone() throws Exception {
        events.addAll(List.of("first", "second"));
        locked(() -> {
            source.readAll();
            assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> source.removePending(event -> {
                if (event.equals("second")) {
                    throw new OutOfMemoryError("in a test");
                }
                return true;
            }));
            assertThat(source.removePending(event -> true)).containsExactly("first", "second");
        });
    }

    @Test
    void whatWasReadBeforeAFailureIsNotKeptFromOthers() throws Exception {
        Queue<String> failing = new ConcurrentLinkedQueue<>();
        EventSource<String> other = new EventSource<>(file, () -> {
            String event = failing.poll();
            if ("failure".equals(event)) {
                throw new RdmaException("test", "it failed");
            }
            return event;
        });
        try (Background<String> leader = Background.call(() -> other.next("leader's"::equals, this::check,
                Deadline.after(LONG), event -> event)).awaitInside(Libc.class, "poll")) {
            failing.addAll(List.of("leader's", "failure"));
            other.lock().lock();
            try {
                assertThatExceptionOfType(RdmaException.class).isThrownBy(other::readAll);
            } finally {
                other.lock().unlock();
            }
            assertThat(leader.result()).isEqualTo("leader's");
        }
        other.close(() -> { });
    }

    @Test
    void theLeaderIsWokenForItsEventWhenAnotherThreadReadIt() throws Exception {
        try (Background<String> leader = await("leader's").awaitInside(Libc.class, "poll")) {
            events.add("leader's");
            locked(source::readAll);
            assertThat(leader.result()).isEqualTo("leader's");
        }
    }

    @Test
    void theLeaderIsWokenForItsEventWhenAFollowerReadIt() throws Exception {
        try (Background<String> leader = await("leader's").awaitInside(Libc.class, "poll")) {
            events.add("leader's");
            try (Background<String> follower = await("follower's")) {
                assertThat(leader.result()).isEqualTo("leader's");
                follower.awaitInside(Libc.class, "poll");
            }
        }
    }

    @Test
    void aFollowerGetsItsEventFromTheLeader() throws Exception {
        try (Background<String> leader = await("leader's").awaitInside(Libc.class, "poll");
                Background<String> follower = await("follower's").awaitInside(EventSource.class, "next")
                        .awaitWaiting()) {
            events.add("follower's");
            Libc.signal(file);
            assertThat(follower.result()).isEqualTo("follower's");
            assertThat(leader.isDone()).isFalse();
        }
    }

    @Test
    void onlyThoseWhoWantAnEventAreWoken() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        try (Background<String> leader = await("leader's").awaitInside(Libc.class, "poll");
                Background<String> bystander = Background.call(() -> source.next("bystander's"::equals,
                        looks::incrementAndGet, Deadline.after(LONG), event -> event))
                        .awaitInside(EventSource.class, "next").awaitWaiting()) {
            int before = looks.get();
            for (int i = 0; i < 100; i++) {
                try (Background<String> follower = await("follower's").awaitInside(EventSource.class, "next")
                        .awaitWaiting()) {
                    events.add("follower's");
                    locked(source::readAll);
                    assertThat(follower.result()).isEqualTo("follower's");
                }
            }
            assertThat(leader.isDone()).isFalse();
            events.add("bystander's");
            locked(source::readAll);
            assertThat(bystander.result()).isEqualTo("bystander's");
            assertThat(looks.get() - before).isLessThan(10);
        }
    }

    @Test
    void eventsThatNobodyWantedAreKeptInOrder() throws Exception {
        events.add("b");
        events.add("a");
        events.add("b2");
        locked(() -> {
            assertThat(source.<String>poll("a"::equals, event -> event)).isEqualTo("a");
            assertThat(source.<String>poll("c"::equals, event -> event)).isNull();
            assertThat(source.removePending("b2"::equals)).containsExactly("b2");
            assertThat(source.<String>poll(event -> true, event -> event)).isEqualTo("b");
            assertThat(source.<String>poll(event -> true, event -> event)).isNull();
        });
    }

    @Test
    void anEventThatHasBecomeVoidIsPassedOver() throws Exception {
        events.add("void");
        events.add("valid");
        assertThat(source.<Integer>next(event -> true, this::check, Deadline.after(Duration.ZERO),
                event -> event.equals("void") ? null : event.length())).isEqualTo(5);
        assertThat(source.<String>next(event -> true, this::check, Deadline.after(Duration.ZERO), event -> event))
                .isNull();
    }

    @Test
    void allWaitersAskTheirGuardWhenWoken() throws Exception {
        try (Background<String> leader = await("leader's").awaitInside(Libc.class, "poll");
                Background<String> follower = await("follower's").awaitInside(EventSource.class, "next")
                        .awaitWaiting()) {
            closed = true;
            source.wake();
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(leader::result);
            assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(follower::result);
        }
    }

    private String nextOrWakeup(Duration timeout) throws RdmaException, InterruptedException {
        return source.nextOrWakeup(event -> true, this::check, Deadline.after(timeout), event -> event);
    }

    @Test
    void aWakeupEndsAllWaitsThatAskForIt() throws Exception {
        try (Background<String> leader = Background.call(() -> nextOrWakeup(LONG)).awaitInside(Libc.class, "poll");
                Background<String> follower = Background.call(() -> nextOrWakeup(LONG))
                        .awaitInside(EventSource.class, "next").awaitWaiting()) {
            source.wakeup();
            assertThat(leader.result()).isNull();
            assertThat(follower.result()).isNull();
        }
    }

    @Test
    void aWakeupEndsNoOtherWait() throws Exception {
        try (Background<String> leader = await("leader's").awaitInside(Libc.class, "poll");
                Background<String> follower = await("follower's").awaitInside(EventSource.class, "next")
                        .awaitWaiting()) {
            source.wakeup();
            events.add("follower's");
            events.add("leader's");
            locked(source::readAll);
            assertThat(leader.result()).isEqualTo("leader's");
            assertThat(follower.result()).isEqualTo("follower's");
            // nobody took the wakeup
            assertThat(nextOrWakeup(LONG)).isNull();
        }
    }

    @Test
    void wakeupsBeforeAWaitEndOneWaitOnly() throws Exception {
        source.wakeup();
        source.wakeup();
        assertThat(nextOrWakeup(LONG)).isNull();
        try (Background<String> waiter = Background.call(() -> nextOrWakeup(LONG)).awaitInside(Libc.class, "poll")) {
            events.add("a");
            Libc.signal(file);
            assertThat(waiter.result()).isEqualTo("a");
        }
    }

    @Test
    void aWaitThatIsWokenStillTakesAnEventThatIsThere() throws Exception {
        source.wakeup();
        events.add("a");
        assertThat(nextOrWakeup(LONG)).isEqualTo("a");
        events.add("b");
        locked(source::readAll);
        source.wakeup();
        assertThat(nextOrWakeup(Duration.ZERO)).isEqualTo("b");
        assertThat(nextOrWakeup(Duration.ZERO)).isNull();
    }

    @Test
    void whoExpectsNoEventWaitsBeforeItLooks() throws Exception {
        events.add("there already");
        try (Background<String> waiter = Background.call(() -> source.awaitNext(event -> true, this::check,
                () -> false, Deadline.after(Duration.ofMinutes(10)), event -> event)).awaitInside(Libc.class, "poll")) {
            assertThat(events).as("not looked at").hasSize(1);
            Libc.signal(file);
            assertThat(waiter.result()).isEqualTo("there already");
        }
    }

    @Test
    void whoExpectsNoEventStillLooksBeforeTheTimeIsOver() throws Exception {
        Deadline passed = Deadline.after(Duration.ZERO);
        assertThat(source.<String>awaitNext(event -> true, this::check, () -> false, passed,
                event -> event)).isNull();
        events.add("a");
        assertThat(source.<String>awaitNext(event -> true, this::check, () -> false, passed,
                event -> event)).isEqualTo("a");
        events.add("kept");
        locked(source::readAll);
        assertThat(source.<String>awaitNext(event -> true, this::check, () -> false,
                Deadline.after(Duration.ofMinutes(10)), event -> event)).isEqualTo("kept");
    }

    @Test
    void pausesAreRoundedUpToMilliseconds() {
        assertThat(PollSleep.milliseconds(0)).isZero();
        assertThat(PollSleep.milliseconds(1)).isEqualTo(1);
        assertThat(PollSleep.milliseconds(1_000_000)).isEqualTo(1);
        assertThat(PollSleep.milliseconds(1_000_001)).isEqualTo(2);
        assertThat(PollSleep.milliseconds(TimeUnit.DAYS.toNanos(30))).isEqualTo(Integer.MAX_VALUE);
        assertThat(PollSleep.milliseconds(Deadline.after(Deadline.FOREVER).remainingNanos())).isEqualTo(-1);
    }
}
