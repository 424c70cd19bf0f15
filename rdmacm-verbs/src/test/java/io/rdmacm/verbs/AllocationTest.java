// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.driver.CompletionQueueExOps;
import io.rdmacm.verbs.internal.driver.QueuePairExOps;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.testing.Allocation;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.Completion;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The data path allocates nothing on the Java heap, once it is compiled. */
@WithFakeVerbs
class AllocationTest {
    private FakeStack stack;
    private int used;
    private long polled;
    private long sum;
    private RegisteredSlice kept;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.recording(false);
        FakeVerbs.loop(true);
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    @Test
    void theMeasurementSeesAnAllocation() throws RdmaException {
        long before = Allocation.bytes();
        byte[] bytes = new byte[100_000];
        assertThat(Allocation.bytes() - before).isGreaterThan(bytes.length);
    }

    @Test
    void oneRequestAtATime() throws RdmaException {
        SendRequest send = SendRequests.allocate(1, 3).get(0);
        ReceiveRequest receive = ReceiveRequests.allocate(1, 3).get(0);
        WorkCompletions completions = WorkCompletions.allocate(4);
        Allocation.assertNone(() -> {
            stack.queuePair().postReceive(receive.id(used).data(stack.region(), 0, 64));
            stack.queuePair().postSend(send.id(used).sendWithImmediate(used).data(stack.region(), 8, 16)
                    .inline((used & 1) == 0));
            stack.queuePair().postSend(send.rdmaWrite(used, used).data(0, stack.region(), 0, 1)
                    .data(1, stack.region(), 2, 3).inline(false));
            polled += stack.queue().poll(completions);
            while (completions.next()) {
                sum += completions.workRequestId() + completions.byteLength() + completions.status().ordinal()
                        + completions.opcode().ordinal() + completions.flagBits();
                if (completions.has(WorkCompletionFlag.GRH) || completions.hasImmediate()) {
                    sum += completions.immediate() + completions.invalidatedKey();
                }
                completions.check();
            }
            used++;
        });
        assertThat(polled).isEqualTo(2L * used);
    }

    @Test
    void readingThroughTheInterface() throws Exception {
        MemorySegment completed = ibv_wc.allocate(Arena.ofAuto());
        FakeVerbs.call("oracle_completion", completed.address(), 7, 0, Rdma.IBV_WC_RECV(), 0, 5, 6, 1, 2,
                Rdma.IBV_WC_WITH_IMM());
        FakeVerbs.complete(stack.queue().handle(), completed);
        WorkCompletions completions = WorkCompletions.allocate(1);
        assertThat(stack.queue().poll(completions)).isEqualTo(1);
        Completion[] both = {completions.at(0), completions.copy()};
        Allocation.assertNone(() -> {
            Completion completion = both[used & 1];
            completion.check();
            if (completion.has(WorkCompletionFlag.WITH_IMM) && completion.hasImmediate()) {
                sum += completion.workRequestId() + completion.byteLength() + completion.immediate()
                        + completion.flagBits() + completion.queuePairNumber() + completion.status().ordinal();
            }
            used++;
        });
        assertThat(sum).isEqualTo(used * (7L + 5 + 6 + 2 + 1));
    }

    @Test
    void batches() throws Exception {
        SendRequests sends = SendRequests.allocate(8, 1);
        ReceiveRequests receives = ReceiveRequests.allocate(8, 1);
        WorkCompletions completions = WorkCompletions.allocate(8);
        Allocation.assertNone(() -> {
            for (int i = 0; i < 8; i++) {
                sends.get(i).id(i).rdmaRead(i, i).data(stack.region(), i, 1);
                receives.get(i).id(i).data(stack.region(), i, 1);
            }
            stack.queuePair().postReceive(receives, 0, 8);
            stack.queuePair().postSend(sends, 0, 8);
            polled += stack.queue().poll(completions);
        });
        assertThat(polled).isPositive();
    }

    /** Nothing but the object that the program gets. */
    @Test
    void slicesOfAPool() throws RdmaException {
        SendRequest send = SendRequests.allocate(1, 1).get(0);
        try (RegisteredPool pool = RegisteredPool.create(stack.domain(), 64)) {
            Allocation.assertAtMost(32, () -> {
                try (RegisteredSlice slice = pool.take()) {
                    kept = slice;
                    send.data(slice.region(), slice.offset(), slice.length());
                    sum += slice.memory().byteSize();
                }
            });
        }
        assertThat(kept.isOpen()).isFalse();
    }

    @Test
    void sendBatchesAndCursors() throws RdmaException {
        FakeVerbs.call("fake_equip_queue_pairs", stack.context().handle().address());
        FakeVerbs.call("fake_equip_completion", stack.context().handle().address());
        MemorySegment message = MemorySegment.ofArray(new byte[64]);
        MemorySegment headers = MemorySegment.ofArray(new byte[4]);
        ScatterGatherList parts = ScatterGatherList.allocate(2).set(0, stack.region(), 0, 8)
                .set(1, stack.region(), 8, 8);
        MemorySegment completed = ibv_wc.allocate(Arena.ofAuto());
        try (ExtendedCompletionQueue queue = stack.context().createExtendedCompletionQueue(
                CompletionQueueInitAttributes.builder(16).build());
                QueuePair pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                        .completionQueue(stack.queue()).maxInlineData(64).maxSendScatterGather(2).maxTsoHeader(4)
                        .sendOperations(EnumSet.allOf(SendOperation.class)).build())) {
            Allocation.assertNone(() -> {
                try (SendBatch batch = pair.startBatch()) {
                    batch.id(used).signaled(false).inline(true).sendWithImmediate(used).inlineData(message, 0, 64);
                    batch.send().inlineData(stack.region(), 0, 8);
                    batch.send().inlineData(parts).inline(false);
                    batch.rdmaWrite(used, used).data(parts);
                    batch.tso(headers, 9);
                    batch.fence(true).compareAndSwap(used, used, used, used).data(stack.region(), 0, 8);
                    batch.complete();
                }
                try (CompletionCursor completion = queue.startPoll()) {
                    while (completion.next()) {
                        sum += completion.workRequestId() + completion.byteLength() + completion.opcode().ordinal();
                    }
                }
                used++;
            });
            FakeVerbs.complete(queue.handle(), completed);
            try (CompletionCursor completion = queue.startPoll()) {
                assertThat(completion.next()).isTrue();
            }
        }
    }

    @Test
    void theExtendedFunctions() throws RdmaException {
        QueuePairExOps send = new QueuePairExOps(stack.queuePair().handle().address(), true);
        CompletionQueueExOps poll = new CompletionQueueExOps(stack.queue().handle().address(), false);
        try (Arena arena = Arena.ofConfined()) {
            long memory = arena.allocate(64, 8).address();
            Allocation.assertNone(() -> {
                send.start();
                send.next(used, 2);
                send.rdmaWriteImm(used, used, used);
                send.setSge(used, memory, 8);
                send.atomicCmpSwp(used, used, used, used);
                send.setInlineData(memory, 0);
                sum += send.complete();
                sum += poll.startPoll(memory) + poll.readSl() + poll.readCvlan() + poll.readOpcode()
                        + poll.readCompletionTs() + poll.nextPoll();
                poll.readTmInfo(memory);
                poll.endPoll();
                used++;
            });
        }
    }

    @Test
    void waitingForCompletionsThatAreThere() throws RdmaException {
        SendRequest send = SendRequests.allocate(1, 1).get(0).data(stack.region(), 0, 8);
        WorkCompletions completions = WorkCompletions.allocate(4);
        try (CompletionQueue queue = stack.context().createCompletionQueue(16, stack.channel());
                QueuePair pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                        .completionQueue(queue).build())) {
            Allocation.assertNone(() -> {
                pair.postSend(send);
                try {
                    polled += queue.await(completions, Duration.ZERO);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                used++;
            });
        }
        assertThat(polled).isEqualTo(used);
    }
}
