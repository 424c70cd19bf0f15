// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.time.Duration;

/** How long after a fault it was seen: a line in the output of the tests. */
public final class Measured {
    private static final double NANOS_OF_A_MILLI = 1e6;

    private final long start = System.nanoTime();

    private Measured() {
    }

    /** The fault happens now. */
    public static Measured fromNow() {
        return new Measured();
    }

    /** The time since then. */
    public Duration time() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** It is seen now. */
    public void print(String fault) {
        print(fault, time());
    }

    /** It was seen at some time of {@link System#nanoTime()}. */
    public void print(String fault, long nanoTime) {
        print(fault, Duration.ofNanos(nanoTime - start));
    }

    /** It was seen after some time. */
    public static void print(String fault, Duration time) {
        System.out.printf("measured: %s: %.1f ms%n", fault, time.toNanos() / NANOS_OF_A_MILLI);
    }
}
