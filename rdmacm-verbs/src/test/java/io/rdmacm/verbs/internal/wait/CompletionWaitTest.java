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

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import org.junit.jupiter.api.Test;

/** The order of polling, arming and sleeping, and what ends a wait. */
class CompletionWaitTest {
    private static final Duration LONG = Duration.ofDays(1);
    private static final String NAME = "ibv_poll_cq";

    private final Script script = new Script();
    private final CompletionWait wait = new CompletionWait("the queue", script, script, script);

    /** A queue whose polls give what the test has written down, and nothing after that. */
    private static final class Script implements Wait.Source, Sleeper {
        private final List<String> calls = new ArrayList<>();
        private final ArrayDeque<Integer> polls = new ArrayDeque<>();
        private RdmaException end;

        int poll(String buffer) {
            calls.add("poll " + buffer);
            return polls.isEmpty() ? 0 : polls.remove();
        }

        @Override
        public boolean poll() {
            return false;
        }

        @Override
        public boolean arm() throws RdmaException {
            calls.add("arm");
            if (end != null) {
                throw end;
            }
            return true;
        }

        @Override
        public boolean takeEvents() {
            return true;
        }

        @Override
        public void await(long nanos) {
            calls.add("sleep");
        }

        @Override
        public void wake() {
        }

        @Override
        public void close() {
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
    }

    @Test
    void oneThatComesBeforeTheArmingIsFoundByThePollAfterIt() throws Exception {
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
    void anEventThatOthersMayHaveTakenIsAskedForAgain() throws Exception {
        assertThat(take(LONG, 0, 1)).isEqualTo(1);
        script.calls.clear();
        assertThat(take(LONG, 0, 0, 1)).isEqualTo(1);
        assertThat(script.calls).containsExactly("poll b", "arm", "poll b", "sleep", "poll b");
    }

    @Test
    void theTimeRunsOut() {
        assertThatExceptionOfType(RdmaTimeoutException.class).isThrownBy(() -> take(Duration.ZERO))
                .withMessage("ibv_poll_cq: nothing completed in time on the queue")
                .extracting(RdmaException::function).isEqualTo(NAME);
        assertThat(script.calls).doesNotContain("arm", "sleep");
    }

    @Test
    void theSourceCanEndTheWait() {
        script.end = new RdmaException("f", "closed");
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> take(LONG)).isSameAs(script.end);
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
}
