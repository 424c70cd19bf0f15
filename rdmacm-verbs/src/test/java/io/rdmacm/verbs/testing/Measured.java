// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

/** How long after a fault it was seen, for docs/reliability.md: a line in the output of the tests. */
public final class Measured {
    private static final double NANOS_OF_A_MILLI = 1e6;

    private final long start = System.nanoTime();

    private Measured() {
    }

    /** The fault happens now. */
    public static Measured fromNow() {
        return new Measured();
    }

    /** It is seen now. */
    public void print(String fault) {
        System.out.printf("measured: %s: %.1f ms%n", fault, (System.nanoTime() - start) / NANOS_OF_A_MILLI);
    }
}
