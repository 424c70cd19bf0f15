// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import java.time.Duration;

/** How long things took, for docs/reliability.md: a line each in the output of the tests. */
final class Measured {
    private static final double MILLISECONDS = 1000;

    private final long start = System.nanoTime();

    Duration time() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    void print(String what) {
        print(what, time());
    }

    static void print(String what, Duration time) {
        System.out.printf("measured: %s: %.1f s%n", what, time.toMillis() / MILLISECONDS);
    }
}
