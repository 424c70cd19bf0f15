// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.verbs.testing.ResourceCounts;

/** Whether programs that run in this JVM free what they take. */
public final class Leaks {
    private static final int TIMES = 5;

    private Leaks() {
    }

    /** A run of programs, from their start to their end. */
    @FunctionalInterface
    public interface Run {
        /** Runs them. */
        void run() throws Exception;
    }

    /** Runs something a few times; descriptors, native objects and those of the kernel are as many afterwards. */
    public static void assertNone(Run run) throws Exception {
        // What is loaded once and stays: libraries, the device of librdmacm, threads and selectors of the JDK.
        long objects = ResourceCounts.now().objects();
        run.run();
        run.run();
        ResourceCounts settled = ResourceCounts.await(counts -> counts.objects() == objects, Program.LIMIT);
        assertThat(settled.objects()).isEqualTo(objects);
        for (int i = 0; i < TIMES; i++) {
            run.run();
        }
        assertThat(ResourceCounts.await(settled, Program.LIMIT)).isEqualTo(settled);
    }
}
