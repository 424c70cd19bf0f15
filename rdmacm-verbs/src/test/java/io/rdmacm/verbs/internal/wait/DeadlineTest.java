// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

/** Deadlines of every length, up to the longest Duration. */
class DeadlineTest {
    @Test
    void noTimeHasPassedAtOnce() {
        Deadline deadline = Deadline.after(Duration.ZERO);
        assertThat(deadline.hasPassed()).isTrue();
        assertThat(deadline.remaining()).isZero();
    }

    @Test
    void theLongestDurationDoesNotOverflow() {
        for (Duration timeout : List.of(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999),
                Duration.ofNanos(Long.MAX_VALUE), Duration.ofDays(365))) {
            Deadline deadline = Deadline.after(timeout);
            assertThat(deadline.hasPassed()).isFalse();
            assertThat(deadline.remaining()).isGreaterThan(Duration.ofDays(364)).isLessThanOrEqualTo(timeout);
        }
    }

    @Test
    void aNegativeTimeIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Deadline.after(Duration.ofNanos(-1)));
        assertThatNullPointerException().isThrownBy(() -> Deadline.after(null));
    }

    @Test
    void aStepTakesNoLongerThanItsOwnTimeoutAndTheTimeLeft() {
        Deadline deadline = Deadline.after(Duration.ofDays(1));
        assertThat(deadline.remaining(Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(1));
        assertThat(deadline.remaining(Duration.ofDays(2))).isLessThanOrEqualTo(Duration.ofDays(1));
        assertThat(Deadline.after(Duration.ZERO).remaining(Duration.ofDays(2))).isZero();
    }

    @Test
    void theKernelTakesMillisecondsOfAnInt() {
        assertThat(Deadline.after(Duration.ZERO).remainingForKernel()).isEqualTo(Duration.ofMillis(1));
        assertThat(Deadline.after(Duration.ofSeconds(Long.MAX_VALUE)).remainingForKernel())
                .isEqualTo(Duration.ofMillis(Integer.MAX_VALUE));
        assertThat(Deadline.after(Duration.ofDays(1)).remainingForKernel()).isBetween(Duration.ofHours(1),
                Duration.ofDays(1));
    }
}
