// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.bench.overhead.VerbsStack.Payload;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;

/** Measures the close of a memory region in a domain with many queue pairs, none of which may be using it. */
final class RegionCloses {
    /** How many queue pairs there are. */
    static final int QUEUE_PAIRS = 1000;

    private static final int REGIONS = 2000;

    private RegionCloses() {
    }

    /**
     * Returns the nanoseconds of a close, by the thread that posts.
     *
     * @param posts on how many queue pairs it posts before each close
     */
    static double nanos(int posts) throws RdmaException {
        try (VerbsStack stack = new VerbsStack(false, VerbsStack.SMALL_DEPTH, QUEUE_PAIRS, 1 + REGIONS)) {
            SendRequest write = stack.writes(1, Payload.ONE_ENTRY).get(0);
            WorkCompletions completions = WorkCompletions.allocate(1);
            long time = 0;
            int next = 0;
            for (int region = 1; region <= REGIONS; region++) {
                for (int i = 0; i < posts; i++) {
                    stack.pairs[next].postSend(write);
                    next = (next + 1) % QUEUE_PAIRS;
                    while (stack.queue.poll(completions) == 0) {
                        Thread.onSpinWait();
                    }
                }
                long start = System.nanoTime();
                stack.regions[region].close();
                time += System.nanoTime() - start;
            }
            return (double) time / REGIONS;
        }
    }
}
