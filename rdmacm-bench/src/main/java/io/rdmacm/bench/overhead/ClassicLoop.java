// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.bench.overhead.VerbsStack.Payload;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;

/** Posts and polls through the public API of the library: the same loops as in C. */
final class ClassicLoop implements Placement.Loop {
    private final VerbsStack stack;
    private final QueuePair pair;
    private final CompletionQueue queue;
    private final PostAndPoll what;
    private final int batch;
    private final SendRequests block;
    private final WorkCompletions completions;
    private int lastPair;
    private int lastRegion;
    private long id;

    ClassicLoop(VerbsStack stack, PostAndPoll what, Payload payload) {
        this.stack = stack;
        this.pair = stack.pairs[0];
        this.queue = stack.queue;
        this.what = what;
        this.batch = what.batch;
        this.block = stack.writes(batch, payload);
        this.completions = WorkCompletions.allocate(Math.min(batch, what.polled));
    }

    @Override
    public long run(int operations) throws RdmaException {
        return what.way == PostAndPoll.Way.MANY ? rotating(operations)
                : batch == 1 ? oneByOne(operations) : inBatches(operations);
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

    // One request at a time, each to another queue pair or with data of another region.
    private long rotating(int operations) throws RdmaException {
        boolean data = what.data == 1;
        QueuePair[] to = stack.pairs;
        MemoryRegion[] regions = stack.regions;
        int toCount = what.rotate == 1 ? to.length : 1;
        int regionCount = what.rotate == 1 ? regions.length : 1;
        CompletionQueue from = queue;
        SendRequest request = block.get(0);
        WorkCompletions taken = completions;
        int nextPair = lastPair;
        int nextRegion = lastRegion;
        long next = id;
        long sum = 0;
        for (int done = 0; done < operations; done++) {
            if (data) {
                nextRegion = nextRegion + 1 == regionCount ? 0 : nextRegion + 1;
                request.data(regions[nextRegion], 0, Payload.ONE_ENTRY.entryLength());
            }
            nextPair = nextPair + 1 == toCount ? 0 : nextPair + 1;
            to[nextPair].postSend(request.id(next++));
            while (from.poll(taken) == 0) {
                Thread.onSpinWait();
            }
            taken.at(0).check();
            sum += taken.workRequestId();
        }
        lastPair = nextPair;
        lastRegion = nextRegion;
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
