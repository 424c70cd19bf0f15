// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

/** The stack of the current thread. */
public final class Stack {
    // more calls than a close is deep
    private static final int DEPTH = 256;

    private Stack() {
    }

    /**
     * Checks that there is enough left for what must not be torn apart, such as a close.
     *
     * @throws StackOverflowError if there is not: now, and not in the middle
     */
    public static void require() {
        int ignored = descend(DEPTH);
    }

    private static int descend(int depth) {
        return depth == 0 ? 0 : descend(depth - 1) + 1;
    }
}
