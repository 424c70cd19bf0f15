// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import java.time.Duration;
import java.util.Optional;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * How long a peer has to wait before it sends again when its message found no receive posted here: the minimum RNR NAK
 * timer ({@code ibv_qp_attr.min_rnr_timer}, ibv_modify_qp(3); RNR is "receiver not ready"). C has a 5-bit code for one
 * of 32 times: codes 1 to 31 stand for 0.01 to 491.52 milliseconds, each one and a third to two times the one before
 * it, and code 0 for the longest, 655.36 milliseconds.
 *
 * @param code the code of C. Programs use {@link #atLeast} or {@link #ofCode}, which make codes from 0 to 31. Codes up
 *        to 255 are possible here because the field of the C struct has 8 bits: what a query returns is kept as it is.
 */
public record RnrTimer(int code) {
    private static final int CODE_BITS = 5;
    private static final int UNIT_MICROS = 10;
    // The InfiniBand specification, section 9.7.5.2.8; by code, in hundredths of a millisecond.
    private static final int[] TIMES = {65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
        768, 1_024, 1_536, 2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 49_152};

    /**
     * Checks the code.
     *
     * @throws IllegalArgumentException when the code does not fit into the 8 bits of the C field
     */
    public RnrTimer {
        Arguments.requireBits("code of the RNR timer", code, Byte.SIZE);
    }

    /**
     * Returns the timer of a code.
     *
     * @param code 1 for 0.01 milliseconds to 31 for 491.52 milliseconds; 0 for 655.36 milliseconds
     * @throws IllegalArgumentException when the code is not from 0 to 31
     */
    public static RnrTimer ofCode(int code) {
        Arguments.requireBits("code of the RNR timer", code, CODE_BITS);
        return new RnrTimer(code);
    }

    /**
     * Returns the shortest timer that is not shorter than a duration: the duration, rounded up to the next of the 32
     * times.
     *
     * @param duration above zero, at most 655.36 milliseconds
     * @throws IllegalArgumentException when the duration is zero, negative, or longer than the longest timer
     */
    public static RnrTimer atLeast(Duration duration) {
        if (duration.isZero() || duration.isNegative()) {
            throw new IllegalArgumentException("the RNR timer must be longer than zero, not " + duration);
        }
        for (int code = 1; code < TIMES.length; code++) {
            if (time(code).compareTo(duration) >= 0) {
                return new RnrTimer(code);
            }
        }
        if (time(0).compareTo(duration) < 0) {
            throw new IllegalArgumentException("the RNR timer must be at most " + time(0) + ", not " + duration);
        }
        return new RnrTimer(0);
    }

    /** Returns how long the peer waits; empty for codes above 31, which the specification does not define. */
    public Optional<Duration> duration() {
        return code < TIMES.length ? Optional.of(time(code)) : Optional.empty();
    }

    @Override
    public String toString() {
        return duration().map(time -> time + " (code " + code + ")").orElse("undefined (code " + code + ")");
    }

    private static Duration time(int code) {
        return Duration.ofNanos(TIMES[code] * UNIT_MICROS * 1_000L);
    }
}
