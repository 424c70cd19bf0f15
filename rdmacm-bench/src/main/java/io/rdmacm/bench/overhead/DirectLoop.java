// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.mlx5.DirectQueuePair;
import io.rdmacm.verbs.work.AccessFlag;

/** Posts and polls without a call into C, with objects of its own over {@link Mlx5StandIn}. */
final class DirectLoop implements Placement.Loop, AutoCloseable {
    private final VerbsContext context;
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final DirectQueuePair pair;
    private final int batch;
    private final int length;
    private final long[] taken;
    private long id;

    /**
     * Creates a loop.
     *
     * @param batch the number of requests per post
     * @param length the length of each request in bytes
     */
    DirectLoop(int batch, int length) throws RdmaException {
        this.context = Device.list().getFirst().open();
        this.domain = context.allocateProtectionDomain();
        this.region = domain.allocate(VerbsStack.REGION, AccessFlag.LOCAL_WRITE);
        Placement.shiftMemory();
        this.pair = DirectQueuePair.create(domain, VerbsStack.DEPTH, Mlx5StandIn.COMPLETIONS);
        Mlx5StandIn.connect(context, pair.number(), pair::modify);
        pair.writeFrom(region, VerbsStack.REMOTE_KEY);
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

    @Override
    public void close() throws RdmaException {
        pair.close();
        region.close();
        domain.close();
        context.close();
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
