// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.time.Duration;
import java.util.Objects;

/** A point in time until which somebody waits. */
public final class Deadline {
    private final long start = System.nanoTime();
    private final long nanos;

    private Deadline(long nanos) {
        this.nanos = nanos;
    }

    /**
     * From now on.
     *
     * @param timeout not negative; the longest Duration waits for centuries
     */
    public static Deadline after(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout is negative: " + timeout);
        }
        // more than Long.MAX_VALUE nanoseconds (292 years) cannot be told from for ever
        boolean countable = timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE)) < 0;
        return new Deadline(countable ? timeout.toNanos() : Long.MAX_VALUE);
    }

    /** The time left, 0 when it has passed. */
    public long remainingNanos() {
        return Math.max(0, nanos - (System.nanoTime() - start));
    }

    /** The time left, zero when it has passed. */
    public Duration remaining() {
        return Duration.ofNanos(remainingNanos());
    }

    /** Whether no time is left. */
    public boolean hasPassed() {
        return remainingNanos() == 0;
    }
}
