// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import io.rdmacm.verbs.error.RdmaException;

/**
 * Randomizes where data lies in memory. Which cache lines collide depends on chance, and makes a difference of some ten
 * percent: a load is delayed if its address has the same offset within a page as a store just before. So the placement
 * is randomized repeatedly, on the heap, in native memory and on the stack; the loop in C does the same.
 */
final class Placement {
    private static final int PAGE = 4096;
    private static final int DEEPEST = 60;
    // keeps the padding alive, so that later objects do not move into its place
    private static final List<byte[]> KEPT = new ArrayList<>();

    private Placement() {
    }

    /** A loop that is run at some depth of the stack. */
    @FunctionalInterface
    interface Loop {
        /** Runs the loop, and returns the sum of what it reads. */
        long run(int operations) throws RdmaException;
    }

    /** Shifts what is allocated next to a random place within its page. */
    static void shiftMemory() {
        KEPT.add(new byte[ThreadLocalRandom.current().nextInt(PAGE)]);
        Arena.global().allocate(1 + ThreadLocalRandom.current().nextLong(PAGE));
    }

    /** Compacts the heap, as happens to long-lived objects. */
    static void settle() {
        System.gc();
    }

    /** Returns a random stack depth for the next run. */
    static int anyDepth() {
        return ThreadLocalRandom.current().nextInt(DEEPEST);
    }

    /**
     * Runs a loop.
     *
     * @param depth the number of stack frames below the loop
     */
    static long run(int depth, Loop loop, int operations) throws RdmaException {
        return depth == 0 ? loop.run(operations) : run(depth - 1, loop, operations);
    }
}
