// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.fuzz;

import java.util.concurrent.TimeUnit;

/** Ends calls that wait, and the JVM when one does not end even then. */
public final class Interrupter implements AutoCloseable {
    private static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long HANG = TimeUnit.SECONDS.toNanos(120);
    private static final int HANGS = 3;

    private final Thread watched = Thread.currentThread();
    private final Thread watcher = Thread.ofPlatform().daemon().name("interrupter").start(this::watch);
    // guarded by this
    private String call;
    private long since;
    private long patience;

    /** A call by reflection. */
    @FunctionalInterface
    interface Call {
        Object run() throws ReflectiveOperationException;
    }

    /** Runs a call of the thread that made this. */
    Object during(String text, Call what) throws ReflectiveOperationException {
        synchronized (this) {
            call = text;
            since = System.nanoTime();
            patience = PATIENCE;
        }
        try {
            return what.run();
        } finally {
            synchronized (this) {
                call = null;
            }
            Thread.interrupted();
        }
    }

    private void watch() {
        try {
            while (true) {
                TimeUnit.MILLISECONDS.sleep(5);
                look();
            }
        } catch (InterruptedException e) {
            // closed
        }
    }

    private synchronized void look() {
        if (call == null) {
            return;
        }
        long lasted = System.nanoTime() - since;
        if (lasted > HANG) {
            System.err.println("does not end: " + call);
            for (StackTraceElement frame : watched.getStackTrace()) {
                System.err.println("\tat " + frame);
            }
            Runtime.getRuntime().halt(HANGS);
        } else if (lasted > patience) {
            watched.interrupt();
            // The JDK waits for memory, and begins again when it is interrupted.
            patience *= 2;
        }
    }

    @Override
    public void close() {
        watcher.interrupt();
    }
}
