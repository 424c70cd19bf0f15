// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** The point in time until which a call may wait, in one or more steps. */
public final class Deadline {
    /** A timeout that never runs out. */
    public static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

    // Long.MAX_VALUE nanoseconds are 292 years.
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);
    // The kernel accepts timeouts in milliseconds, from 1 to the largest int.
    private static final long KERNEL_MIN = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long KERNEL_MAX = TimeUnit.MILLISECONDS.toNanos(Integer.MAX_VALUE);

    private final long start = System.nanoTime();
    private final long nanos;

    private Deadline(long nanos) {
        this.nanos = nanos;
    }

    /**
     * Returns the deadline that is the given time from now.
     *
     * @param timeout the time, not negative; more than 292 years are the same as 292 years
     */
    public static Deadline after(Duration timeout) {
        return new Deadline(toNanos(timeout));
    }

    /** Returns the deadline that is so many nanoseconds from now. */
    public static Deadline after(long nanos) {
        return new Deadline(nanos);
    }

    /** Returns the nanoseconds of a timeout; Long.MAX_VALUE if they are more. */
    static long toNanos(Duration timeout) {
        requireValid(timeout);
        return timeout.compareTo(LONGEST) < 0 ? timeout.toNanos() : Long.MAX_VALUE;
    }

    /**
     * Checks a timeout, for calls that may not have to wait.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public static void requireValid(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout is negative: " + timeout);
        }
    }

    /** Returns the time of {@link System#nanoTime} from which on it counts. */
    long start() {
        return start;
    }

    /** Returns the nanoseconds from there. */
    long nanos() {
        return nanos;
    }

    /** Returns the remaining nanoseconds; 0 if the deadline has passed. */
    public long remainingNanos() {
        return Math.max(0, nanos - (System.nanoTime() - start));
    }

    /** Returns the remaining time; zero if the deadline has passed. */
    public Duration remaining() {
        return Duration.ofNanos(remainingNanos());
    }

    /** Returns the remaining time, but at most the given time, for a step that has a timeout of its own. */
    public Duration remaining(Duration atMost) {
        Duration left = remaining();
        return atMost.compareTo(left) < 0 ? atMost : left;
    }

    /** Returns the remaining time in the range of the kernel: at least 1 ms, and at most Integer.MAX_VALUE ms. */
    public Duration remainingForKernel() {
        return Duration.ofNanos(Math.clamp(remainingNanos(), KERNEL_MIN, KERNEL_MAX));
    }

    /** Returns whether the deadline has passed. */
    public boolean hasPassed() {
        return remainingNanos() == 0;
    }
}
