// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.verbs.error.RdmaException;

/** How much of the Java heap a queue pair takes, with all that is made for it. */
final class QueuePairHeap {
    private static final int COUNT = 10_000;

    private QueuePairHeap() {
    }

    /** The bytes of one. */
    static double bytes() throws RdmaException {
        // classes and handles are made by the first one
        try (NullStack first = new NullStack(false, NullStack.DEPTH, 1, 1)) {
            first.pair(0).number();
        }
        long before = used();
        try (NullStack stack = new NullStack(false, NullStack.DEPTH, COUNT, 1)) {
            long after = used();
            stack.pair(COUNT - 1).number();
            return (double) (after - before) / COUNT;
        }
    }

    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
