// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Platform threads for what may wait, and must not hold up anybody else: started when they are needed, ended when they
 * are idle. Not virtual threads: they would stand still while the program keeps their carriers busy.
 */
public final class Workers {
    private static final int MOST_CLOSERS = 64;
    private static final int IDLE_SECONDS = 5;
    private static final ThreadFactory THREADS = Thread.ofPlatform().daemon().name("rdmacm-worker-", 0)
            .inheritInheritableThreadLocals(false).factory();
    private static final ThreadPoolExecutor POOL = new ThreadPoolExecutor(0, Integer.MAX_VALUE, IDLE_SECONDS,
            TimeUnit.SECONDS, new SynchronousQueue<>(), THREADS);
    private static final ThreadPoolExecutor CLOSERS = new ThreadPoolExecutor(MOST_CLOSERS, MOST_CLOSERS, IDLE_SECONDS,
            TimeUnit.SECONDS, new LinkedBlockingQueue<>(), THREADS);

    static {
        CLOSERS.allowCoreThreadTimeOut(true);
    }

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

    /**
     * Runs a close that may wait for its peer, each of which ends in time. As many as peers please may be due at once,
     * so they take turns in a bounded number of threads.
     *
     * @throws OutOfMemoryError if the machine has no room for another thread
     */
    public static void executeClose(Runnable close) {
        CLOSERS.execute(close);
    }
}
