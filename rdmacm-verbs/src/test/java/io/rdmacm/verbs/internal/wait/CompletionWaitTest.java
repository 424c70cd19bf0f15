// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;

/** The order of polling, arming and sleeping, and what ends a wait. */
class CompletionWaitTest {
    private static final Duration LONG = Duration.ofDays(1);
    private static final String NAME = "ibv_poll_cq";

    private final ReentrantLock lock = new ReentrantLock();
    private final Script script = new Script();
    private final CompletionWait wait = new CompletionWait("the queue", lock, script);

    /** A queue whose polls give what the test has written down, and nothing after that. */
    private final class Script implements CompletionWait.Source {
        private final List<String> calls = new ArrayList<>();
        private final ArrayDeque<Integer> polls = new ArrayDeque<>();
        private RdmaException end;
        // when the time of the last sleep began to run
        private long since;

        int poll(String buffer) {
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            calls.add("poll " + buffer);
            return polls.isEmpty() ? 0 : polls.remove();
        }

        @Override
        public void arm() {
            calls.add("arm");
        }

        @Override
        public boolean sleep(Deadline deadline) throws RdmaException {
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            calls.add("sleep");
            since = System.nanoTime() - deadline.elapsedNanos();
            if (end != null) {
                throw end;
            }
            return !deadline.hasPassed();
        }
    }

    private int take(Duration timeout, int... polls) throws RdmaException, InterruptedException {
        for (int taken : polls) {
            script.polls.add(taken);
        }
        return wait.take(NAME, Script::poll, script, "b", timeout);
    }

    @Test
    void completionsThatAreThereAreTakenAtOnce() throws Exception {
        assertThat(take(Duration.ZERO, 3)).isEqualTo(3);
        assertThat(script.calls).containsExactly("poll b");
        assertThat(lock.isLocked()).isFalse();
    }

    @Test
    void oneThatComesBeforeTheArmingIsFoundByTheSecondPoll() throws Exception {
        assertThat(take(LONG, 0, 1)).isEqualTo(1);
        assertThat(script.calls).containsExactly("poll b", "arm", "poll b");
    }

    @Test
    void itSleepsOnlyWhenArmedAndEmpty() throws Exception {
        // the first sleep ends without a completion
        assertThat(take(LONG, 0, 0, 0, 0, 2)).isEqualTo(2);
        assertThat(script.calls).containsExactly("poll b", "arm", "poll b", "sleep", "poll b", "arm", "poll b", "sleep",
                "poll b");
    }

    @Test
    void theTimeRunsOut() {
        assertThatExceptionOfType(RdmaTimeoutException.class).isThrownBy(() -> take(Duration.ZERO))
                .withMessage("ibv_poll_cq: nothing completed in time on the queue")
                .extracting(RdmaException::function).isEqualTo(NAME);
        assertThat(script.calls).containsExactly("poll b", "arm", "poll b", "sleep");
        assertThat(lock.isLocked()).isFalse();
    }

    @Test
    void theSourceCanEndTheWait() {
        script.end = new RdmaException("f", "closed");
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> take(LONG)).isSameAs(script.end);
        assertThat(lock.isLocked()).isFalse();
    }

    @Test
    void timeoutsAreCheckedAlsoWhenThereIsNothingToWaitFor() {
        assertThatIllegalArgumentException().isThrownBy(() -> take(Duration.ofNanos(-1), 1));
        assertThatNullPointerException().isThrownBy(() -> take(null, 1));
        assertThat(script.calls).isEmpty();
    }

    @Test
    void anInterruptIsSeenAlsoWhenThereIsNothingToWaitFor() throws Exception {
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> take(LONG, 1));
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(script.calls).isEmpty();
        assertThat(take(LONG)).isEqualTo(1);
    }

    @Test
    void threadsTakeTurns() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        try (Background<Void> other = Background.run(() -> {
            lock.lock();
            try {
                done.await();
            } finally {
                lock.unlock();
            }
        })) {
            while (!lock.isLocked()) {
                Thread.onSpinWait();
            }
            assertThatExceptionOfType(RdmaTimeoutException.class).isThrownBy(() -> take(Duration.ofMillis(5), 7))
                    .withMessageContaining("another thread was waiting").withMessageContaining("the queue");
            assertThat(script.calls).isEmpty();
            try (Background<Integer> next = Background.call(() -> take(LONG))) {
                next.awaitInside(CompletionWait.class, "awaitTurn").awaitWaiting();
                next.interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(next::result);
            }
            try (Background<Integer> next = Background.call(() -> take(LONG))) {
                next.awaitInside(CompletionWait.class, "awaitTurn").awaitWaiting();
                done.countDown();
                assertThat(next.result()).isEqualTo(7);
            }
            other.result();
        }
    }

    @Test
    void theWaitForTheTurnIsPartOfTheTime() throws Exception {
        lock.lock();
        try (Background<Integer> next = Background.call(() -> take(LONG, 0, 0, 1))) {
            next.awaitInside(CompletionWait.class, "awaitTurn").awaitWaiting();
            long turn = System.nanoTime();
            lock.unlock();
            assertThat(next.result()).isEqualTo(1);
            assertThat(script.calls).contains("sleep");
            assertThat(script.since - turn).isNegative();
        }
    }

    @Test
    void aRoundEndsWithTheFirstSleep() throws Exception {
        lock.lock();
        try {
            Deadline deadline = Deadline.after(LONG);
            assertThat(wait.takeOrSleep(NAME, Script::poll, script, "b", deadline)).isZero();
            assertThat(script.calls).containsExactly("poll b", "arm", "poll b", "sleep");
            script.calls.clear();
            script.polls.add(4);
            assertThat(wait.takeOrSleep(NAME, Script::poll, script, "b", deadline)).isEqualTo(4);
            assertThat(script.calls).containsExactly("poll b");
            assertThatExceptionOfType(RdmaTimeoutException.class).isThrownBy(
                    () -> wait.takeOrSleep(NAME, Script::poll, script, "b", Deadline.after(Duration.ZERO)));
        } finally {
            lock.unlock();
        }
    }
}
