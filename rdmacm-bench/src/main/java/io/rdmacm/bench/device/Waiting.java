// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.WorkCompletions;

/** Waits in one of the ways of {@link Polling}; gives up after two minutes without progress. */
final class Waiting {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    // Reading the clock at each poll would be measured too.
    private static final int POLLS_PER_CLOCK_READ = 1 << 14;

    private final Polling polling;
    private long polls;
    private long deadline;

    Waiting(Polling polling) {
        this.polling = polling;
    }

    /**
     * Waits for completions, and checks that they are successful.
     *
     * @param queue the queue to poll
     * @param completions the buffer to poll into
     * @return the number of completions, at least one
     */
    int take(CompletionQueue queue, WorkCompletions completions) throws IOException, InterruptedException {
        int taken = switch (polling) {
            case BUSY, YIELD -> poll(queue, completions);
            case EVENTS -> event(queue, completions);
            case AWAIT -> queue.await(completions, LIMIT);
        };
        while (completions.next()) {
            completions.check();
        }
        return taken;
    }

    private int poll(CompletionQueue queue, WorkCompletions completions) throws IOException {
        int taken = queue.poll(completions);
        while (taken == 0) {
            pause();
            taken = queue.poll(completions);
        }
        polls = 0;
        return taken;
    }

    /** Waits in the steps of perftest; the queue was armed before the first call. */
    private static int event(CompletionQueue queue, WorkCompletions completions)
            throws IOException, InterruptedException {
        CompletionChannel channel = queue.channel().orElseThrow();
        int taken = 0;
        while (taken == 0) {
            channel.getEvent(LIMIT);
            queue.requestNotification(false);
            taken = queue.poll(completions);
        }
        return taken;
    }

    /** Pauses between two polls of a queue or of memory. */
    void pause() throws IOException {
        if (polling == Polling.YIELD) {
            Thread.yield();
        }
        if (++polls % POLLS_PER_CLOCK_READ == 0) {
            checkTime();
        }
    }

    /** Ends a wait: the next one starts with the full time limit. */
    void reset() {
        polls = 0;
    }

    private void checkTime() throws IOException {
        long now = System.nanoTime();
        if (polls == POLLS_PER_CLOCK_READ) {
            deadline = now + LIMIT.toNanos();
        } else if (now - deadline > 0) {
            throw new IOException("nothing arrived for " + LIMIT.toSeconds() + " s");
        }
    }
}
