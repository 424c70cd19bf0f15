// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.lang.management.ManagementFactory;

import com.sun.management.ThreadMXBean;

/** How much the thread at work allocates for each operation. */
public final class Allocation {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private long start;
    private volatile double each = -1;

    /** Starts to count, in the thread that works. */
    public void start() {
        start = THREADS.getCurrentThreadAllocatedBytes();
    }

    /**
     * Ends the count, in the same thread.
     *
     * @param operations how many operations there were since the start
     */
    public void end(int operations) {
        each = (double) (THREADS.getCurrentThreadAllocatedBytes() - start) / operations;
    }

    /** {@return the bytes for each operation; negative if nothing was counted} */
    public double each() {
        return each;
    }
}
