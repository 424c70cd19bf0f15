// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

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
}
