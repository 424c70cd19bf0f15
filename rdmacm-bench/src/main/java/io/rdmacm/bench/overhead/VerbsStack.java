// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;

/** The objects that a benchmark uses, created with the public API over the null provider, or libmlx5. */
final class VerbsStack implements AutoCloseable {
    /** The target of writes; the same as in C. */
    static final long REMOTE_ADDRESS = 0x10000;
    /** Its key. */
    static final int REMOTE_KEY = 17;
    /** Entries of each queue, as in C. */
    static final int DEPTH = 64;
    /** Entries of each queue if there are many, so that all queues fit into the cache. */
    static final int SMALL_DEPTH = 4;
    /** Entries of the completion queue of the card, which adds one; 256 KiB, which the second-level cache holds. */
    static final int COMPLETIONS_OF_CARD = PostAndPoll.OPERATIONS - 1;
    /** The size of a memory region. */
    static final int REGION = 4096;

    private static final int MTU = 1024;

    final QueuePair[] pairs;
    final MemoryRegion[] regions;
    final CompletionQueue queue;
    final VerbsContext context;
    final ProtectionDomain domain;

    /**
     * The payload of a request; the loop in C has the same.
     *
     * @param entries the scatter/gather entries
     * @param inline whether the data goes with the request
     */
    record Payload(int entries, boolean inline) {
        static final Payload ONE_ENTRY = new Payload(1, false);

        int entryLength() {
            return (inline ? 16 : 64) / entries;
        }
    }

    /**
     * Creates the objects.
     *
     * @param extended whether to support batches and polls in place
     * @param depth the number of entries of each queue
     * @param pairCount the number of queue pairs
     * @param regionCount the number of memory regions
     */
    VerbsStack(boolean extended, int depth, int pairCount, int regionCount) throws RdmaException {
        NativeSide.standIn();
        context = Device.list().getFirst().open();
        domain = context.allocateProtectionDomain();
        Placement.shiftMemory();
        int completions = NativeSide.hasCard() ? COMPLETIONS_OF_CARD : depth;
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
            if (NativeSide.hasCard()) {
                connect(context, pairs[i].number(), pairs[i]::modify);
            }
        }
    }

    /** Modifies a queue pair, whatever class it has. */
    @FunctionalInterface
    interface Modify {
        void to(QueuePairAttributes attributes) throws RdmaException;
    }

    /** Connects a queue pair of the card with itself, so that it is ready to send. */
    static void connect(VerbsContext context, int number, Modify pair) throws RdmaException {
        AddressAttributes path = AddressAttributes.builder().port(1)
                .globalRoute(new GlobalRoute(context.queryGid(1, 0), 0, 0, 1, 0)).build();
        pair.to(QueuePairTransitions.Rc.resetToInit(1, 0));
        pair.to(QueuePairTransitions.Rc.initToRtr(path, MTU, number, 0, 1, RnrTimer.ofCode(0)));
        pair.to(QueuePairTransitions.Rc.rtrToRts(0, AckTimeout.ofCode(0), 0, 0, 1));
    }

    /** Shuffles the queue pairs and regions, so that the CPU cannot predict the access pattern. */
    void shuffle() {
        Collections.shuffle(Arrays.asList(pairs));
        Collections.shuffle(Arrays.asList(regions));
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
