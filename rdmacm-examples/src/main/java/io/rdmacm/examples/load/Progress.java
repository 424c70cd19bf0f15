// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.load;

import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A progress bar, redrawn a few times a second. Thread-safe. */
public final class Progress {
    private static final int WIDTH = 40;
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(200);

    private final PrintWriter terminal;
    private final long total;
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong drawn = new AtomicLong(System.nanoTime() - PAUSE);
    private volatile String task = "";

    /**
     * Creates a bar with nothing done.
     *
     * @param terminal where to draw; null to draw nothing
     * @param total the number of steps to do
     */
    public Progress(PrintWriter terminal, long total) {
        this.terminal = terminal;
        this.total = total;
    }

    /**
     * Sets the label of the bar.
     *
     * @param what the label
     */
    public void begin(String what) {
        task = what;
    }

    /** Counts one step. */
    void step() {
        long now = done.incrementAndGet();
        long last = drawn.get();
        long time = System.nanoTime();
        // one of the threads draws, the others go on
        if (terminal != null && time - last >= PAUSE && drawn.compareAndSet(last, time)) {
            draw(now);
        }
    }

    /** Clears the line. */
    public void end() {
        if (terminal != null) {
            terminal.print("\r" + " ".repeat(WIDTH + 40) + "\r");
            terminal.flush();
        }
    }

    private synchronized void draw(long now) {
        int filled = (int) (WIDTH * now / total);
        terminal.printf("\r%-16s [%s%s] %3d %%", task, "#".repeat(filled), " ".repeat(WIDTH - filled),
                100 * now / total);
        terminal.flush();
    }
}
