// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.WorkQueue;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.SendOperation;

/** The queues of libibverbs, where the fast paths are. */
public final class VerbsRaces implements Races {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int COMPLETIONS = 20;

    private final FakeStack stack = new FakeStack();

    /** Opens what all races need. */
    public VerbsRaces() throws RdmaException {
        long context = stack.context().handle().address();
        for (String equip : List.of("fake_equip_completion", "fake_equip_queue_pairs", "fake_equip_receive",
                "fake_equip_work_queues")) {
            FakeVerbs.call(equip, context);
        }
    }

    private QueuePair queuePair() throws RdmaException {
        return stack.domain().createQueuePair(QueuePairInitAttributes.builder().completionQueue(stack.queue()).build());
    }

    private QueuePair batching() throws RdmaException {
        return stack.domain().createQueuePair(QueuePairInitAttributes.builder().completionQueue(stack.queue())
                .maxInlineData(16).sendOperations(List.of(SendOperation.SEND, SendOperation.RDMA_WRITE)).build());
    }

    private SharedReceiveQueue shared() throws RdmaException {
        return stack.domain().createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().build());
    }

    private ExtendedCompletionQueue extended() throws RdmaException {
        ExtendedCompletionQueue queue = stack.context().createExtendedCompletionQueue(
                CompletionQueueInitAttributes.builder(COMPLETIONS).fields(CompletionField.BYTE_LEN).build());
        FakeVerbs.call("fake_fill", queue.handle().address(), COMPLETIONS);
        return queue;
    }

    /** With an event on its way, and completions. */
    private CompletionQueue notified() throws RdmaException {
        CompletionQueue queue = stack.context().createCompletionQueue(COMPLETIONS, stack.channel());
        queue.requestNotification(false);
        FakeVerbs.call("fake_fill", queue.handle().address(), COMPLETIONS);
        return queue;
    }

    private Race.Act<QueuePair> postSend() {
        SendRequest request = SendRequests.allocate(1, 1).get(0).send().data(stack.region(), 0, 8);
        return pair -> pair.postSend(request);
    }

    private Race.Act<QueuePair> postSends() {
        SendRequests block = SendRequests.allocate(3, 1);
        for (int i = 0; i < block.capacity(); i++) {
            block.get(i).rdmaWrite(i, i).data(stack.region(), 0, 8);
        }
        return pair -> pair.postSend(block, 0, 3);
    }

    private Race.Act<QueuePair> postReceive() {
        ReceiveRequest request = ReceiveRequests.allocate(1, 1).get(0).data(stack.region(), 0, 8);
        return pair -> pair.postReceive(request);
    }

    private Race.Act<SharedReceiveQueue> postShared() {
        ReceiveRequest request = ReceiveRequests.allocate(1, 1).get(0).data(stack.region(), 0, 8);
        return queue -> queue.postReceive(request);
    }

    private static Race.Act<CompletionQueue> poll() {
        WorkCompletions completions = WorkCompletions.allocate(4);
        return queue -> queue.poll(completions);
    }

    private static Race.Act<CompletionQueue> awaitCompletions() {
        WorkCompletions completions = WorkCompletions.allocate(4);
        return queue -> queue.await(completions, LONG);
    }

    private static void readInPlace(ExtendedCompletionQueue queue) throws RdmaException {
        try (CompletionCursor completion = queue.startPoll()) {
            while (completion.next()) {
                completion.workRequestId();
                completion.succeeded();
                completion.byteLength();
            }
        }
    }

    private Race.Act<QueuePair> batch() {
        return pair -> {
            try (SendBatch batch = pair.startBatch()) {
                batch.id(1).inline(true).send().inlineData(stack.region().memory(), 0, 8);
                batch.inline(false).rdmaWrite(1, 2).data(stack.region(), 0, 8);
                batch.complete();
            }
        };
    }

    private static Race.Act<CompletionChannel> getEvent() {
        return channel -> channel.getEvent(LONG);
    }

    /** Refusals that are not for the close of the queue: the other thread has a cursor or a batch open. */
    private static <T> Race.Act<T> butNotWhileAnother(Race.Act<T> act) {
        return object -> {
            try {
                act.on(object);
            } catch (IllegalStateException e) {
                if (!e.getMessage().endsWith("first")) {
                    throw e;
                }
            }
        };
    }

    @Override
    public List<Race<?>> all() {
        List<Race<?>> races = new ArrayList<>(List.of(
                Race.of("QueuePair postSend/close", this::queuePair).use(postSend()).close(QueuePair::close),
                Race.of("QueuePair postSends/close", this::queuePair).use(postSends()).close(QueuePair::close),
                Race.of("QueuePair postReceive/close", this::queuePair).use(postReceive()).close(QueuePair::close),
                Race.of("QueuePair postSend/postSend/close", this::queuePair).use(postSend()).use(postSends())
                        .close(QueuePair::close),
                Race.of("QueuePair postSend/postReceive/query/close/close", this::queuePair).use(postSend())
                        .use(postReceive()).use(QueuePair::query).close(QueuePair::close).close(QueuePair::close),
                Race.of("CompletionQueue poll/close", () -> stack.context().createCompletionQueue(4)).use(poll())
                        .close(CompletionQueue::close),
                Race.of("CompletionQueue poll/arm/close", this::notified).use(poll())
                        .use(queue -> queue.requestNotification(false)).close(CompletionQueue::close),
                Race.of("CompletionQueue await/close", this::notified).await(awaitCompletions())
                        .close(CompletionQueue::close),
                Race.of("CompletionQueue poll/await/arm/resize/close/close", this::notified).use(poll())
                        .await(awaitCompletions()).use(queue -> queue.requestNotification(true))
                        .use(queue -> queue.resize(8)).close(CompletionQueue::close).close(CompletionQueue::close),
                Race.of("CompletionQueue events/close", this::notified).use(queue -> {
                    stack.channel().pollEvent();
                    queue.capacity();
                }).close(CompletionQueue::close),
                Race.of("SharedReceiveQueue postReceive/close", this::shared).use(postShared())
                        .close(SharedReceiveQueue::close)));
        races.addAll(List.of(
                Race.of("SharedReceiveQueue postReceive/postReceive/query/close/close", this::shared).use(postShared())
                        .use(postShared()).use(SharedReceiveQueue::query).close(SharedReceiveQueue::close)
                        .close(SharedReceiveQueue::close),
                Race.of("ExtendedCompletionQueue cursor/close", this::extended).use(VerbsRaces::readInPlace)
                        .close(CompletionQueue::close),
                Race.<ExtendedCompletionQueue>of("ExtendedCompletionQueue cursor/cursor/poll/close/close",
                        this::extended)
                        .use(butNotWhileAnother(VerbsRaces::readInPlace))
                        .use(butNotWhileAnother(VerbsRaces::readInPlace))
                        .use(butNotWhileAnother(poll()::on))
                        .close(CompletionQueue::close).close(CompletionQueue::close),
                Race.of("SendBatch post/close of its queue pair", this::batching).use(batch())
                        .close(QueuePair::close),
                Race.of("SendBatch post/postSend/close/close of its queue pair", this::batching)
                        .use(butNotWhileAnother(batch())).use(butNotWhileAnother(postSend()))
                        .close(QueuePair::close).close(QueuePair::close),
                Race.of("CompletionChannel getEvent/close", stack.context()::createCompletionChannel)
                        .await(getEvent()).close(CompletionChannel::close),
                Race.of("CompletionChannel getEvent/getEvent/pollEvent/close/close",
                        stack.context()::createCompletionChannel)
                        .await(getEvent()).await(VerbsRaces::getEventShortly).await(CompletionChannel::pollEvent)
                        .close(CompletionChannel::close).close(CompletionChannel::close),
                Race.of("WorkQueue postReceive/close", () -> stack.domain().createWorkQueue(stack.queue(), 4, 1))
                        .use(postToWorkQueue()).close(WorkQueue::close),
                Race.of("WorkQueue postReceive/state/close/close",
                        () -> stack.domain().createWorkQueue(stack.queue(), 4, 1))
                        .use(postToWorkQueue()).use(WorkQueue::state).close(WorkQueue::close)
                        .close(WorkQueue::close)));
        return races;
    }

    private static void getEventShortly(CompletionChannel channel) throws Exception {
        try {
            channel.getEvent(Duration.ofNanos(1));
        } catch (RdmaTimeoutException e) {
            // as it should be
        }
    }

    private Race.Act<WorkQueue> postToWorkQueue() {
        ReceiveRequest request = ReceiveRequests.allocate(1, 1).get(0).data(stack.region(), 0, 8);
        return queue -> queue.postReceive(request);
    }

    @Override
    public String misuse() {
        return Misuse.found();
    }

    @Override
    public void close() throws RdmaException {
        stack.close();
    }
}
