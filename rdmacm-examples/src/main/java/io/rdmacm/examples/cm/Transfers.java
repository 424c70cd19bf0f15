// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/** Waits for messages, with a readable error when they do not arrive. */
final class Transfers {
    private Transfers() {
    }

    /**
     * Polls completions from a queue, and waits for them if there are none.
     *
     * @param done how many messages of all have completed before
     * @return how many completions were polled
     */
    static int await(CompletionQueue queue, WorkCompletions completions, int done, int all, Duration timeout)
            throws IOException, InterruptedException {
        try {
            return queue.await(completions, timeout);
        } catch (RdmaTimeoutException e) {
            throw new IOException("after " + done + " of " + all + " messages nothing arrived for "
                    + timeout.toSeconds() + " seconds", e);
        }
    }
}
