// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;

import io.rdmacm.core.internal.engine.Workers;
import io.rdmacm.verbs.internal.life.Stack;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs short tasks one after the other in a thread of its own, so that the thread of the event loop can go on. One
 * thread serves all tasks that come while it runs: to start one for each would cost more than the tasks.
 */
final class SerialExecutor implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);

    // guarded by this
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private boolean running;

    @Override
    public void execute(Runnable task) {
        // Once it says that the thread runs, it must start it.
        Stack.require();
        synchronized (this) {
            tasks.add(task);
            if (running) {
                return;
            }
            running = true;
        }
        try {
            Workers.execute(this::run);
        } catch (OutOfMemoryError e) {
            // There is no room for another thread: those that wait for the result must not wait forever.
            run();
        }
    }

    private void run() {
        for (Runnable task = next(); task != null; task = next()) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                reportQuietly(e);
            }
        }
    }

    private static void reportQuietly(Throwable reason) {
        try {
            LOG.error("a task failed", reason);
        } catch (RuntimeException | Error e) {
            // There may be no memory to say so.
        }
    }

    private synchronized Runnable next() {
        Runnable task = tasks.poll();
        running = task != null;
        return task;
    }
}
