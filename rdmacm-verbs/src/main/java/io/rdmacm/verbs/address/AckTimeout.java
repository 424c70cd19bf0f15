// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.time.Duration;
import java.util.Optional;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * How long a queue pair waits for an acknowledgement before it sends a packet again ({@code ibv_qp_attr.timeout} and
 * {@code alt_timeout}, ibv_modify_qp(3); {@code RDMA_OPTION_ID_ACK_TIMEOUT}, rdma_set_option(3)). C has a 5-bit code: 0
 * waits forever, every other code is 4.096 microseconds times two to the power of it. Each timeout is twice as long as
 * the one before it, from 8.192 microseconds (code 1) to 2 hours 26 minutes (code 31). Devices may wait up to four
 * times as long, and some have a lower limit of their own.
 *
 * @param code the code of C. Programs use {@link #atLeast}, {@link #ofCode} or {@link #INFINITE}, which make codes from
 *        0 to 31. Codes up to 255 are possible here because the field of the C struct has 8 bits: what a query returns
 *        is kept as it is.
 */
public record AckTimeout(int code) {
    /** Waits forever: a lost packet is never sent again (code 0). */
    public static final AckTimeout INFINITE = new AckTimeout(0);

    private static final int FIRST_CODE = 1;
    private static final int CODE_BITS = 5;

    /**
     * Checks the code.
     *
     * @throws IllegalArgumentException when the code does not fit into the 8 bits of the C field
     */
    public AckTimeout {
        Arguments.requireBits("code of the acknowledgement timeout", code, Byte.SIZE);
    }

    /**
     * Returns the timeout of a code.
     *
     * @param code 0 for {@link #INFINITE}, otherwise 1 to 31 for 4.096 microseconds times two to the power of it
     * @throws IllegalArgumentException when the code is not from 0 to 31
     */
    public static AckTimeout ofCode(int code) {
        Arguments.requireBits("code of the acknowledgement timeout", code, CODE_BITS);
        return new AckTimeout(code);
    }

    /**
     * Returns the shortest timeout that is not shorter than a duration: the duration, rounded up to the next code.
     *
     * @param duration above zero, at most 8796.093022208 seconds (code 31)
     * @throws IllegalArgumentException when the duration is zero, negative, or longer than the longest timeout
     */
    public static AckTimeout atLeast(Duration duration) {
        if (duration.isZero() || duration.isNegative()) {
            throw new IllegalArgumentException("the acknowledgement timeout must be longer than zero, not " + duration
                    + "; use AckTimeout.INFINITE to wait forever");
        }
        for (int code = FIRST_CODE; code <= ExponentialDelay.LAST_CODE; code++) {
            if (new ExponentialDelay(code).duration().orElseThrow().compareTo(duration) >= 0) {
                return new AckTimeout(code);
            }
        }
        throw new IllegalArgumentException("the acknowledgement timeout must be at most "
                + new ExponentialDelay(ExponentialDelay.LAST_CODE).duration().orElseThrow() + ", not " + duration
                + "; use AckTimeout.INFINITE to wait forever");
    }

    /** Returns whether it waits forever. */
    public boolean isInfinite() {
        return code == 0;
    }

    /**
     * Returns how long it waits; empty when it waits forever, and for codes above 31, which the specification does not
     * define.
     */
    public Optional<Duration> duration() {
        return isInfinite() ? Optional.empty() : new ExponentialDelay(code).duration();
    }

    @Override
    public String toString() {
        return isInfinite() ? "infinite (code 0)" : new ExponentialDelay(code).toString();
    }
}
