// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.verbs.WorkCompletions;

/** Many outstanding operations, in the same steps as the bandwidth tests of perftest; each is signaled. */
final class BandwidthLoop {
    // how many completions perftest polls for at a time
    private static final int BATCH = 16;

    private final End end;
    private final Waiting waiting;
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);

    /**
     * Creates a loop.
     *
     * @param end the local end, connected
     */
    BandwidthLoop(End end) {
        this.end = end;
        this.waiting = new Waiting(end.measurement().polling());
    }

    /**
     * Runs the client's part.
     *
     * @param count the number of operations
     * @return the time they took, in nanoseconds
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
     * Runs the server's part, if messages are sent to it.
     *
     * @param count the number of messages
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
