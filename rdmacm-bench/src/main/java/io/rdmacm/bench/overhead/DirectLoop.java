// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.mlx5.DirectQueuePair;

/** Posts and polls without a call into C. */
final class DirectLoop implements Placement.Loop {
    private final DirectQueuePair pair;
    private final int batch;
    private final int length;
    private final long[] taken;
    private long id;

    /**
     * Creates a loop.
     *
     * @param pair a queue pair that writes
     * @param batch the number of requests per post
     * @param length the length of each request in bytes
     */
    DirectLoop(DirectQueuePair pair, int batch, int length) {
        this.pair = pair;
        this.batch = batch;
        this.length = length;
        this.taken = new long[batch];
    }

    @Override
    public long run(int operations) throws RdmaException {
        DirectQueuePair to = pair;
        long next = id;
        int bytes = length;
        long sum = 0;
        for (int done = 0; done < operations; done += batch) {
            for (int more = batch - 1; more > 0; more--) {
                to.append(next++, 0, bytes, VerbsStack.REMOTE_ADDRESS);
            }
            to.post(next++, 0, bytes, VerbsStack.REMOTE_ADDRESS);
            sum += poll(to);
        }
        id = next;
        return sum;
    }

    private long poll(DirectQueuePair from) throws RdmaException {
        long[] ids = taken;
        long sum = 0;
        for (int wanted = batch; wanted > 0;) {
            int count = from.poll(ids);
            for (int i = 0; i < count; i++) {
                sum += ids[i];
            }
            wanted -= count;
        }
        return sum;
    }
}
