// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

/** The stack of the current thread. */
public final class Stack {
    // About 20 KiB when the compilers have done their best, three times as much without them: more than a close takes.
    private static final int CLOSE = 400;
    // a fourth of that: more than a call of C and what follows it take
    private static final int CALL = CLOSE / 4;

    private Stack() {
    }

    /**
     * Checks that there is enough left for what must not be torn apart, such as a close.
     *
     * @throws StackOverflowError if there is not: now, and not in the middle
     */
    public static void require() {
        long ignored = descend(CLOSE, 0, 0, 0, 0);
    }

    /**
     * Checks that there is enough left for a call of C that must be noted, because C must not be called again.
     *
     * @throws StackOverflowError if there is not
     */
    public static void requireCall() {
        long ignored = descend(CALL, 0, 0, 0, 0);
    }

    /** Needs its values after the call, too, so that its frames have some size even when they are compiled. */
    private static long descend(int depth, long a, long b, long c, long d) {
        return depth == 0 ? a : descend(depth - 1, b, c, d, a + depth) + (a ^ b) + (c ^ d);
    }
}
