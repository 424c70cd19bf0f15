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

/** One side of a connection, of objects made one by one; which kinds of them is left to chance. */
final class Side implements AutoCloseable {
    /** What is sent and read from begins with the region, what is received and written begins at the half. */
    static final int HALF = 32 << 10;
    /** How many requests each queue takes. */
    static final int DEPTH = 16;

    private static final int CAPACITY = 4 * DEPTH;
    private static final EnumSet<SendOperation> DATAGRAMS = EnumSet.of(SendOperation.SEND,
            SendOperation.SEND_WITH_IMM);
    private static final EnumSet<SendOperation> OPERATIONS = EnumSet.of(SendOperation.SEND,
            SendOperation.SEND_WITH_IMM, SendOperation.SEND_WITH_INV, SendOperation.RDMA_WRITE,
            SendOperation.RDMA_WRITE_WITH_IMM, SendOperation.RDMA_READ, SendOperation.ATOMIC_CMP_AND_SWP,
            SendOperation.ATOMIC_FETCH_AND_ADD, SendOperation.LOCAL_INV, SendOperation.BIND_MW);

    private final Stage stage;
    private final CmId id;
    // what was made, the last one first
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final QueuePair pair;
    // null when the queue pair has a queue of its own
    private final SharedReceiveQueue shared;
    private final boolean batches;
    private final WorkCompletions completions = WorkCompletions.allocate(DEPTH);
    private final Deque<WorkCompletion> done = new ArrayDeque<>();
    private final SendRequest send = SendRequests.allocate(1, 1).get(0);
    private final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);

    private Side(Stage stage, CmId id, Kinds kinds, Side first) throws RdmaException {
        this.stage = stage;
        this.id = id;
        batches = kinds.batches;
        open.push(id);
        boolean made = false;
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
            made = true;
        } finally {
            if (!made) {
                close();
            }
        }
    }

    /**
     * The kinds of objects.
     *
     * @param extendedQueue whether completions are read in place (CQ_EX)
     * @param sharedReceives whether receives are posted to a shared receive queue
     * @param batches whether work is posted in batches (QP_EX)
     */
    record Kinds(boolean extendedQueue, boolean sharedReceives, boolean batches) {
        /** Left to chance. */
        static Kinds any(RandomGenerator random) {
            return new Kinds(random.nextBoolean(), random.nextBoolean(), random.nextBoolean());
        }

        /** Left to chance, but for the receives. */
        static Kinds any(RandomGenerator random, boolean sharedReceives) {
            return new Kinds(random.nextBoolean(), sharedReceives, random.nextBoolean());
        }
    }

    /** Makes a side around an id, which it closes in the end, also when it cannot be made. */
    static Side of(Stage stage, CmId id, Kinds kinds) throws RdmaException {
        return new Side(stage, id, kinds, null);
    }

    /** Makes a side that shares the domain, the completions and the shared receive queue of another one. */
    static Side beside(Side first, CmId id) throws RdmaException {
        return new Side(first.stage, id, new Kinds(false, true, false), first);
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

    /** Whether work is posted in batches ({@code ibv_wr_*}). */
    boolean postsBatches() {
        return batches;
    }

    /** The request that is used over and over. */
    SendRequest send() {
        return send;
    }

    /** Posts a receive of so many bytes into the second half of the region. */
    void postReceive(long number, int length) throws RdmaException {
        postReceive(number, HALF, length);
    }

    /** Posts a receive of so many bytes. */
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

    /** The next completion, whatever it says. */
    WorkCompletion completion() throws RdmaException, InterruptedException {
        if (done.isEmpty()) {
            await();
        }
        return done.remove();
    }

    /** The next completion, which must be a success, and of that request. */
    WorkCompletion success(long number) throws RdmaException, InterruptedException, LossException {
        WorkCompletion completion = completion();
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new WorkCompletionException(completion);
        }
        LossException.unless(completion.workRequestId() == number, "a completion of %x in the place of %x",
                completion.workRequestId(), number);
        return completion;
    }

    private void await() throws RdmaException, InterruptedException {
        if (queue instanceof ExtendedCompletionQueue extended) {
            try (CompletionCursor cursor = extended.awaitPoll(stage.patience())) {
                while (cursor.next()) {
                    done.add(cursor.copy());
                }
            }
        } else {
            queue.await(completions, stage.patience());
            take();
        }
    }

    private void take() {
        while (completions.next()) {
            done.add(completions.copy());
        }
    }

    /** Closes all that was made, the id included. May be called again. */
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
