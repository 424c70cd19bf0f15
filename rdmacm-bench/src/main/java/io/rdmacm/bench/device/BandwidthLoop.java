// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.verbs.WorkCompletions;

/** Many operations at a time, step by step as the bandwidth tests of perftest do it; each gives a completion. */
final class BandwidthLoop {
    // how many completions perftest polls for
    private static final int BATCH = 16;

    private final End end;
    private final Waiting waiting;
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);

    /**
     * A loop.
     *
     * @param end connected
     */
    BandwidthLoop(End end) {
        this.end = end;
        this.waiting = new Waiting(end.measurement().polling());
    }

    /**
     * The client's part.
     *
     * @param count how many operations
     * @return how long they took, in nanoseconds
     */
    long send(int count) throws IOException, InterruptedException {
        int depth = end.measurement().depth();
        int posted = 0;
        int done = 0;
        long start = System.nanoTime();
        while (done < count) {
            while (posted < count && posted - done < depth) {
                end.post();
                posted++;
            }
            done += waiting.take(end.sent(), completions);
        }
        return System.nanoTime() - start;
    }

    /**
     * The server's part, when messages are sent to it.
     *
     * @param count how many messages
     */
    void receive(int count) throws IOException, InterruptedException {
        int posted = end.receives();
        int received = 0;
        while (received < count) {
            int taken = waiting.take(end.received(), completions);
            received += taken;
            for (int i = 0; i < taken && posted < count; i++) {
                end.postReceive();
                posted++;
            }
        }
    }
}
