// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import java.time.Duration;
import java.util.Optional;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * The minimum RNR NAK timer ({@code ibv_qp_attr.min_rnr_timer}, ibv_modify_qp(3)): how long a peer has to wait before
 * it retransmits a message for which no receive was posted ("receiver not ready"). C uses a 5-bit code for one of 32
 * times: codes 1 to 31 stand for 0.01 to 491.52 milliseconds, in steps of a factor between 4/3 and 2, and code 0 stands
 * for the longest, 655.36 milliseconds.
 *
 * @param code the code used by C. Programs use {@link #atLeast} or {@link #ofCode}, which accept codes from 0 to 31.
 *        Codes up to 255 are allowed here because the field of the C struct has 8 bits, so that whatever a query
 *        returns can be represented.
 */
public record RnrTimer(int code) {
    private static final int CODE_BITS = 5;
    private static final int UNIT_MICROS = 10;
    // By code, in hundredths of a millisecond; from the InfiniBand specification, section 9.7.5.2.8.
    private static final int[] TIMES = {65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
        768, 1_024, 1_536, 2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 49_152};

    /**
     * Checks the code.
     *
     * @throws IllegalArgumentException if the code does not fit into the 8 bits of the C field
     */
    public RnrTimer {
        Arguments.requireBits("code of the RNR timer", code, Byte.SIZE);
    }

    /**
     * Returns the timer with the given code.
     *
     * @param code 1 (0.01 milliseconds) to 31 (491.52 milliseconds), or 0 (655.36 milliseconds)
     * @return the timer
     * @throws IllegalArgumentException if the code is not from 0 to 31
     */
    public static RnrTimer ofCode(int code) {
        Arguments.requireBits("code of the RNR timer", code, CODE_BITS);
        return new RnrTimer(code);
    }

    /**
     * Returns the shortest timer that is at least as long as the given duration.
     *
     * @param duration greater than zero and at most 655.36 milliseconds
     * @return the duration, rounded up to the next of the 32 times
     * @throws IllegalArgumentException if the duration is zero, negative, or longer than the longest timer
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

    /** {@return how long the peer waits; empty for codes above 31, which the specification does not define} */
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
