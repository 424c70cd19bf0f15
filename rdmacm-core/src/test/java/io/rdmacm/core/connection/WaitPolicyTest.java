// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;

import org.junit.jupiter.api.Test;

class WaitPolicyTest {
    @Test
    void theNamedPolicies() {
        assertThat(WaitPolicy.sleepAtOnce().spinNanos()).isZero();
        assertThat(WaitPolicy.spinAlways().spinNanos()).isEqualTo(Long.MAX_VALUE);
        // with one CPU, a thread that spins would keep the peer from what it waits for
        int spin = Runtime.getRuntime().availableProcessors() == 1 ? 0 : 20_000;
        assertThat(WaitPolicy.defaults().spin()).isEqualTo(Duration.ofNanos(spin));
        assertThat(WaitPolicy.defaults().spinNanos()).isEqualTo(spin);
    }

    @Test
    void anyDurationThatIsNotNegative() {
        assertThat(WaitPolicy.spinFor(Duration.ofNanos(1)).spinNanos()).isEqualTo(1);
        assertThat(WaitPolicy.spinFor(Duration.ZERO)).isEqualTo(WaitPolicy.sleepAtOnce());
        assertThat(WaitPolicy.spinFor(Duration.ofNanos(Long.MAX_VALUE)).spinNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(WaitPolicy.spinFor(Duration.ofNanos(Long.MAX_VALUE - 1)).spinNanos())
                .isEqualTo(Long.MAX_VALUE - 1);
        assertThat(WaitPolicy.spinFor(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)).spinNanos())
                .isEqualTo(Long.MAX_VALUE);
        assertThatThrownBy(() -> WaitPolicy.spinFor(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("PT-0.000000001S");
        assertThatThrownBy(() -> WaitPolicy.spinFor(null)).isInstanceOf(NullPointerException.class);
    }
}
