// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;

/** A program that posts one request over the null provider, polls its completion, and says so. */
public final class FirstPost {
    /** What it prints. */
    static final String DONE = "completed";

    private FirstPost() {
    }

    /**
     * Runs the program.
     *
     * @param args none
     * @throws RdmaException if anything fails
     */
    public static void main(String[] args) throws RdmaException {
        try (VerbsStack stack = new VerbsStack(false, VerbsStack.DEPTH, 1, 1)) {
            SendRequests writes = stack.writes(1, Payload.ONE_ENTRY);
            WorkCompletions completions = WorkCompletions.allocate(1);
            stack.pair(0).postSend(writes, 0, 1);
            while (stack.queue().poll(completions) == 0) {
                Thread.onSpinWait();
            }
            System.out.println(DONE);
        }
    }
}
