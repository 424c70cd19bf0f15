// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.time.Duration;

/** The time that a call of several steps may still take. */
final class Limit {
    private final long start = System.nanoTime();
    private final long nanos;

    private Limit(long nanos) {
        this.nanos = nanos;
    }

    static Limit of(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout is negative: " + timeout);
        }
        // 292 years are as good as for ever
        boolean countable = timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE)) < 0;
        return new Limit(countable ? timeout.toNanos() : Long.MAX_VALUE);
    }

    /** The smaller of what is left and another duration. */
    Limit atMost(Duration other) {
        return of(other.compareTo(left()) < 0 ? other : left());
    }

    long leftNanos() {
        return Math.max(0, nanos - (System.nanoTime() - start));
    }

    Duration left() {
        return Duration.ofNanos(leftNanos());
    }
}
