// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.time.Duration;
import java.util.TreeSet;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Something that goes on without a thread of the program. All tasks share one daemon thread, a platform thread so that
 * it runs while virtual threads keep all carriers busy. It starts when there is something to do and ends a little later
 * than that, so that it keeps no class loader. A task must not block it.
 *
 * <p>When the program ends, what {@link #finishes} is given a short time.
 */
public abstract class BackgroundTask {
    /** What {@link #run} returns when it need not be called again. */
    protected static final long DONE = -1;

    private static final Logger LOG = LoggerFactory.getLogger(BackgroundTask.class);
    private static final long IDLE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long EXIT_MILLIS = 2_000;
    private static final long SHORT_OF_MEMORY_NANOS = Duration.ofMillis(1).toNanos();
    private static final Runnable EXIT = BackgroundTask::awaitFinishing;

    // tests let it fail
    static volatile ThreadFactory threads = Thread.ofPlatform().daemon().name("rdmacm-background")
            .inheritInheritableThreadLocals(false).factory();

    // Guards the static fields. Code that holds it calls nothing that may fail halfway: see submit().
    private static final Object LOCK = new Object();
    // submitted and not taken by the thread, the last one first
    private static @Nullable BackgroundTask submitted;
    // the thread that runs; null if there is none
    private static @Nullable Thread current;
    // the thread that runs next. Made before it is needed, when there is enough stack for it.
    private static Thread next = newThread();
    private static boolean starting;
    // null if there is nothing to wait for when the program ends
    private static @Nullable Thread hook;
    private static int finishing;

    // guarded by LOCK
    private boolean isSubmitted;
    private boolean isFinishing;
    private @Nullable BackgroundTask before;
    // used by the thread
    private long due;
    private long number;

    /** Creates a task that has not been submitted. */
    protected BackgroundTask() {
    }

    /**
     * Carries on as far as possible without waiting. Called by the thread.
     *
     * @return how many nanoseconds later it is to be called again, or {@link #DONE}
     */
    protected abstract long run();

    /**
     * Takes note of what {@link #run} has thrown; it is not called again unless the task is submitted.
     *
     * @param reason what was thrown
     */
    protected abstract void failed(Throwable reason);

    /** {@return whether the task comes to an end soon, so that the end of the program should wait for it a little} */
    protected abstract boolean finishes();

    /** {@return whether this is the thread of the tasks, which must not wait for any of them} */
    public static boolean isCurrentThread() {
        return Thread.currentThread() == current;
    }

    /** Refuses to let this thread wait if it is that of the tasks. */
    public static void requireOtherThread() {
        if (isCurrentThread()) {
            throw new IllegalStateException("this thread closes all streams, and would wait for itself: what depends on"
                    + " a closeAsync() must not wait for another one");
        }
    }

    /**
     * Has the task run soon, whether or not it was submitted before. If that fails for want of stack or memory, nothing
     * is lost: the next call does what is left to do.
     */
    public final void submit() {
        boolean finishes = finishes();
        synchronized (LOCK) {
            enqueue();
            if (finishes && !isFinishing) {
                isFinishing = true;
                finishing++;
            }
            if (finishing > 0 && hook == null) {
                addHook();
            }
            Thread thread = current;
            if (thread != null) {
                LockSupport.unpark(thread);
            } else if (!starting) {
                if (next.getState() != Thread.State.NEW) {
                    next = newThread();
                }
                next.start();
                starting = true;
            }
        }
    }

    private void enqueue() {
        if (!isSubmitted) {
            before = submitted;
            submitted = this;
            isSubmitted = true;
        }
    }

    private static void addHook() {
        Thread created = new Thread(EXIT, "rdmacm-exit");
        try {
            Runtime.getRuntime().addShutdownHook(created);
        } catch (IllegalStateException e) {
            LOG.debug("the program is ending already", e);
        }
        hook = created;
    }

    /** Waits a little until the tasks have come to an end that were to. */
    private static void awaitFinishing() {
        long end = System.nanoTime() + EXIT_MILLIS * 1_000_000;
        synchronized (LOCK) {
            try {
                for (long left = EXIT_MILLIS; finishing > 0 && left > 0;
                        left = (end - System.nanoTime()) / 1_000_000) {
                    LOCK.wait(left);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Thread newThread() {
        return threads.newThread(new Tasks());
    }

    /** What the thread does. */
    private static final class Tasks implements Runnable {
        // by the time at which they are due
        private final TreeSet<BackgroundTask> waiting = new TreeSet<>((one, other) -> one.due != other.due
                ? Long.signum(one.due - other.due) : Long.compare(one.number, other.number));
        private long numbers;

        private long idleSince = System.nanoTime();

        @Override
        public void run() {
            if (!begin()) {
                return;
            }
            boolean running = true;
            while (running) {
                try {
                    running = step();
                } catch (Throwable t) {
                    // All others still need the thread, when memory can be had again.
                    LockSupport.parkNanos(LOCK, SHORT_OF_MEMORY_NANOS);
                }
            }
        }

        /** Runs what is due first, or sleeps; returns false when the thread is to end. */
        private boolean step() {
            take();
            long now = System.nanoTime();
            if (waiting.isEmpty()) {
                if (now - idleSince >= IDLE_NANOS && end()) {
                    return false;
                }
                LockSupport.parkNanos(LOCK, IDLE_NANOS);
                return true;
            }
            BackgroundTask first = waiting.first();
            if (first.due - now > 0) {
                LockSupport.parkNanos(LOCK, first.due - now);
            } else {
                waiting.remove(first);
                run(first);
            }
            idleSince = System.nanoTime();
            return true;
        }

        /** Returns false if another thread has been started as well. */
        private static boolean begin() {
            synchronized (LOCK) {
                starting = false;
                if (current != null) {
                    return false;
                }
                current = Thread.currentThread();
                return true;
            }
        }

        /** Returns false if there is something to do. */
        private static boolean end() {
            synchronized (LOCK) {
                if (submitted != null) {
                    return false;
                }
                Thread following = newThread();
                Thread last = hook;
                if (last != null) {
                    // One that could not be removed has nothing to wait for.
                    hook = null;
                    removeHook(last);
                }
                // Nothing fails from here on: as long as this thread is the current one, no other runs tasks.
                next = following;
                current = null;
                return true;
            }
        }

        private static void removeHook(Thread hook) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                LOG.debug("the program is ending", e);
            }
        }

        /** Makes what was submitted due, in the order in which it was. */
        private void take() {
            BackgroundTask last;
            synchronized (LOCK) {
                last = submitted;
                submitted = null;
            }
            long now = System.nanoTime();
            while (last != null) {
                BackgroundTask task = last;
                synchronized (LOCK) {
                    last = task.before;
                    task.before = null;
                    task.isSubmitted = false;
                }
                waiting.remove(task);
                // Of those that are due at the same time, the one that was submitted first has the lowest number.
                add(task, now, numbers--);
            }
        }

        private void add(BackgroundTask task, long due, long number) {
            task.due = due;
            task.number = number;
            try {
                waiting.add(task);
            } catch (OutOfMemoryError e) {
                synchronized (LOCK) {
                    task.enqueue();
                }
            }
        }

        private void run(BackgroundTask task) {
            long nanos = DONE;
            try {
                nanos = task.run();
            } catch (Throwable t) {
                // An Error, too, is the end of this task only.
                report(task, t);
            }
            if (nanos == DONE) {
                finished(task);
            } else {
                add(task, System.nanoTime() + nanos, numbers--);
            }
        }

        private static void report(BackgroundTask task, Throwable reason) {
            try {
                LOG.debug("{} has failed", task, reason);
                task.failed(reason);
            } catch (Throwable t) {
                // There may be no memory to say so.
            }
        }

        private static void finished(BackgroundTask task) {
            synchronized (LOCK) {
                if (task.isFinishing && !task.isSubmitted) {
                    task.isFinishing = false;
                    finishing--;
                    LOCK.notifyAll();
                }
            }
        }
    }
}
