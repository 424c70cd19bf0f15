// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Allocation;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeEfa;
import io.rdmacm.verbs.testing.UseAfterClose;
import io.rdmacm.verbs.testing.WithFakeEfa;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Queries, queue pairs and traffic of EFA: the driver of rdma-core over a stand-in for the kernel and the card. */
@WithFakeEfa
@Timeout(120)
class EfaTest {
    // enum uverbs_default_objects
    private static final int OBJECT_CQ = 3;
    private static final int OBJECT_QP = 4;
    private static final int HEADER = 40;

    @Test
    @Covers("efadv_query_device")
    void theLimitsOfTheDevice() throws Exception {
        try (VerbsContext context = EfaEnd.open()) {
            EfaDeviceAttributes attributes = EfaDeviceAttributes.query(context);
            assertThat(attributes.maxSendRequests()).isEqualTo(4096);
            assertThat(attributes.maxReceiveRequests()).isEqualTo(8192);
            assertThat(attributes.maxSendScatterGather()).isEqualTo(2);
            assertThat(attributes.maxReceiveScatterGather()).isEqualTo(3);
            assertThat(attributes.maxInlineData()).isEqualTo(32);
            assertThat(attributes.maxRdmaBytes()).isEqualTo(1 << 30);
            assertThat(attributes.has(EfaCapability.RDMA_READ)).isTrue();
            assertThat(attributes.capabilities()).contains(EfaCapability.CQ_WITH_SGID, EfaCapability.RNR_RETRY)
                    .doesNotContain(EfaCapability.COMP_CNTR);
        }
    }

    @Test
    @Covers("efadv_query_ah")
    void anAddressHasTheNumberThatCompletionsName() throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.MESSAGES); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address(); AddressHandle back = to.address()) {
            assertThat(EfaAddressHandle.number(address)).isNotEqualTo(EfaAddressHandle.number(back));
            to.receive(1, 0, 64);
            send(from, to, address);
            try (CompletionCursor cursor = to.queue.awaitPoll(EfaEnd.LIMIT)) {
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.sourceLid()).isEqualTo(EfaAddressHandle.number(back));
                assertThat(to.queue.sourceGid()).isEmpty();
            }
        }
    }

    @Test
    @Covers({"efadv_query_mr", "efadv_query_qp_wqs", "efadv_query_cq", "efadv_get_max_sq_depth",
        "efadv_get_max_rq_depth"})
    void whatTheLibraryIsTooOldForIsSaid() throws Exception {
        try (EfaEnd end = EfaEnd.srd(EfaEnd.MESSAGES)) {
            answers("efadv_get_max_sq_depth", () -> assertThat(
                    EfaQueueDepths.maxSends(end.context, 2, 1, 32, false)).isEqualTo(4096));
            answers("efadv_get_max_rq_depth", () -> assertThat(
                    EfaQueueDepths.maxReceives(end.context, 2)).isEqualTo(4096));
            answers("efadv_query_qp_wqs", () -> {
                EfaRawQueue sends = EfaRawQueue.sendsOf(end.pair);
                assertThat(sends.entrySize()).isEqualTo(64);
                assertThat(sends.capacity()).isEqualTo(16);
                assertThat(sends.doorbell().byteSize()).isEqualTo(4);
                assertThat(EfaRawQueue.receivesOf(end.pair).entrySize()).isEqualTo(16);
            });
            answers("efadv_query_cq", () -> assertThat(EfaRawQueue.of(end.queue).capacity()).isEqualTo(64));
            // the stand-in does not answer the request of newer libraries
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> EfaMemoryAttributes.query(end.memory))
                    .withMessageContaining("efadv_query_mr");
        }
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> EfaQueueDepths.maxReceives(null, 0)).withMessage(
                        "at least 1 scatter/gather entries, not 0");
    }

    @Test
    void batchesAllocateNothing() throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.MESSAGES); AddressHandle address = from.address()) {
            Allocation.assertNone(() -> {
                try (SendBatch batch = from.pair.startBatch()) {
                    batch.id(1).send().data(from.memory, 0, 16).datagram(address, 1, EfaEnd.KEY);
                }
            });
        }
    }

    private interface Query {
        void run() throws Exception;
    }

    /** Runs a query that a newer library answers; an older one says since when there is an answer. */
    private static void answers(String function, Query query) throws Exception {
        if (NativeFunction.of(function).isAvailable()) {
            query.run();
        } else {
            assertThatExceptionOfType(NativeLibraryException.class).isThrownBy(query::run)
                    .withMessageContaining(function);
        }
    }

    @Test
    @Covers({"efadv_create_driver_qp", "efadv_create_qp_ex", "efadv_create_cq", "efadv_cq_from_ibv_cq_ex",
        "efadv_wc_read_sgid"})
    void aMessageOfAStrangerTellsItsGid() throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.MESSAGES); EfaEnd to = EfaEnd.srd(List.of());
                AddressHandle address = from.address()) {
            to.receive(5, 128, 64);
            from.memory.memory().setString(0, "by SRD");
            try (SendBatch batch = from.pair.startBatch()) {
                batch.id(9).sendWithImmediate(0x01020304).data(from.memory, 0, 16)
                        .datagram(address, to.pair.number(), EfaEnd.KEY);
                batch.complete();
            }
            assertThat(from.completion()).satisfies(sent -> {
                assertThat(sent.workRequestId()).isEqualTo(9);
                assertThat(sent.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            });
            try (CompletionCursor cursor = to.queue.awaitPoll(EfaEnd.LIMIT)) {
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.workRequestId()).isEqualTo(5);
                assertThat(cursor.byteLength()).isEqualTo(16);
                assertThat(cursor.immediate()).isEqualTo(0x01020304);
                assertThat(cursor.sourceQueuePair()).isEqualTo(from.pair.number());
                assertThat(cursor.sourceLid()).isEqualTo(0xffff);
                assertThat(to.queue.sourceGid()).contains(from.context.queryGid(1, 0));
                assertThat(to.memory.memory().getString(128)).isEqualTo("by SRD");
                assertThatExceptionOfType(IllegalStateException.class).isThrownBy(to.queue::isUnsolicited)
                        .withMessage("the completion queue was created without IS_UNSOLICITED");
            }
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(to.queue::sourceGid);
        }
    }

    @Test
    void anRdmaReadBringsTheBytes() throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.READS); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address()) {
            byte[] bytes = random(8000);
            to.memory.memory().asSlice(100, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
            try (SendBatch batch = from.pair.startBatch()) {
                batch.id(3).rdmaRead(to.memory.remoteAddress() + 100, to.memory.remoteKey(), from.memory, 7,
                        bytes.length).datagram(address, to.pair.number(), EfaEnd.KEY);
                batch.complete();
            }
            assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(from.memory.memory().asSlice(7, bytes.length).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
        }
    }

    @Test
    void anRdmaWriteTakesTheBytes() throws Exception {
        List<SendOperation> writes = List.of(SendOperation.RDMA_WRITE, SendOperation.RDMA_WRITE_WITH_IMM);
        try (VerbsContext context = EfaEnd.open()) {
            Assumptions.assumeTrue(EfaDeviceAttributes.query(context).has(EfaCapability.RDMA_WRITE),
                    "libefa has RDMA writes since rdma-core 46");
        }
        try (EfaEnd from = EfaEnd.srd(writes); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address()) {
            byte[] bytes = random(9000);
            from.memory.memory().copyFrom(MemorySegment.ofArray(bytes));
            to.receive(4, 0, 0);
            try (SendBatch batch = from.pair.startBatch()) {
                batch.rdmaWriteWithImmediate(to.memory.remoteAddress(), to.memory.remoteKey(), 77)
                        .data(from.memory, 0, bytes.length).datagram(address, to.pair.number(), EfaEnd.KEY);
                batch.complete();
            }
            assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            WorkCompletion written = to.completion();
            assertThat(written.workRequestId()).isEqualTo(4);
            assertThat(written.immediate()).isEqualTo(77);
            assertThat(written.byteLength()).isEqualTo(bytes.length);
            assertThat(to.memory.memory().asSlice(0, bytes.length).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
        }
    }

    @Test
    void anUnreliableDatagramFollowsItsHeader() throws Exception {
        try (EfaEnd from = EfaEnd.ud(); EfaEnd to = EfaEnd.ud(); AddressHandle address = from.address()) {
            to.receive(1, 0, 256);
            from.memory.memory().setString(0, "by UD");
            send(from, to, address);
            WorkCompletion received = to.completion();
            assertThat(received.byteLength()).isEqualTo(HEADER + 16);
            assertThat(to.memory.memory().getString(HEADER)).isEqualTo("by UD");
            assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    void manyMessagesGoRoundTheRings() throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.MESSAGES); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address()) {
            for (int i = 0; i < 200; i++) {
                to.receive(i, 0, 64);
                from.memory.memory().set(ValueLayout.JAVA_INT, 0, i);
                send(from, to, address);
                assertThat(to.completion().workRequestId()).isEqualTo(i);
                assertThat(to.memory.memory().get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
                assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"SEND, false", "SEND_WITH_IMM, false", "SEND, true", "RDMA_READ, false"})
    void aBatchHandsTheCardTheBytesOfC(SendOperation operation, boolean inline) throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.READS); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address()) {
            to.receive(1, 0, 64);
            to.receive(2, 0, 64);
            try (SendBatch batch = from.pair.startBatch()) {
                batch.id(7).inline(inline);
                switch (operation) {
                    case SEND -> batch.send();
                    case SEND_WITH_IMM -> batch.sendWithImmediate(0x0a0b0c0d);
                    default -> batch.rdmaRead(to.memory.remoteAddress(), to.memory.remoteKey());
                }
                batch.datagram(address, to.pair.number(), EfaEnd.KEY);
                if (inline) {
                    batch.inlineData(from.memory, 0, 24);
                } else {
                    batch.data(from.memory, 0, 24);
                }
                batch.complete();
            }
            from.completion();
            compare("efa_twin_post", from, to, address, opcode(operation), inline);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPostHandsTheCardTheBytesOfC(boolean inline) throws Exception {
        try (EfaEnd from = EfaEnd.srd(List.of()); EfaEnd to = EfaEnd.srd(List.of());
                AddressHandle address = from.address()) {
            to.receive(1, 0, 64);
            to.receive(2, 0, 64);
            from.pair.postSend(SendRequests.allocate(1, 1).get(0).id(7).send().data(from.memory, 0, 24)
                    .inline(inline).datagram(address, to.pair.number(), EfaEnd.KEY));
            from.completion();
            compare("efa_twin_post_send", from, to, address, Rdma.IBV_WR_SEND(), inline);
        }
    }

    /** Posts in C what was posted last, and compares the entries that the card took. */
    private static void compare(String twin, EfaEnd from, EfaEnd to, AddressHandle address, int opcode,
            boolean inline) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(64, Long.BYTES);
            request.set(ValueLayout.ADDRESS, 0, from.pair.handle());
            request.set(ValueLayout.ADDRESS, 8, address.handle());
            request.set(ValueLayout.JAVA_LONG, 16, from.memory.memory().address());
            request.set(ValueLayout.JAVA_LONG, 24, to.memory.remoteAddress());
            int[] numbers = {to.pair.number(), EfaEnd.KEY, from.memory.localKey(), to.memory.remoteKey(), 24,
                0x0a0b0c0d, opcode, inline ? 1 : 0};
            MemorySegment.copy(numbers, 0, request, ValueLayout.JAVA_INT, 32, numbers.length);
            assertThat(FakeEfa.twin(twin, request)).isZero();
        }
        assertThat(from.completion().workRequestId()).isEqualTo(7);
        byte[] java = FakeEfa.taken(1);
        byte[] c = FakeEfa.taken(0);
        assertThat(c).isNotEqualTo(new byte[FakeEfa.ENTRY]);
        // the number that libefa gives a request: it takes them in turn
        Arrays.fill(java, 0, 2, (byte) 0);
        Arrays.fill(c, 0, 2, (byte) 0);
        assertThat(java).isEqualTo(c);
    }

    private static int opcode(SendOperation operation) {
        return switch (operation) {
            case SEND -> Rdma.IBV_WR_SEND();
            case SEND_WITH_IMM -> Rdma.IBV_WR_SEND_WITH_IMM();
            default -> Rdma.IBV_WR_RDMA_READ();
        };
    }

    @Test
    void errorsOfTheCardAreTyped() throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.READS); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address()) {
            // no receive is posted, and SRD does not try again unless it was told to
            send(from, to, address);
            assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);

            to.receive(1, 0, 8);
            send(from, to, address);
            assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);

            try (SendBatch batch = from.pair.startBatch()) {
                batch.send(from.memory, 0, 16).datagram(address, to.pair.number(), EfaEnd.KEY + 1);
                batch.complete();
            }
            assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.REM_INV_RD_REQ_ERR);

            try (SendBatch batch = from.pair.startBatch()) {
                batch.rdmaRead(to.memory.remoteAddress(), to.memory.remoteKey() + 1, from.memory, 0, 16)
                        .datagram(address, to.pair.number(), EfaEnd.KEY);
                batch.complete();
            }
            WorkCompletion refused = from.completion();
            assertThat(refused.status()).isNotEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(refused.vendorError()).isEqualTo(7);

            FakeEfa.fail(13, 1);
            send(from, to, address);
            assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.RESP_TIMEOUT_ERR);
        }
    }

    @Test
    void aSenderThatMayTryForeverWaitsForTheReceive() throws Exception {
        try (EfaEnd from = EfaEnd.patient(EfaEnd.MESSAGES); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address()) {
            send(from, to, address);
            to.receive(1, 0, 64);
            assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(to.completion().workRequestId()).isEqualTo(1);
        }
    }

    /** The completions that are left would make libefa write before the memory of the queue. */
    @Test
    void aQueuePairThatWasUsedIsNotReset() throws Exception {
        try (EfaEnd end = EfaEnd.srd(EfaEnd.MESSAGES)) {
            end.receive(1, 0, 64);
            end.pair.modifyToError();
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> end.pair.modify(QueuePairAttributes.toReset()))
                    .withMessageContaining("libefa cannot reset a queue pair");
            assertThat(end.completion().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        }
    }

    @Test
    void whatWasPostedIsFlushedWithAnError() throws Exception {
        try (EfaEnd end = EfaEnd.srd(EfaEnd.MESSAGES)) {
            end.receive(8, 0, 64);
            end.receive(9, 64, 64);
            end.pair.modifyToError();
            List<Long> flushed = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                WorkCompletion completion = end.completion();
                assertThat(completion.status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
                flushed.add(completion.workRequestId());
            }
            assertThat(flushed).containsExactly(8L, 9L);
            assertThat(end.pair.state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    void aRequestNeedsItsDestination() throws Exception {
        try (EfaEnd end = EfaEnd.srd(EfaEnd.MESSAGES); SendBatch batch = end.pair.startBatch()) {
            batch.send(end.memory, 0, 8);
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(batch::complete).withMessage(
                    "SEND on a queue pair of type DRIVER needs a destination: call datagram()");
        }
        try (EfaEnd end = EfaEnd.srd(List.of())) {
            SendRequest request = SendRequests.allocate(1, 1).get(0).send().data(end.memory, 0, 8);
            assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> end.pair.postSend(request))
                    .withMessage("a datagram needs an address handle: call datagram()");
        }
    }

    @Test
    void refusals() throws Exception {
        try (VerbsContext context = EfaEnd.open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(8)) {
            QueuePairInitAttributes.Builder srd = QueuePairInitAttributes.builder().type(QueuePairType.DRIVER)
                    .completionQueue(queue);
            assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> EfaQueuePair.create(domain,
                    QueuePairInitAttributes.builder().completionQueue(queue).build()))
                    .withMessage("an SRD queue pair is of type DRIVER, not RC");
            assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> EfaQueuePair.create(domain,
                    QueuePairInitAttributes.builder().type(QueuePairType.DRIVER).completionQueue(queue)
                            .maxReceiveScatterGather(0).build()))
                    .withMessage("an SRD queue pair needs at least one scatter/gather entry for receives");
            assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> domain.createQueuePair(
                    QueuePairInitAttributes.builder().type(QueuePairType.UD).completionQueue(queue)
                            .maxReceiveScatterGather(0).build()))
                    .withMessage("a queue pair of EFA needs at least one scatter/gather entry for receives");
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> EfaQueuePair.create(domain,
                    QueuePairInitAttributes.builder().type(QueuePairType.DRIVER).completionQueue(queue)
                            .sendOperations(Set.of(SendOperation.ATOMIC_FETCH_AND_ADD)).build()));
            FakeEfa.refuse(OBJECT_QP, Rdma.ENOMEM());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> EfaQueuePair.create(domain, srd.build()))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.ENOMEM()))
                    .withMessageContaining("efadv_create_driver_qp");
            FakeEfa.refuse(OBJECT_CQ, Rdma.EINVAL());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> EfaCompletionQueue.create(context,
                    CompletionQueueInitAttributes.builder(8).build(), EfaCompletionField.SGID))
                    .withMessageContaining("efadv_create_cq");
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> EfaQueuePairAttributes.builder().serviceLevel(256));
        }
    }

    @Test
    @SuppressWarnings("try")
    void nothingClosesBeforeWhatStandsOnIt() throws Exception {
        try (VerbsContext context = EfaEnd.open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                EfaCompletionQueue queue = EfaCompletionQueue.create(context,
                        CompletionQueueInitAttributes.builder(8).build(), EfaCompletionField.SGID);
                EfaQueuePair pair = EfaQueuePair.create(domain, QueuePairInitAttributes.builder()
                        .type(QueuePairType.DRIVER).completionQueue(queue).build())) {
            assertThat(queue.efaFields()).containsExactly(EfaCompletionField.SGID);
            assertThat(pair.srd()).isEqualTo(EfaQueuePairAttributes.defaults());
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(context::close)
                    .withMessageContaining("EfaCompletionQueue");
            for (AutoCloseable early : List.of(domain, queue)) {
                assertThatExceptionOfType(IllegalStateException.class).isThrownBy(early::close)
                        .withMessageContaining("DRIVER");
            }
            pair.close();
            pair.close();
            queue.close();
            domain.close();
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(queue::sourceGid);
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(queue::efaFields);
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> EfaRawQueue.of(queue));
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> EfaRawQueue.sendsOf(pair));
        }
    }

    /** libefa returns the place of a request to its queue, whose lock the batch has. */
    @Test
    void pollingWaitsForNoBatch() throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.MESSAGES); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address()) {
            to.receive(1, 0, 64);
            send(from, to, address);
            to.completion();
            WorkCompletions completions = WorkCompletions.allocate(4);
            try (SendBatch batch = from.pair.startBatch()) {
                batch.send(from.memory, 0, 16).datagram(address, to.pair.number(), EfaEnd.KEY);
                assertThatExceptionOfType(IllegalStateException.class)
                        .isThrownBy(() -> from.queue.poll(completions)).withMessageContaining("batch");
                assertThatExceptionOfType(IllegalStateException.class)
                        .isThrownBy(from.queue::startPoll).withMessageContaining("batch");
            }
            assertThat(from.completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    /** The thread that waits for the lock must not keep the JVM from stopping all threads, as it does to collect. */
    @Test
    void anotherThreadPollsWhenTheBatchHasEnded() throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.MESSAGES); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address()) {
            to.receive(1, 0, 64);
            send(from, to, address);
            to.completion();
            WorkCompletions completions = WorkCompletions.allocate(4);
            SendBatch batch = from.pair.startBatch();
            try (Background<Integer> polling = Background.call(() -> pollUntilOne(from.queue, completions))) {
                try (SendBatch open = batch) {
                    polling.awaitInside(CompletionQueue.class, "poll");
                    System.gc();
                    open.send(from.memory, 0, 16).datagram(address, to.pair.number(), EfaEnd.KEY);
                }
                assertThat(polling.result()).isEqualTo(1);
            }
            assertThat(completions.at(0).succeeded()).isTrue();
        }
    }

    private static int pollUntilOne(CompletionQueue queue, WorkCompletions completions) throws RdmaException {
        int taken = queue.poll(completions);
        while (taken == 0) {
            taken = queue.poll(completions);
        }
        return taken;
    }

    @Test
    void aCloseWaitsForThePostsOfAnotherThread() throws Exception {
        try (EfaEnd from = EfaEnd.srd(EfaEnd.MESSAGES); EfaEnd to = EfaEnd.srd(EfaEnd.MESSAGES);
                AddressHandle address = from.address()) {
            CountDownLatch posted = new CountDownLatch(500);
            FutureTask<String> poster = new FutureTask<>(() -> {
                WorkCompletions completions = WorkCompletions.allocate(16);
                while (true) {
                    try {
                        send(from, to, address);
                        posted.countDown();
                    } catch (IllegalStateException e) {
                        return e.getMessage();
                    } catch (RdmaException e) {
                        // the queue is full
                        from.queue.poll(completions);
                    }
                }
            });
            Thread.ofPlatform().start(poster);
            posted.await();
            from.pair.close();
            assertThat(poster.get(1, TimeUnit.MINUTES)).contains("closed");
        }
    }

    @TestFactory
    Stream<DynamicTest> everyMethodOfAClosedQueueIsRefused() throws Exception {
        EfaEnd end = EfaEnd.srd(List.of());
        end.close();
        return UseAfterClose.of(List.of(EfaCompletionQueue.class)).closed(end.queue)
                .argument(WorkCompletions.class, WorkCompletions.allocate(1)).tests();
    }

    private static void send(EfaEnd from, EfaEnd to, AddressHandle address) throws RdmaException {
        try (SendBatch batch = from.pair.startBatch()) {
            batch.send(from.memory, 0, 16).datagram(address, to.pair.number(), EfaEnd.KEY);
            batch.complete();
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }
}
