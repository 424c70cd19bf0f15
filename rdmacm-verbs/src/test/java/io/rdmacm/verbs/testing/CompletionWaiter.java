// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.time.Duration;

import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** Waits for completions by events, one at a time, by the means of the kind of queue. */
public final class CompletionWaiter {
    /** Long enough for the slowest guest; nothing waits that long when all is well. */
    public static final Duration LIMIT = Duration.ofMinutes(4);

    private final CompletionQueue queue;
    private final WorkCompletions completions = WorkCompletions.allocate(1);

    public CompletionWaiter(CompletionQueue queue) {
        this.queue = queue;
    }

    /** The next completion. */
    public WorkCompletion next() throws RdmaException, InterruptedException {
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
    public WorkCompletion success() throws RdmaException, InterruptedException {
        WorkCompletion completion = next();
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new AssertionError(completion);
        }
        return completion;
    }
}
