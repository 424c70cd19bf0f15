// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;

import com.sun.management.ThreadMXBean;

/** What compiled code allocates on the Java heap. */
public final class Allocation {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ITERATIONS = 10_000;
    // The compilers run beside this thread: a slow machine needs more rounds until they are done.
    private static final int MOST_ROUNDS = 300;

    private Allocation() {
    }

    /**
     * What is measured.
     *
     * @param <E> what it throws
     */
    @FunctionalInterface
    public interface Work<E extends Exception> {
        /** Does it once. */
        void run() throws E;
    }

    /** Returns how many bytes this thread has allocated. */
    public static long bytes() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    /** Checks that work allocates nothing. What allocates a little each time has no round without. */
    public static <E extends Exception> void assertNone(Work<E> work) throws E {
        assertAtMost(0, work);
    }

    /** Checks that work allocates at most so many bytes each time. */
    public static <E extends Exception> void assertAtMost(long bytesEach, Work<E> work) throws E {
        long most = bytesEach * ITERATIONS;
        long allocated = Long.MAX_VALUE;
        for (int round = 0; round < MOST_ROUNDS && allocated > most; round++) {
            long before = bytes();
            for (int i = 0; i < ITERATIONS; i++) {
                work.run();
            }
            allocated = bytes() - before;
        }
        assertThat(allocated).describedAs("bytes allocated by %d iterations", ITERATIONS).isLessThanOrEqualTo(most);
    }
}
