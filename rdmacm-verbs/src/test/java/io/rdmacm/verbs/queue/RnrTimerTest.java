// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The 32 times of the minimum RNR NAK timer. */
class RnrTimerTest {
    /** Milliseconds by code, as in the names of the kernel's {@code enum ib_rnr_timeout}. */
    private static final String[] MILLIS = {"655.36", "0.01", "0.02", "0.03", "0.04", "0.06", "0.08", "0.12", "0.16",
        "0.24", "0.32", "0.48", "0.64", "0.96", "1.28", "1.92", "2.56", "3.84", "5.12", "7.68", "10.24", "15.36",
        "20.48", "30.72", "40.96", "61.44", "81.92", "122.88", "163.84", "245.76", "327.68", "491.52"};

    private static Duration time(int code) {
        return Duration.ofNanos(new BigDecimal(MILLIS[code]).movePointRight(6).longValueExact());
    }

    @Test
    void codesHaveTheTimesOfTheSpecification() {
        for (int code = 0; code < 32; code++) {
            RnrTimer timer = RnrTimer.ofCode(code);
            assertThat(timer.code()).isEqualTo(code);
            assertThat(timer.duration()).contains(time(code));
            assertThat(timer).hasToString(time(code) + " (code " + code + ")");
        }
    }

    @Test
    void durationsAreRoundedUpToTheNextTime() {
        List<Integer> ascending = new ArrayList<>();
        for (int code = 1; code < 32; code++) {
            ascending.add(code);
        }
        ascending.add(0);
        assertThat(RnrTimer.atLeast(Duration.ofNanos(1)).code()).isEqualTo(1);
        for (int i = 0; i < ascending.size(); i++) {
            int code = ascending.get(i);
            assertThat(RnrTimer.atLeast(time(code))).isEqualTo(RnrTimer.ofCode(code));
            assertThat(RnrTimer.atLeast(time(code).minusNanos(1))).isEqualTo(RnrTimer.ofCode(code));
            if (i > 0) {
                assertThat(RnrTimer.atLeast(time(ascending.get(i - 1)).plusNanos(1))).isEqualTo(RnrTimer.ofCode(code));
            }
        }
    }

    @Test
    void durationsThatHaveNoCodeAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> RnrTimer.atLeast(Duration.ZERO))
                .withMessage("the RNR timer must be longer than zero, not PT0S");
        assertThatIllegalArgumentException().isThrownBy(() -> RnrTimer.atLeast(Duration.ofSeconds(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> RnrTimer.atLeast(Duration.ofNanos(655_360_001)))
                .withMessage("the RNR timer must be at most PT0.65536S, not PT0.655360001S");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 32, 255, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void codesHaveFiveBits(int code) {
        assertThatIllegalArgumentException().isThrownBy(() -> RnrTimer.ofCode(code))
                .withMessage("the code of the RNR timer must be from 0 to 31, not " + code);
    }

    @Test
    void whatADriverTellsBeyondThatIsKept() {
        assertThat(new RnrTimer(255).code()).isEqualTo(255);
        assertThat(new RnrTimer(32).duration()).isEmpty();
        assertThat(new RnrTimer(32)).hasToString("undefined (code 32)");
        assertThatIllegalArgumentException().isThrownBy(() -> new RnrTimer(256));
        assertThatIllegalArgumentException().isThrownBy(() -> new RnrTimer(-1));
    }
}
