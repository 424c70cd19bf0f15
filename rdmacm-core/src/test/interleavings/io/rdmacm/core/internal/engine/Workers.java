// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.util.ArrayList;
import java.util.List;

/** Stands in for the class of this name, whose pool would outlive a test: each task has a thread of its own. */
public final class Workers {
    // guarded by itself
    private static final List<Thread> THREADS = new ArrayList<>();

    private Workers() {
    }

    /** Runs a task in a thread of its own. */
    public static void execute(Runnable task) {
        Thread thread = Thread.ofPlatform().daemon().name("worker").unstarted(task);
        synchronized (THREADS) {
            THREADS.add(thread);
        }
        thread.start();
    }

    /** Runs a close in a thread of its own. */
    public static void executeClose(Runnable close) {
        execute(close);
    }

    /** Waits until all tasks have ended. */
    public static void join() throws InterruptedException {
        for (Thread thread = next(); thread != null; thread = next()) {
            thread.join();
        }
    }

    private static Thread next() {
        synchronized (THREADS) {
            return THREADS.isEmpty() ? null : THREADS.removeLast();
        }
    }
}
