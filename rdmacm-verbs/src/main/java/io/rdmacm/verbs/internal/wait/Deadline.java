// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A point in time until which a call of one or more steps may wait. */
public final class Deadline {
    // The kernel takes timeouts as whole milliseconds in an int, and none below 1.
    private static final long KERNEL_MIN = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long KERNEL_MAX = TimeUnit.MILLISECONDS.toNanos(Integer.MAX_VALUE);

    private final long start = System.nanoTime();
    private final long nanos;

    private Deadline(long nanos) {
        this.nanos = nanos;
    }

    /**
     * Returns the deadline that is a given time from now.
     *
     * @param timeout not negative; the longest Duration waits for centuries
     */
    public static Deadline after(Duration timeout) {
        requireValid(timeout);
        // more than Long.MAX_VALUE nanoseconds (292 years) cannot be told from for ever
        boolean countable = timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE)) < 0;
        return new Deadline(countable ? timeout.toNanos() : Long.MAX_VALUE);
    }

    /**
     * Checks the timeout of a call that may not have to wait.
     *
     * @throws IllegalArgumentException when it is negative
     */
    public static void requireValid(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout is negative: " + timeout);
        }
    }

    /** The time left, 0 when it has passed. */
    public long remainingNanos() {
        return Math.max(0, nanos - (System.nanoTime() - start));
    }

    /** The time left, zero when it has passed. */
    public Duration remaining() {
        return Duration.ofNanos(remainingNanos());
    }

    /** The time left, at most the given time: for a step of its own timeout. */
    public Duration remaining(Duration atMost) {
        Duration left = remaining();
        return atMost.compareTo(left) < 0 ? atMost : left;
    }

    /** The time left as the kernel takes it: from 1 ms, also when it has passed, to Integer.MAX_VALUE ms. */
    public Duration remainingForKernel() {
        return Duration.ofNanos(Math.clamp(remainingNanos(), KERNEL_MIN, KERNEL_MAX));
    }

    /** Whether no time is left. */
    public boolean hasPassed() {
        return remainingNanos() == 0;
    }
}
