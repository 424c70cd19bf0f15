// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A task in a thread of its own, for tests of waiting: its thread can be watched until it waits where it should. The
 * time-outs here only end a test that hangs.
 *
 * @param <T> the result
 */
public final class Background<T> implements AutoCloseable {
    private static final long SECONDS = 240;

    private final FutureTask<T> task;
    private final Thread thread;
    private volatile long end;

    private Background(Callable<T> callable, Thread.Builder builder) {
        this.task = new FutureTask<>(() -> {
            try {
                return callable.call();
            } finally {
                end = System.nanoTime();
            }
        });
        this.thread = builder.name("background").unstarted(task);
    }

    /** Something to do. */
    @FunctionalInterface
    public interface Action {
        /** Does it. */
        void run() throws Exception;
    }

    /** Starts a task. */
    public static <T> Background<T> call(Callable<T> task) {
        return call(task, Thread.ofPlatform().daemon());
    }

    /** Starts a task in a virtual thread. */
    public static <T> Background<T> virtual(Callable<T> task) {
        return call(task, Thread.ofVirtual());
    }

    private static <T> Background<T> call(Callable<T> task, Thread.Builder builder) {
        Background<T> background = new Background<>(task, builder);
        background.thread.start();
        return background;
    }

    /** Starts a task without a result. */
    public static Background<Void> run(Action task) {
        return call(() -> {
            task.run();
            return null;
        });
    }

    /** Returns when the thread is inside a method: one that it does not leave by itself. */
    public Background<T> awaitInside(Class<?> type, String method) {
        return awaitState(type.getSimpleName() + "." + method, () -> {
            for (StackTraceElement frame : thread.getStackTrace()) {
                if (frame.getClassName().equals(type.getName()) && frame.getMethodName().equals(method)) {
                    return true;
                }
            }
            return false;
        });
    }

    /** Returns when the thread sleeps in poll(2) or in a system call of a channel of the JDK, or is parked. */
    public Background<T> awaitAsleep() {
        return awaitState("poll or park", () -> {
            StackTraceElement[] frames = thread.getStackTrace();
            if (frames.length > 0 && frames[0].isNativeMethod()
                    && frames[0].getClassName().startsWith("sun.nio.ch.")) {
                return true;
            }
            for (StackTraceElement frame : frames) {
                String method = frame.getClassName() + "." + frame.getMethodName();
                if (method.startsWith(LockSupport.class.getName() + ".park")
                        || method.equals("io.rdmacm.verbs.internal.ffi.Libc.poll")) {
                    return true;
                }
            }
            return false;
        });
    }

    /** Returns when the thread waits for a lock, a condition or a notification. */
    public Background<T> awaitWaiting() {
        return awaitState("a lock", () -> switch (thread.getState()) {
            case WAITING, TIMED_WAITING, BLOCKED -> true;
            default -> false;
        });
    }

    /** Interrupts the thread. */
    public void interrupt() {
        thread.interrupt();
    }

    /** Whether the task has ended. */
    public boolean isDone() {
        return task.isDone();
    }

    /** When it has ended, as {@link System#nanoTime()}. */
    public long end() {
        return end;
    }

    /** Waits for the result; what the task threw is thrown here. */
    public T result() throws Exception {
        try {
            return task.get(SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception exception) {
                throw exception;
            }
            throw new AssertionError(e.getCause());
        } catch (TimeoutException e) {
            throw stuck("the task does not end");
        }
    }

    /** Ends the task when it has not ended by itself. */
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Background<T> awaitState(String what, BooleanSupplier state) {
        long start = System.nanoTime();
        while (!state.getAsBoolean()) {
            if (task.isDone()) {
                throw new AssertionError("the task ended without waiting in " + what);
            }
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(SECONDS)) {
                throw stuck("the task never waited in " + what);
            }
            Thread.yield();
        }
        return this;
    }

    private AssertionError stuck(String message) {
        AssertionError error = new AssertionError(message);
        Throwable where = new Throwable("here");
        where.setStackTrace(thread.getStackTrace());
        error.addSuppressed(where);
        return error;
    }
}
