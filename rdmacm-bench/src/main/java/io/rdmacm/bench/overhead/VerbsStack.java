// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;

/**
 * The objects that a benchmark uses, created with the public API over the null provider, or libmlx5. Public for the
 * loop over {@link Disni}, which another class loader loads.
 */
public final class VerbsStack implements AutoCloseable {
    /** The target of writes; the same as in C. */
    public static final long REMOTE_ADDRESS = 0x10000;
    /** Its key. */
    public static final int REMOTE_KEY = 17;

    /** Entries of each queue, as in C. */
    static final int DEPTH = 64;
    /** Entries of each queue if there are many, so that all queues fit into the cache. */
    static final int SMALL_DEPTH = 4;

    /** The size of a memory region. */
    static final int REGION = 4096;


    private final VerbsContext context;
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final MemoryRegion[] regions;
    private final QueuePair[] pairs;

    /**
     * Creates the objects.
     *
     * @param extended whether to support batches and polls in place
     * @param depth the number of entries of each queue
     * @param pairCount the number of queue pairs
     * @param regionCount the number of memory regions
     */
    VerbsStack(boolean extended, int depth, int pairCount, int regionCount) throws RdmaException {
        this(NullProvider.unpacked()::standIn, extended, depth, depth, pairCount, regionCount);
    }

    /** Creates the objects over libmlx5: a queue pair that is ready to send. */
    static VerbsStack overMlx5(boolean extended) throws RdmaException {
        VerbsStack stack = new VerbsStack(Mlx5StandIn::standIn, extended, DEPTH, Mlx5StandIn.COMPLETIONS, 1, 1);
        QueuePair pair = stack.pair(0);
        Mlx5StandIn.connect(stack.context, pair.number(), pair::modify);
        return stack;
    }

    private VerbsStack(Runnable standIn, boolean extended, int depth, int completions, int pairCount, int regionCount)
            throws RdmaException {
        standIn.run();
        context = Device.list().getFirst().open();
        domain = context.allocateProtectionDomain();
        Placement.shiftMemory();
        queue = extended
                ? context.createExtendedCompletionQueue(CompletionQueueInitAttributes.builder(completions).build())
                : context.createCompletionQueue(completions);
        regions = new MemoryRegion[regionCount];
        for (int i = 0; i < regionCount; i++) {
            regions[i] = domain.allocate(REGION, AccessFlag.LOCAL_WRITE);
        }
        QueuePairInitAttributes.Builder attributes = QueuePairInitAttributes.builder().completionQueue(queue)
                .maxSendRequests(depth).maxSendScatterGather(2).maxInlineData(32);
        if (extended) {
            attributes.sendOperations(List.of(SendOperation.RDMA_WRITE));
        }
        Placement.shiftMemory();
        pairs = new QueuePair[pairCount];
        for (int i = 0; i < pairCount; i++) {
            pairs[i] = domain.createQueuePair(attributes.build());
        }
    }

    /** Shuffles the queue pairs and regions, so that the CPU cannot predict the access pattern. */
    VerbsStack shuffled() {
        Collections.shuffle(Arrays.asList(pairs));
        Collections.shuffle(Arrays.asList(regions));
        return this;
    }

    /**
     * {@return a queue pair}
     *
     * @param index its index, from 0
     */
    public QueuePair pair(int index) {
        return pairs[index];
    }

    /**
     * {@return a memory region}
     *
     * @param index its index, from 0
     */
    public MemoryRegion region(int index) {
        return regions[index];
    }

    /** {@return the completion queue of all queue pairs} */
    public CompletionQueue queue() {
        return queue;
    }

    ExtendedCompletionQueue extendedQueue() {
        return (ExtendedCompletionQueue) queue;
    }

    /** Returns signaled writes that are ready to be posted. */
    SendRequests writes(int count, Payload payload) {
        Placement.shiftMemory();
        SendRequests block = SendRequests.allocate(count, payload.entries());
        for (int i = 0; i < count; i++) {
            SendRequest request = block.get(i).rdmaWrite(REMOTE_ADDRESS, REMOTE_KEY).inline(payload.inline());
            for (int entry = 0; entry < payload.entries(); entry++) {
                request.data(entry, regions[0], (long) entry * payload.entryLength(), payload.entryLength());
            }
        }
        return block;
    }

    @Override
    public void close() throws RdmaException {
        List<NativeObject> inOrder = new ArrayList<>(List.of(pairs));
        inOrder.addAll(List.of(regions));
        inOrder.addAll(List.of(queue, domain, context));
        for (NativeObject object : inOrder) {
            object.close();
        }
    }
}
