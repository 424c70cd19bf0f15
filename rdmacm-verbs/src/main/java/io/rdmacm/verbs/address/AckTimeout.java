// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.time.Duration;
import java.util.Optional;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * How long a queue pair waits for an acknowledgement before it retransmits a packet ({@code ibv_qp_attr.timeout} and
 * {@code alt_timeout}, ibv_modify_qp(3); {@code RDMA_OPTION_ID_ACK_TIMEOUT}, rdma_set_option(3)). C encodes it in 5
 * bits: code 0 waits forever, and code <i>n</i> waits 4.096 microseconds × 2<sup><i>n</i></sup>, from 8.192
 * microseconds (code 1) to 2 hours 26 minutes (code 31). A device may wait up to four times as long, and some devices
 * enforce a minimum of their own.
 *
 * @param code the code used by C. Programs use {@link #atLeast}, {@link #ofCode} or {@link #INFINITE}, which accept
 *        codes from 0 to 31. Codes up to 255 are allowed here because the field of the C struct has 8 bits, so that
 *        whatever a query returns can be represented.
 */
public record AckTimeout(int code) {
    /** Waits forever: a lost packet is never retransmitted (code 0). */
    public static final AckTimeout INFINITE = new AckTimeout(0);

    private static final int FIRST_CODE = 1;
    private static final int CODE_BITS = 5;

    /**
     * Checks the code.
     *
     * @throws IllegalArgumentException if the code does not fit into the 8 bits of the C field
     */
    public AckTimeout {
        Arguments.requireBits("code of the acknowledgement timeout", code, Byte.SIZE);
    }

    /**
     * Returns the timeout with the given code.
     *
     * @param code 0 for {@link #INFINITE}, or <i>n</i> from 1 to 31 for 4.096 microseconds × 2<sup><i>n</i></sup>
     * @return the timeout
     * @throws IllegalArgumentException if the code is not from 0 to 31
     */
    public static AckTimeout ofCode(int code) {
        Arguments.requireBits("code of the acknowledgement timeout", code, CODE_BITS);
        return new AckTimeout(code);
    }

    /**
     * Returns the shortest timeout that is at least as long as the given duration.
     *
     * @param duration greater than zero and at most 8796.093022208 seconds (code 31)
     * @return the duration, rounded up to the next code
     * @throws IllegalArgumentException if the duration is zero, negative, or longer than the longest timeout
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

    /** {@return whether the timeout is infinite (code 0)} */
    public boolean isInfinite() {
        return code == 0;
    }

    /**
     * Returns the length of the timeout.
     *
     * @return the duration; empty if the timeout is infinite, and for codes above 31, which the InfiniBand
     *         specification does not define
     */
    public Optional<Duration> duration() {
        return isInfinite() ? Optional.empty() : new ExponentialDelay(code).duration();
    }

    @Override
    public String toString() {
        return isInfinite() ? "infinite (code 0)" : new ExponentialDelay(code).toString();
    }
}
