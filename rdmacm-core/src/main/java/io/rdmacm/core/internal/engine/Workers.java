// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Platform threads for what may wait, and must not hold up anybody else: started when they are needed, ended when they
 * are idle. Not virtual threads: they would stand still while the program keeps their carriers busy.
 */
public final class Workers {
    private static final ThreadPoolExecutor POOL = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 5, TimeUnit.SECONDS,
            new SynchronousQueue<>(), Thread.ofPlatform().daemon().name("rdmacm-worker-", 0)
                    .inheritInheritableThreadLocals(false).factory());

    private Workers() {
    }

    /**
     * Runs a task in a thread of its own.
     *
     * @throws OutOfMemoryError if the machine has no room for another thread
     */
    public static void execute(Runnable task) {
        POOL.execute(task);
    }
}
