// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;

/** Posts and polls one request at a time, each to another queue pair or with data of another region. */
final class RotatingLoop implements Placement.Loop {
    private final VerbsStack stack;
    private final int pairs;
    private final int regions;
    private final boolean data;
    private final CompletionQueue queue;
    private final SendRequest request;
    private final WorkCompletions completions = WorkCompletions.allocate(1);
    private int pair;
    private int region;
    private long id;

    /**
     * Creates a loop.
     *
     * @param stack the objects to use
     * @param pairs how many of its queue pairs to use
     * @param regions how many of its memory regions to use
     * @param data whether to set the data anew for each request
     */
    RotatingLoop(VerbsStack stack, int pairs, int regions, boolean data) {
        this.stack = stack;
        this.pairs = pairs;
        this.regions = regions;
        this.data = data;
        this.queue = stack.queue();
        this.request = stack.writes(1, Payload.ONE_ENTRY).get(0);
    }

    // Fields are copied to local variables, as in PublicLoop.
    @Override
    public long run(int operations) throws RdmaException {
        VerbsStack from = stack;
        CompletionQueue polled = queue;
        SendRequest posted = request;
        WorkCompletions taken = completions;
        int lastPair = pairs - 1;
        int lastRegion = regions - 1;
        int nextPair = pair;
        int nextRegion = region;
        long next = id;
        long sum = 0;
        for (int done = 0; done < operations; done++) {
            if (data) {
                nextRegion = nextRegion == lastRegion ? 0 : nextRegion + 1;
                posted.data(from.region(nextRegion), 0, Payload.ONE_ENTRY.entryLength());
            }
            nextPair = nextPair == lastPair ? 0 : nextPair + 1;
            from.pair(nextPair).postSend(posted.id(next++));
            while (polled.poll(taken) == 0) {
                Thread.onSpinWait();
            }
            taken.at(0).check();
            sum += taken.workRequestId();
        }
        pair = nextPair;
        region = nextRegion;
        id = next;
        return sum;
    }
}
