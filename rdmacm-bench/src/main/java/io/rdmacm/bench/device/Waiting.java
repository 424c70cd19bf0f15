// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.WorkCompletions;

/** Waits in one of the ways; gives up when the peer seems to be gone. */
final class Waiting {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    // Looking at the clock each time would be measured too.
    private static final int LOOKS_BETWEEN_CLOCKS = 1 << 14;

    private final Polling polling;
    private long looks;
    private long deadline;

    Waiting(Polling polling) {
        this.polling = polling;
    }

    /**
     * Takes completions, at least one, all of them successful.
     *
     * @param queue where from
     * @param completions where to
     * @return how many
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
        looks = 0;
        return taken;
    }

    /** The steps of perftest; the queue was armed before the first time. */
    private static int event(CompletionQueue queue, WorkCompletions completions) throws IOException, InterruptedException {
        CompletionChannel channel = queue.channel().orElseThrow();
        int taken = 0;
        while (taken == 0) {
            channel.getEvent(LIMIT);
            queue.requestNotification(false);
            taken = queue.poll(completions);
        }
        return taken;
    }

    /** Between two looks at memory that the peer is to write to. */
    void pause() throws IOException {
        if (polling == Polling.YIELD) {
            Thread.yield();
        }
        if (++looks % LOOKS_BETWEEN_CLOCKS == 0) {
            checkTime();
        }
    }

    /** What was waited for is there. */
    void found() {
        looks = 0;
    }

    private void checkTime() throws IOException {
        long now = System.nanoTime();
        if (looks == LOOKS_BETWEEN_CLOCKS) {
            deadline = now + LIMIT.toNanos();
        } else if (now - deadline > 0) {
            throw new IOException("nothing came for " + LIMIT.toSeconds() + " s");
        }
    }
}
