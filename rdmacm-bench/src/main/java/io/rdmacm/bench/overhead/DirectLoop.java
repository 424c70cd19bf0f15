// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.mlx5.DirectQueuePair;

/** Posts and polls without a call into C, over the card of {@link NativeSide}. */
final class DirectLoop implements Placement.Loop, AutoCloseable {
    private final DirectQueuePair pair;
    private final int batch;
    private final int length;
    private final long[] taken;
    private long id;

    DirectLoop(VerbsStack stack, int batch, int length) throws RdmaException {
        Placement.shiftMemory();
        this.pair = DirectQueuePair.create(stack.domain, VerbsStack.DEPTH, VerbsStack.COMPLETIONS_OF_CARD);
        VerbsStack.connect(stack.context, pair.number(), pair::modify);
        pair.writeFrom(stack.regions[0], VerbsStack.REMOTE_KEY);
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

    @Override
    public void close() throws RdmaException {
        pair.close();
    }
}
