// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/** Waits for messages, with a message for people when they do not come. */
final class Transfers {
    private Transfers() {
    }

    /**
     * Takes finished work from a queue, and waits when there is none.
     *
     * @param done how many of all were taken before
     * @return how many were taken now
     */
    static int await(CompletionQueue queue, WorkCompletions completions, int done, int all, Duration patience)
            throws IOException, InterruptedException {
        try {
            return queue.await(completions, patience);
        } catch (RdmaTimeoutException e) {
            throw new IOException("after " + done + " of " + all + " messages nothing happened for "
                    + patience.toSeconds() + " seconds", e);
        }
    }
}
