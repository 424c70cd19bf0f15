// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Ends the program when something takes too long, after printing the stacks of all threads. */
final class Watchdog implements AutoCloseable {
    /** The exit status of a program that hung. */
    static final int HUNG = 3;

    private static final long PAUSE = 500;

    private final Duration limit;
    private final PrintWriter out;
    private final Map<Thread, Watch> watches = new ConcurrentHashMap<>();
    private final Thread thread;

    /** Starts watching. */
    Watchdog(Duration limit, PrintWriter out) {
        this.limit = limit;
        this.out = out;
        this.thread = Thread.ofPlatform().daemon().name("watchdog").start(this::watch);
    }

    private record Watch(String what, long start) {
    }

    /** Starts the clock for what this thread does next; stopped by {@link #done()} or the next call of this method. */
    void begin(String what) {
        watches.put(Thread.currentThread(), new Watch(what, System.nanoTime()));
    }

    /** Stops the clock of this thread. */
    void done() {
        watches.remove(Thread.currentThread());
    }

    private void watch() {
        try {
            while (true) {
                Thread.sleep(PAUSE);
                watches.forEach((watched, watch) -> {
                    if (System.nanoTime() - watch.start > limit.toNanos()) {
                        abort(watched, watch);
                    }
                });
            }
        } catch (InterruptedException e) {
            // closed
        }
    }

    private void abort(Thread watched, Watch watch) {
        out.printf("HANG: %s of %s does not end within %s s; all threads:%n", watch.what, watched.getName(),
                limit.toSeconds());
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            out.printf("%n\"%s\" %s%n", thread.getName(), thread.getState());
            for (StackTraceElement frame : frames) {
                out.println("    at " + frame);
            }
        });
        out.flush();
        // halt, not exit: shutdown hooks could hang too
        Runtime.getRuntime().halt(HUNG);
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
