// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.lang.management.ManagementFactory;

import com.sun.management.ThreadMXBean;
import io.rdmacm.bench.report.Summary;

/** How much the thread at work allocates for each operation. */
public final class Allocation {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private long start;
    private volatile double each;

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
        each = (double) (THREADS.getCurrentThreadAllocatedBytes() - start) / Math.max(1, operations);
    }

    /** {@return an outcome, with the bytes for each operation} */
    public Outcome with(Outcome outcome) {
        return outcome.and(Summary.ALLOCATED, "B/op", each);
    }
}
