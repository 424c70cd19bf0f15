// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Acknowledgement timeouts and other delays of 4.096 microseconds times a power of two. */
class AckTimeoutTest {
    @ParameterizedTest
    @CsvSource({"1, 8192", "2, 16384", "14, 67108864", "17, 536870912", "18, 1073741824", "20, 4294967296",
        "31, 8796093022208"})
    void codesArePowersOfTwo(int code, long nanos) {
        Duration duration = Duration.ofNanos(nanos);
        AckTimeout timeout = AckTimeout.ofCode(code);

        assertThat(timeout.code()).isEqualTo(code);
        assertThat(timeout.isInfinite()).isFalse();
        assertThat(timeout.duration()).contains(duration);
        assertThat(timeout).hasToString(duration + " (code " + code + ")");
        assertThat(AckTimeout.atLeast(duration)).isEqualTo(timeout);
        assertThat(AckTimeout.atLeast(duration.minusNanos(1))).isEqualTo(timeout);
        assertThat(new ExponentialDelay(code).duration()).contains(duration);
        assertThat(new ExponentialDelay(code)).hasToString(timeout.toString());
    }

    @Test
    void durationsAreRoundedUpToTheNextCode() {
        assertThat(AckTimeout.atLeast(Duration.ofNanos(1))).isEqualTo(AckTimeout.ofCode(1));
        for (int code = 1; code < 31; code++) {
            Duration duration = AckTimeout.ofCode(code).duration().orElseThrow();
            assertThat(AckTimeout.atLeast(duration.plusNanos(1))).isEqualTo(AckTimeout.ofCode(code + 1));
        }
        assertThat(AckTimeout.atLeast(Duration.ofMillis(500))).hasToString("PT0.536870912S (code 17)");
    }

    @Test
    void codeZeroIsInfiniteOfTimeoutsOnly() {
        assertThat(AckTimeout.ofCode(0)).isEqualTo(AckTimeout.INFINITE).hasToString("infinite (code 0)");
        assertThat(AckTimeout.INFINITE.isInfinite()).isTrue();
        assertThat(AckTimeout.INFINITE.duration()).isEmpty();
        assertThat(new ExponentialDelay(0).duration()).contains(Duration.ofNanos(4096));
    }

    @Test
    void durationsThatHaveNoCodeAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> AckTimeout.atLeast(Duration.ZERO)).withMessage(
                "the acknowledgement timeout must be longer than zero, not PT0S; use AckTimeout.INFINITE to wait"
                        + " forever");
        assertThatIllegalArgumentException().isThrownBy(() -> AckTimeout.atLeast(Duration.ofNanos(-1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AckTimeout.atLeast(Duration.ofNanos(8_796_093_022_209L)))
                .withMessage("the acknowledgement timeout must be at most PT2H26M36.093022208S, not"
                        + " PT2H26M36.093022209S; use AckTimeout.INFINITE to wait forever");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AckTimeout.atLeast(Duration.ofSeconds(Long.MAX_VALUE)));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 32, 255, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void codesHaveFiveBits(int code) {
        assertThatIllegalArgumentException().isThrownBy(() -> AckTimeout.ofCode(code))
                .withMessage("the code of the acknowledgement timeout must be from 0 to 31, not " + code);
    }

    @ParameterizedTest
    @ValueSource(ints = {32, 200, 255})
    void whatADriverTellsBeyondThatIsKept(int code) {
        assertThat(new AckTimeout(code).code()).isEqualTo(code);
        assertThat(new AckTimeout(code).duration()).isEmpty();
        assertThat(new AckTimeout(code).isInfinite()).isFalse();
        assertThat(new AckTimeout(code)).hasToString("undefined (code " + code + ")");
        assertThat(new ExponentialDelay(code).duration()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 256})
    void fieldsHaveEightBits(int code) {
        assertThatIllegalArgumentException().isThrownBy(() -> new AckTimeout(code));
        assertThatIllegalArgumentException().isThrownBy(() -> new ExponentialDelay(code));
    }
}
