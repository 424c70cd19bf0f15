// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.verbs.error.RdmaException;

/** Measures how much of the Java heap a queue pair uses, including its helper objects. */
final class QueuePairHeap {
    private static final int COUNT = 10_000;

    private QueuePairHeap() {
    }

    /** Returns the bytes per queue pair. */
    static double bytes() throws RdmaException {
        // the first one loads classes and creates method handles
        try (VerbsStack first = new VerbsStack(false, VerbsStack.DEPTH, 1, 1)) {
            first.pair(0).number();
        }
        long before = used();
        try (VerbsStack stack = new VerbsStack(false, VerbsStack.DEPTH, COUNT, 1)) {
            long after = used();
            stack.pair(COUNT - 1).number();
            return (double) (after - before) / COUNT;
        }
    }

    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        long min = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            min = Math.min(min, runtime.totalMemory() - runtime.freeMemory());
        }
        return min;
    }
}
