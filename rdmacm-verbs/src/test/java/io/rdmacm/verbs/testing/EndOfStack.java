// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Does something where the stack of a thread ends. */
public final class EndOfStack {
    private static final int SMALL_STACK = 256 << 10;

    private EndOfStack() {
    }

    /**
     * Tries it as deep as calls go, and then with a little more stack each time, until there is enough. What it needs
     * should have been loaded before.
     */
    public static void run(Background.Action action) throws Exception {
        FutureTask<Boolean> task = new FutureTask<>(() -> descend(action));
        Thread thread = new Thread(null, task, "descending", SMALL_STACK);
        thread.setDaemon(true);
        thread.start();
        if (!task.get(4, TimeUnit.MINUTES)) {
            throw new AssertionError("there was never enough stack");
        }
    }

    private static boolean descend(Background.Action action) throws Exception {
        try {
            if (descend(action)) {
                return true;
            }
        } catch (StackOverflowError e) {
            // no deeper than this
        }
        try {
            action.run();
            return true;
        } catch (StackOverflowError e) {
            return false;
        }
    }
}
