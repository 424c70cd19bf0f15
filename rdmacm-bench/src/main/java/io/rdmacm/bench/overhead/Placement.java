// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import io.rdmacm.verbs.error.RdmaException;

/**
 * Which lines of the caches collide is a matter of luck, and worth some ten percent: what lies in the same place of a
 * page as what was just written is read later. So the luck is drawn anew again and again, on the heap, in C's memory
 * and on the stack; the loop in C does the same.
 */
final class Placement {
    private static final int PAGE = 4096;
    private static final int DEEPEST = 60;
    // so that nothing moves up
    private static final List<byte[]> KEPT = new ArrayList<>();

    private Placement() {
    }

    /** Something to run somewhere on the stack. */
    @FunctionalInterface
    interface Loop {
        /** Runs it, and adds up what it reads. */
        long run(int operations) throws RdmaException;
    }

    /** What is allocated next lies elsewhere within its page. */
    static void shiftMemory() {
        KEPT.add(new byte[ThreadLocalRandom.current().nextInt(PAGE)]);
        Arena.global().allocate(1 + ThreadLocalRandom.current().nextLong(PAGE));
    }

    /** Brings what was made closer together, as the garbage collector does with all that lives long. */
    static void settle() {
        System.gc();
    }

    /** How deep on the stack to run next. */
    static int anyDepth() {
        return ThreadLocalRandom.current().nextInt(DEEPEST);
    }

    /**
     * Runs a loop.
     *
     * @param depth how deep on the stack
     */
    static long run(int depth, Loop loop, int operations) throws RdmaException {
        return depth == 0 ? loop.run(operations) : run(depth - 1, loop, operations);
    }
}
