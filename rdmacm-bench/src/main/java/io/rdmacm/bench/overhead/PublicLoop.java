// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Completions;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;

/** Posts and polls through the objects of this library. */
final class PublicLoop {
    private final QueuePair pair;
    private final CompletionQueue queue;
    private final int batch;
    private final SendRequests block;
    private final SendRequest single;
    private final Completions completions;
    private long id;

    /**
     * A loop.
     *
     * @param stack what it uses
     * @param batch requests a post
     * @param polled completions a poll at most
     * @param payload what the requests carry
     */
    PublicLoop(NullStack stack, int batch, int polled, Payload payload) {
        this.pair = stack.pair(0);
        this.queue = stack.queue();
        this.batch = batch;
        this.block = stack.writes(batch, payload);
        this.single = block.get(0);
        this.completions = Completions.allocate(Math.min(batch, polled));
    }

    long run(int operations) throws RdmaException {
        return batch == 1 ? oneByOne(operations) : inBatches(operations);
    }

    private long oneByOne(int operations) throws RdmaException {
        long sum = 0;
        for (int done = 0; done < operations; done++) {
            pair.postSend(single.id(id++));
            sum += poll(1);
        }
        return sum;
    }

    private long inBatches(int operations) throws RdmaException {
        long sum = 0;
        for (int done = 0; done < operations; done += batch) {
            long next = id;
            for (int i = 0; i < batch; i++) {
                block.get(i).id(next++);
            }
            id = next;
            pair.postSend(block, 0, batch);
            sum += poll(batch);
        }
        return sum;
    }

    private long poll(int count) throws RdmaException {
        long sum = 0;
        for (int wanted = count; wanted > 0;) {
            wanted -= queue.poll(completions);
            while (completions.next()) {
                completions.check();
                sum += completions.workRequestId();
            }
        }
        return sum;
    }
}
