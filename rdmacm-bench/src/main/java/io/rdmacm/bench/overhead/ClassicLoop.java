// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.bench.overhead.VerbsStack.Payload;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;

/** Posts and polls through the public API of the library. */
final class ClassicLoop implements Placement.Loop {
    private final QueuePair pair;
    private final CompletionQueue queue;
    private final int batch;
    private final SendRequests block;
    private final WorkCompletions completions;
    private long id;

    ClassicLoop(VerbsStack stack, int batch, int polled, Payload payload) {
        this.pair = stack.pairs[0];
        this.queue = stack.queue;
        this.batch = batch;
        this.block = stack.writes(batch, payload);
        this.completions = WorkCompletions.allocate(Math.min(batch, polled));
    }

    @Override
    public long run(int operations) throws RdmaException {
        return batch == 1 ? oneByOne(operations) : inBatches(operations);
    }

    // Fields are copied to local variables, as careful programs do: otherwise the compiler must assume that each call
    // changes them.
    private long oneByOne(int operations) throws RdmaException {
        QueuePair to = pair;
        CompletionQueue from = queue;
        SendRequest request = block.get(0);
        WorkCompletions taken = completions;
        long next = id;
        long sum = 0;
        for (int done = 0; done < operations; done++) {
            to.postSend(request.id(next++));
            while (from.poll(taken) == 0) {
                Thread.onSpinWait();
            }
            taken.at(0).check();
            sum += taken.workRequestId();
        }
        id = next;
        return sum;
    }

    private long inBatches(int operations) throws RdmaException {
        QueuePair to = pair;
        SendRequests requests = block;
        int count = batch;
        long next = id;
        long sum = 0;
        for (int done = 0; done < operations; done += count) {
            for (int i = 0; i < count; i++) {
                requests.id(i, next++);
            }
            to.postSend(requests, 0, count);
            sum += poll(count);
        }
        id = next;
        return sum;
    }

    private long poll(int count) throws RdmaException {
        CompletionQueue from = queue;
        WorkCompletions taken = completions;
        long sum = 0;
        for (int wanted = count; wanted > 0; wanted -= taken.size()) {
            from.poll(taken);
            sum += read(taken);
        }
        return sum;
    }

    // A local sum stays in a register; one that is live across native calls does not.
    private static long read(WorkCompletions taken) throws RdmaException {
        int size = taken.size();
        long sum = 0;
        for (int i = 0; i < size; i++) {
            if (!taken.succeeded(i)) {
                taken.at(i).check();
            }
            sum += taken.workRequestId(i);
        }
        return sum;
    }
}
