// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.time.Duration;

/** Waits for completions by events, one at a time, by the means of the kind of queue. */
final class CompletionWaiter {
    /** Long enough for the slowest guest; nothing waits that long when all is well. */
    static final Duration LIMIT = Duration.ofMinutes(4);

    private final CompletionQueue queue;
    private final Completions completions = Completions.allocate(1);

    CompletionWaiter(CompletionQueue queue) {
        this.queue = queue;
    }

    /** The next completion. */
    WorkCompletion next() throws RdmaException, InterruptedException {
        if (queue instanceof ExtendedCompletionQueue extended) {
            try (CompletionCursor cursor = extended.awaitPoll(LIMIT)) {
                if (!cursor.next()) {
                    throw new AssertionError("the wait ended without a completion");
                }
                return cursor.copy();
            }
        }
        queue.await(completions, LIMIT);
        return completions.at(0).copy();
    }

    /** The next completion, which must be a success. */
    WorkCompletion success() throws RdmaException, InterruptedException {
        WorkCompletion completion = next();
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new AssertionError(completion);
        }
        return completion;
    }
}
