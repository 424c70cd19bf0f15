// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.bench.overhead.VerbsStack.Payload;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;

/** Posts and polls one request at a time, each to another queue pair or with data of another region. */
final class RotatingLoop implements Placement.Loop {
    private final VerbsStack stack;
    private final boolean rotates;
    private final boolean data;
    private final SendRequest request;
    private final WorkCompletions completions = WorkCompletions.allocate(1);
    private int pair;
    private int region;
    private long id;

    RotatingLoop(VerbsStack stack, boolean rotates, boolean data) {
        this.stack = stack;
        this.rotates = rotates;
        this.data = data;
        this.request = stack.writes(1, Payload.ONE_ENTRY).get(0);
    }

    // Fields are copied to local variables, as in ClassicLoop.
    @Override
    public long run(int operations) throws RdmaException {
        QueuePair[] to = stack.pairs;
        MemoryRegion[] from = stack.regions;
        CompletionQueue queue = stack.queue;
        SendRequest posted = request;
        WorkCompletions taken = completions;
        int lastPair = rotates ? to.length - 1 : 0;
        int lastRegion = rotates ? from.length - 1 : 0;
        int nextPair = pair;
        int nextRegion = region;
        long next = id;
        long sum = 0;
        for (int done = 0; done < operations; done++) {
            if (data) {
                nextRegion = nextRegion == lastRegion ? 0 : nextRegion + 1;
                posted.data(from[nextRegion], 0, Payload.ONE_ENTRY.entryLength());
            }
            nextPair = nextPair == lastPair ? 0 : nextPair + 1;
            to[nextPair].postSend(posted.id(next++));
            while (queue.poll(taken) == 0) {
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
