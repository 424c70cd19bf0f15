// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.random.RandomGenerator;

import io.rdmacm.core.CmId;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** One side of a connection: an id with a queue pair and all it needs, of randomly chosen kinds. */
final class Side implements AutoCloseable {
    /** Bytes of each half of the region: the source of sends and reads, then the target of receives and writes. */
    static final int HALF = 32 << 10;
    /** How many requests each queue holds. */
    static final int DEPTH = 16;

    private static final int CAPACITY = 4 * DEPTH;
    private static final EnumSet<SendOperation> DATAGRAMS = EnumSet.of(SendOperation.SEND,
            SendOperation.SEND_WITH_IMM);
    private static final EnumSet<SendOperation> OPERATIONS = EnumSet.of(SendOperation.SEND,
            SendOperation.SEND_WITH_IMM, SendOperation.SEND_WITH_INV, SendOperation.RDMA_WRITE,
            SendOperation.RDMA_WRITE_WITH_IMM, SendOperation.RDMA_READ, SendOperation.ATOMIC_CMP_AND_SWP,
            SendOperation.ATOMIC_FETCH_AND_ADD, SendOperation.LOCAL_INV, SendOperation.BIND_MW);

    private final Worker worker;
    private final CmId id;
    // what has been opened, the last one first
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final QueuePair pair;
    // null if the queue pair has a receive queue of its own
    private final SharedReceiveQueue shared;
    private final boolean batches;
    private final WorkCompletions completions = WorkCompletions.allocate(DEPTH);
    private final Deque<WorkCompletion> done = new ArrayDeque<>();
    private final SendRequest send = SendRequests.allocate(1, 1).get(0);
    private final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);

    private Side(Worker worker, CmId id, Kinds kinds, Side first) throws RdmaException {
        this.worker = worker;
        this.id = id;
        batches = kinds.batches;
        open.push(id);
        boolean complete = false;
        try {
            if (first == null) {
                domain = opened(id.context().allocateProtectionDomain());
                queue = createQueue(kinds.extendedQueue);
                shared = kinds.sharedReceives
                        ? opened(domain.createSharedReceiveQueue(
                                SharedReceiveQueueInitAttributes.builder().maxRequests(DEPTH).build()))
                        : null;
            } else {
                domain = first.domain;
                queue = first.queue;
                shared = first.shared;
            }
            region = opened(domain.allocate(2 * HALF, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC, AccessFlag.MW_BIND));
            pair = opened(id.createQueuePair(domain, attributes()));
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    /**
     * The kinds of objects.
     *
     * @param extendedQueue whether completions are read in place (CQ_EX)
     * @param sharedReceives whether receives are posted to a shared receive queue
     * @param batches whether requests are posted in batches (QP_EX)
     */
    record Kinds(boolean extendedQueue, boolean sharedReceives, boolean batches) {
        /** Chooses at random. */
        static Kinds any(RandomGenerator random) {
            return new Kinds(random.nextBoolean(), random.nextBoolean(), random.nextBoolean());
        }

        /** Chooses all but the kind of receive queue at random. */
        static Kinds any(RandomGenerator random, boolean sharedReceives) {
            return new Kinds(random.nextBoolean(), sharedReceives, random.nextBoolean());
        }
    }

    /** Creates a side for an id, which is closed with the side, or at once if the side cannot be created. */
    static Side of(Worker worker, CmId id, Kinds kinds) throws RdmaException {
        return new Side(worker, id, kinds, null);
    }

    /** Creates a side that uses the domain, the completion queue and the shared receive queue of another one. */
    static Side beside(Side first, CmId id) throws RdmaException {
        return new Side(first.worker, id, new Kinds(false, true, false), first);
    }

    private CompletionQueue createQueue(boolean extended) throws RdmaException {
        VerbsContext device = id.context();
        CompletionChannel channel = opened(device.createCompletionChannel());
        return opened(extended
                ? device.createExtendedCompletionQueue(
                        CompletionQueueInitAttributes.builder(CAPACITY).channel(channel).build())
                : device.createCompletionQueue(CAPACITY, channel));
    }

    private QueuePairInitAttributes attributes() {
        QueuePairInitAttributes.Builder builder = QueuePairInitAttributes.builder()
                .type(id.portSpace().queuePairType()).completionQueue(queue).maxSendRequests(DEPTH)
                .maxReceiveRequests(DEPTH).sharedReceiveQueue(shared);
        if (batches) {
            builder.sendOperations(id.portSpace() == PortSpace.UDP ? DATAGRAMS : OPERATIONS);
        }
        return builder.build();
    }

    private <T extends AutoCloseable> T opened(T object) {
        open.push(object);
        return object;
    }

    CmId id() {
        return id;
    }

    ProtectionDomain domain() {
        return domain;
    }

    CompletionQueue queue() {
        return queue;
    }

    MemoryRegion region() {
        return region;
    }

    QueuePair pair() {
        return pair;
    }

    /** Returns whether requests are posted in batches ({@code ibv_wr_*}). */
    boolean postsBatches() {
        return batches;
    }

    /** Returns the send request, which is reused for each post. */
    SendRequest send() {
        return send;
    }

    /** Posts a receive of up to {@code length} bytes into the second half of the region. */
    void postReceive(long number, int length) throws RdmaException {
        postReceive(number, HALF, length);
    }

    /** Posts a receive of up to {@code length} bytes. */
    void postReceive(long number, long offset, int length) throws RdmaException {
        receive.id(number);
        if (length == 0) {
            receive.noData();
        } else {
            receive.data(region, offset, length);
        }
        if (shared == null) {
            pair.postReceive(receive);
        } else {
            shared.postReceive(receive);
        }
    }

    /** Waits for the next completion, whatever its status. */
    WorkCompletion completion() throws RdmaException, InterruptedException {
        if (done.isEmpty()) {
            await();
        }
        return done.remove();
    }

    /** Waits for the next completion, which must be the success of the given request. */
    WorkCompletion success(long number) throws RdmaException, InterruptedException, LossException {
        WorkCompletion completion = completion();
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new WorkCompletionException(completion);
        }
        LossException.unless(completion.workRequestId() == number, "a completion of %x instead of %x",
                completion.workRequestId(), number);
        return completion;
    }

    private void await() throws RdmaException, InterruptedException {
        if (queue instanceof ExtendedCompletionQueue extended) {
            try (CompletionCursor cursor = extended.awaitPoll(worker.timeout())) {
                while (cursor.next()) {
                    done.add(cursor.copy());
                }
            }
        } else {
            queue.await(completions, worker.timeout());
            take();
        }
    }

    private void take() {
        while (completions.next()) {
            done.add(completions.copy());
        }
    }

    /** Closes everything, the id included. May be called again after a failure. */
    @Override
    public void close() throws RdmaException {
        while (!open.isEmpty()) {
            try {
                open.peek().close();
            } catch (RdmaException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            open.pop();
        }
    }
}
