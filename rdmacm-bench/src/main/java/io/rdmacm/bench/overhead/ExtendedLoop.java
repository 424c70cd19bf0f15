// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.bench.overhead.VerbsStack.Payload;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.ScatterGatherList;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.error.RdmaException;

/** Posts batches and reads completions in place through the public API of the library. */
final class ExtendedLoop implements Placement.Loop {
    private final QueuePair pair;
    private final ExtendedCompletionQueue queue;
    private final MemoryRegion region;
    private final ScatterGatherList parts;
    private final int batch;
    private final Payload payload;
    // Completions of later requests may be there already, and must be left alone.
    private final boolean foreseen;
    private long id;

    ExtendedLoop(VerbsStack stack, int batch, Payload payload) {
        this.pair = stack.pairs[0];
        this.queue = (ExtendedCompletionQueue) stack.queue;
        this.region = stack.regions[0];
        this.batch = batch;
        this.payload = payload;
        this.foreseen = NativeSide.hasCard();
        this.parts = ScatterGatherList.allocate(payload.entries());
        int length = payload.entryLength();
        for (int entry = 0; entry < payload.entries(); entry++) {
            parts.set(entry, region, (long) entry * length, length);
        }
    }

    @Override
    public long run(int operations) throws RdmaException {
        int count = batch;
        long next = id;
        long sum = 0;
        for (int done = 0; done < operations; done += count) {
            post(next, count);
            next += count;
            sum += poll(count);
        }
        id = next;
        return sum;
    }

    private void post(long first, int count) throws RdmaException {
        try (SendBatch requests = pair.startBatch()) {
            if (payload.entries() == 1) {
                add(requests.inline(payload.inline()), first, count);
            } else {
                addLists(requests, first, count);
            }
            requests.complete();
        }
    }

    private void add(SendBatch requests, long first, int count) {
        MemoryRegion from = region;
        int length = payload.entryLength();
        for (int i = 0; i < count; i++) {
            requests.id(first + i).rdmaWrite(VerbsStack.REMOTE_ADDRESS, VerbsStack.REMOTE_KEY, from, 0, length);
        }
    }

    private void addLists(SendBatch requests, long first, int count) {
        ScatterGatherList from = parts;
        for (int i = 0; i < count; i++) {
            requests.id(first + i).rdmaWrite(VerbsStack.REMOTE_ADDRESS, VerbsStack.REMOTE_KEY).data(from);
        }
    }

    private long poll(int count) throws RdmaException {
        long sum = 0;
        for (int wanted = count; wanted > 0;) {
            try (CompletionCursor completion = queue.startPoll()) {
                while ((wanted > 0 || !foreseen) && completion.next()) {
                    completion.check();
                    sum += completion.workRequestId();
                    wanted--;
                }
            }
        }
        return sum;
    }
}
