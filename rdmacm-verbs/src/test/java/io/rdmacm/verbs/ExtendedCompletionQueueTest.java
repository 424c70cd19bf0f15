// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.function.ToLongFunction;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_cq_init_attr_ex;
import io.rdmacm.bindings.ibv_modify_cq_attr;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.wait.Wait;
import io.rdmacm.verbs.queue.CompletionQueueFlag;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Completions that are read in place: each by its own function, ended always, and never twice at a time. */
@WithFakeVerbs
class ExtendedCompletionQueueTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Arena arena = Arena.ofAuto();
    private FakeStack stack;
    private ExtendedCompletionQueue queue;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_completion", stack.context().handle().address());
        queue = stack.context().createExtendedCompletionQueue(CompletionQueueInitAttributes.builder(8)
                .channel(stack.channel()).fields(CompletionField.values()).build());
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        queue.close();
        stack.close();
    }

    private void complete(long... ids) {
        for (long id : ids) {
            MemorySegment completion = ibv_wc.allocate(arena);
            FakeVerbs.call("oracle_completion", completion.address(), id, 0, Rdma.IBV_WC_RECV(), 0x80000002L,
                    0x80000003L, 0x80000004L, 0x80000005L, 0x80000006L, Rdma.IBV_WC_GRH());
            ibv_wc.slid(completion, (short) 0xfff7);
            ibv_wc.sl(completion, (byte) 0xf8);
            ibv_wc.dlid_path_bits(completion, (byte) 0xf9);
            FakeVerbs.complete(queue.handle(), completion);
        }
    }

    @Test
    @Covers({"ibv_create_cq_ex", "ibv_cq_ex_to_cq"})
    void isMadeWithTheBytesOfC() throws RdmaException {
        MemorySegment expected = ibv_cq_init_attr_ex.allocate(arena);
        FakeVerbs.call("oracle_cq_init", expected.address(), 100, stack.channel().handle().address(), 1, 3,
                stack.domain().handle().address());
        try (ExtendedCompletionQueue made = stack.context().createExtendedCompletionQueue(
                CompletionQueueInitAttributes.builder(100).channel(stack.channel()).completionVector(1)
                        .flags(CompletionQueueFlag.values()).parentDomain(stack.domain()).build())) {
            FakeVerbs.Call call = FakeVerbs.calls("create_cq_ex").getFirst();
            assertThat(call.arguments().getFirst()).isEqualTo(stack.context().handle().address());
            assertThat(call.data()).isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
            assertThat(made.capacity()).isEqualTo(101);
            assertThat(made.channel()).containsSame(stack.channel());
            assertThat(made.fields()).hasSize(7).contains(CompletionField.BYTE_LEN);
            assertThat(made.toCompletionQueue()).isSameAs(made);
            assertThat(made).hasToString("ExtendedCompletionQueue[101 entries at 0x"
                    + Long.toHexString(made.handle().address()) + "]");
            assertThatIllegalStateException().isThrownBy(stack.domain()::close).withMessageContaining(made.toString());
            assertThatIllegalStateException().isThrownBy(stack.channel()::close).withMessageContaining(made.toString());
        }
    }

    @Test
    void wrongAttributesAndADriverWithoutItAreRefused() throws RdmaException {
        CompletionQueueInitAttributes plain = CompletionQueueInitAttributes.builder(1).build();
        FakeVerbs.fail("create_cq_ex", Rdma.EINVAL());
        assertThatThrownBy(() -> stack.context().createExtendedCompletionQueue(plain))
                .isInstanceOf(RdmaException.class).hasMessageStartingWith("ibv_create_cq_ex")
                .hasMessageContaining("EINVAL");
        FakeVerbs.setExtendedOp(stack.context().handle(), "create_cq_ex", 0);
        assertThatThrownBy(() -> stack.context().createExtendedCompletionQueue(plain))
                .isInstanceOf(RdmaUnsupportedException.class);
        FakeVerbs.reset();
        assertThatIllegalArgumentException().isThrownBy(() -> CompletionQueueInitAttributes.builder(0).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CompletionQueueInitAttributes.builder(1).completionVector(-1).build());
        assertThatIllegalArgumentException().isThrownBy(() -> stack.context().createExtendedCompletionQueue(
                CompletionQueueInitAttributes.builder(1).channel(stack.channel()).completionVector(2).build()));
        try (FakeStack other = new FakeStack()) {
            assertThatIllegalArgumentException().isThrownBy(() -> stack.context().createExtendedCompletionQueue(
                    CompletionQueueInitAttributes.builder(1).channel(other.channel()).build()));
            assertThatIllegalArgumentException().isThrownBy(() -> stack.context().createExtendedCompletionQueue(
                    CompletionQueueInitAttributes.builder(1).parentDomain(other.domain()).build()));
        }
        assertThat(FakeVerbs.calls("create_cq_ex")).isEmpty();
    }

    @Test
    @Covers({"ibv_start_poll", "ibv_next_poll", "ibv_end_poll"})
    void completionsAreReadInOrderAndThePollIsEnded() throws RdmaException {
        complete(1, 2, 3);
        try (CompletionCursor completion = queue.startPoll()) {
            for (long id = 1; id <= 3; id++) {
                assertThat(completion.next()).isTrue();
                assertThat(completion.workRequestId()).isEqualTo(id);
                assertThat(completion.succeeded()).isTrue();
                completion.check();
            }
            assertThat(completion.next()).isFalse();
            assertThat(completion.next()).isFalse();
        }
        assertThat(FakeVerbs.functions()).containsExactly("start_poll", "next_poll", "next_poll", "next_poll",
                "end_poll");
        FakeVerbs.reset();
        try (CompletionCursor completion = queue.startPoll()) {
            assertThat(completion.next()).isFalse();
        }
        assertThat(FakeVerbs.functions()).describedAs("nothing to end").containsExactly("start_poll");
    }

    @Test
    void whatIsNotReadYetIsThereForTheNextPoll() throws RdmaException {
        complete(1, 2, 3);
        try (CompletionCursor completion = queue.startPoll()) {
            assertThat(completion.next()).isTrue();
        }
        WorkCompletions completions = WorkCompletions.allocate(1);
        assertThat(queue.poll(completions)).describedAs("as a plain queue").isEqualTo(1);
        assertThat(completions.at(0).workRequestId()).isEqualTo(2);
        try (CompletionCursor completion = queue.startPoll()) {
            assertThat(completion.next()).isTrue();
            assertThat(completion.workRequestId()).isEqualTo(3);
        }
    }

    record Row(String function, CompletionField field, ToLongFunction<CompletionCursor> read, long expected) {
        @Override
        public String toString() {
            return function;
        }
    }

    static List<Row> readers() {
        return List.of(
                new Row("read_opcode", null, c -> c.opcode().value(), Rdma.IBV_WC_RECV()),
                new Row("read_vendor_err", null, CompletionCursor::vendorError, 0x80000002),
                new Row("read_wc_flags", null, CompletionCursor::flagBits, WorkCompletionFlag.GRH.bit()),
                new Row("read_wc_flags", null, c -> c.hasImmediate() ? 1 : 0, 0),
                new Row("read_byte_len", CompletionField.BYTE_LEN, CompletionCursor::byteLength, 0x80000003),
                new Row("read_imm_data", CompletionField.IMM, CompletionCursor::immediate, 0x80000004),
                new Row("read_imm_data", CompletionField.IMM, CompletionCursor::invalidatedKey,
                        Integer.reverseBytes(0x80000004)),
                new Row("read_qp_num", CompletionField.QP_NUM, CompletionCursor::queuePairNumber, 0x80000005),
                new Row("read_src_qp", CompletionField.SRC_QP, CompletionCursor::sourceQueuePair, 0x80000006),
                new Row("read_slid", CompletionField.SLID, CompletionCursor::sourceLid, 0xfff7),
                new Row("read_sl", CompletionField.SL, CompletionCursor::serviceLevel, 0xf8),
                new Row("read_dlid_path_bits", CompletionField.DLID_PATH_BITS, CompletionCursor::destinationPathBits,
                        0xf9),
                new Row("read_completion_ts", CompletionField.COMPLETION_TIMESTAMP, CompletionCursor::timestamp,
                        0x8000000000000005L),
                new Row("read_cvlan", CompletionField.CVLAN, CompletionCursor::vlan, 0x8005),
                new Row("read_flow_tag", CompletionField.FLOW_TAG, CompletionCursor::flowTag, 0x800005),
                new Row("read_tm_info", CompletionField.TM_INFO, CompletionCursor::tag, 0x9000000000000005L),
                new Row("read_tm_info", CompletionField.TM_INFO, CompletionCursor::tagApplicationData, 0x90000005),
                new Row("read_completion_wallclock_ns", CompletionField.COMPLETION_TIMESTAMP_WALLCLOCK,
                        CompletionCursor::wallClockNanos, 5_000_000_000L));
    }

    @ParameterizedTest
    @MethodSource("readers")
    @Covers({"ibv_wc_read_opcode", "ibv_wc_read_vendor_err", "ibv_wc_read_wc_flags", "ibv_wc_read_byte_len",
            "ibv_wc_read_imm_data", "ibv_wc_read_invalidated_rkey", "ibv_wc_read_qp_num", "ibv_wc_read_src_qp",
            "ibv_wc_read_slid", "ibv_wc_read_sl", "ibv_wc_read_dlid_path_bits", "ibv_wc_read_completion_ts",
            "ibv_wc_read_cvlan", "ibv_wc_read_flow_tag", "ibv_wc_read_tm_info", "ibv_wc_read_completion_wallclock_ns"})
    void aFieldIsReadWhenItIsAskedFor(Row row) throws RdmaException {
        complete(5);
        try (CompletionCursor completion = queue.startPoll()) {
            assertThat(completion.next()).isTrue();
            FakeVerbs.reset();
            assertThat(row.read().applyAsLong(completion)).isEqualTo(row.expected());
            assertThat(FakeVerbs.functions()).containsExactly(row.function());
        }
    }

    @ParameterizedTest
    @MethodSource("readers")
    void aReaderNeedsACurrentCompletionAndTheField(Row row) throws RdmaException {
        complete(5);
        CompletionCursor cursor = queue.startPoll();
        assertThatIllegalStateException().isThrownBy(() -> row.read().applyAsLong(cursor))
                .withMessageContaining("next() must return true");
        assertThat(cursor.next()).isTrue();
        assertThat(cursor.next()).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> row.read().applyAsLong(cursor))
                .withMessageContaining("next() must return true");
        cursor.close();
        cursor.close();
        assertThatIllegalStateException().isThrownBy(() -> row.read().applyAsLong(cursor))
                .withMessageContaining("the cursor is closed");
        assertThatIllegalStateException().isThrownBy(cursor::next).withMessageContaining("the cursor is closed");
        if (row.field() == null) {
            return;
        }
        CompletionField[] others = EnumSet.complementOf(EnumSet.of(row.field())).toArray(CompletionField[]::new);
        try (ExtendedCompletionQueue without = stack.context().createExtendedCompletionQueue(
                CompletionQueueInitAttributes.builder(1).fields(others).build())) {
            FakeVerbs.complete(without.handle(), 1);
            try (CompletionCursor completion = without.startPoll()) {
                completion.next();
                FakeVerbs.reset();
                assertThatIllegalStateException().isThrownBy(() -> row.read().applyAsLong(completion))
                        .withMessage("the completion queue was created without " + row.field());
                assertThat(FakeVerbs.calls()).isEmpty();
            }
        }
    }

    @Test
    void aCopyHasWhatCanBeRead() throws RdmaException {
        complete(5);
        MemorySegment failed = ibv_wc.allocate(arena);
        ibv_wc.status(failed, Rdma.IBV_WC_WR_FLUSH_ERR());
        ibv_wc.qp_num(failed, 7);
        FakeVerbs.complete(queue.handle(), failed);
        try (CompletionCursor completion = queue.startPoll()) {
            completion.next();
            assertThat(completion.copy()).isEqualTo(new WorkCompletion(5, WorkCompletionStatus.SUCCESS,
                    WorkCompletionOpcode.RECV, 0x80000002, 0x80000003, 0x80000004, 0x80000005, 0x80000006,
                    WorkCompletionFlag.GRH.bit()));
            completion.next();
            assertThat(completion.status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
            assertThatExceptionOfType(WorkCompletionException.class).isThrownBy(completion::check)
                    .withMessageContaining("WR_FLUSH_ERR");
        }
    }

    @Test
    void onePollAtATimeAndTheThreadThatPollsCannotCloseAQueuePair() throws Exception {
        complete(1, 2);
        try (QueuePair pair = stack.domain().createQueuePair(
                QueuePairInitAttributes.builder().completionQueue(queue).build())) {
            try (CompletionCursor completion = queue.startPoll()) {
                assertThat(completion.next()).isTrue();
                assertThatIllegalStateException().isThrownBy(queue::startPoll).withMessageContaining("is open");
                assertThatIllegalStateException().isThrownBy(() -> queue.poll(WorkCompletions.allocate(1)))
                        .withMessageContaining("is open");
                assertThatIllegalStateException().isThrownBy(() -> queue.resize(10)).withMessageContaining("is open");
                assertThatIllegalStateException().isThrownBy(() -> queue.awaitPoll(TIMEOUT))
                        .withMessageContaining("is open");
                assertThatIllegalStateException().isThrownBy(pair::close)
                        .withMessageContaining("this thread has a cursor");
                assertThat(pair.isOpen()).isTrue();
                try (Background<CompletionCursor> other = Background.call(queue::startPoll)) {
                    assertThatThrownBy(other::result).isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("is open");
                }
                assertThat(completion.workRequestId()).isEqualTo(1);
            }
        }
    }

    /** An extended queue that C does not lock, because it has been told that one thread at a time uses it. */
    private ExtendedCompletionQueue unlocked() throws RdmaException {
        return stack.context().createExtendedCompletionQueue(CompletionQueueInitAttributes.builder(8)
                .flags(CompletionQueueFlag.SINGLE_THREADED).build());
    }

    /** While it waits for the one, whoever reads that can poll the other. */
    @Test
    void aCloseThatWaitsForACursorHoldsUpNoOtherQueue() throws Exception {
        try (ExtendedCompletionQueue one = unlocked(); ExtendedCompletionQueue other = unlocked()) {
            for (ExtendedCompletionQueue read : List.of(one, other)) {
                ExtendedCompletionQueue polled = read == one ? other : one;
                QueuePair pair = stack.domain().createQueuePair(
                        QueuePairInitAttributes.builder().sendQueue(one).receiveQueue(other).build());
                FakeVerbs.complete(read.handle(), 1);
                CompletionCursor cursor = read.startPoll();
                try (Background<Void> closer = Background.run(pair::close)) {
                    closer.awaitInside(CompletionQueue.class, "removeCompletions");
                    for (int i = 0; i < 100; i++) {
                        assertThat(polled.poll(WorkCompletions.allocate(1))).isZero();
                    }
                    assertThat(closer.isDone()).isFalse();
                    cursor.close();
                    closer.result();
                }
            }
        }
    }

    @Test
    void aCursorThatIsLeftOpenDoesNotHangAClose() throws Exception {
        Duration usual = CompletionQueue.cursorTimeout;
        CompletionQueue.cursorTimeout = Duration.ofMillis(1);
        try (ExtendedCompletionQueue left = unlocked(); QueuePair pair = stack.domain().createQueuePair(
                QueuePairInitAttributes.builder().completionQueue(left).build())) {
            FakeVerbs.complete(left.handle(), 1);
            CompletionCursor cursor = left.startPoll();
            try (Background<Void> closer = Background.run(pair::close)) {
                assertThatThrownBy(closer::result).isInstanceOf(IllegalStateException.class)
                        .hasMessageContainingAll(Thread.currentThread().toString(), "has left a cursor", "close it");
            }
            assertThat(pair.isOpen()).isTrue();
            cursor.close();
        } finally {
            CompletionQueue.cursorTimeout = usual;
        }
    }

    @Test
    void aCloseOfTheQueueEndsThePoll() throws Exception {
        complete(1, 2);
        CompletionCursor cursor = queue.startPoll();
        cursor.next();
        try (Background<Void> closer = Background.run(queue::close)) {
            closer.result();
        }
        assertThat(FakeVerbs.functions()).containsSubsequence("start_poll", "end_poll", "ibv_destroy_cq");
        assertThatIllegalStateException().isThrownBy(cursor::workRequestId)
                .withMessageContaining("CompletionQueue is closed");
        assertThatIllegalStateException().isThrownBy(cursor::next).withMessageContaining("CompletionQueue is closed");
        cursor.close();
    }

    @Test
    void failuresOfADriverAreReportedAndTheQueueGoesOn() throws RdmaException {
        complete(1, 2);
        FakeVerbs.fail("start_poll", Rdma.EIO());
        assertThatThrownBy(queue::startPoll).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_start_poll: EIO");
        FakeVerbs.fail("next_poll", Rdma.EIO());
        try (CompletionCursor completion = queue.startPoll()) {
            assertThat(completion.next()).isTrue();
            assertThatThrownBy(completion::next).isInstanceOf(RdmaException.class)
                    .hasMessageStartingWith("ibv_next_poll: EIO");
            assertThat(completion.next()).isFalse();
        }
        assertThat(FakeVerbs.calls("end_poll")).hasSize(1);
        FakeVerbs.fail("ibv_destroy_cq", Rdma.EBUSY());
        assertThatThrownBy(queue::close).isInstanceOf(RdmaException.class);
        try (CompletionCursor completion = queue.startPoll()) {
            assertThat(completion.next()).isTrue();
            assertThat(completion.workRequestId()).isEqualTo(2);
        }
    }

    @Test
    void awaitPollWaitsOnTheChannel() throws Exception {
        try (Background<Long> waiter = Background.call(() -> {
            try (CompletionCursor completion = queue.awaitPoll(TIMEOUT)) {
                completion.next();
                return completion.workRequestId();
            }
        })) {
            waiter.awaitInside(Wait.class, "lead");
            complete(9);
            assertThat(waiter.result()).isEqualTo(9);
        }
        assertThatExceptionOfType(RdmaTimeoutException.class).isThrownBy(() -> queue.awaitPoll(Duration.ofMillis(1)));
        complete(10);
        try (CompletionCursor completion = queue.awaitPoll(TIMEOUT)) {
            assertThat(completion.next()).isTrue();
            assertThat(completion.workRequestId()).isEqualTo(10);
        }
    }

    @Test
    @Covers("ibv_resize_cq")
    void resizeChangesTheCapacity() throws RdmaException {
        stack.queue().resize(100);
        assertThat(FakeVerbs.calls("ibv_resize_cq").getFirst().arguments())
                .startsWith(stack.queue().handle().address(), 100L);
        assertThat(stack.queue().capacity()).isEqualTo(101);
        assertThat(stack.queue().toString()).startsWith("CompletionQueue[101 entries");
        FakeVerbs.fail("ibv_resize_cq", Rdma.EINVAL());
        assertThatThrownBy(() -> stack.queue().resize(2)).isInstanceOf(RdmaException.class)
                .hasMessageContaining("EINVAL");
        FakeVerbs.reset();
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queue().resize(0));
        assertThat(FakeVerbs.calls()).isEmpty();
        assertThat(stack.queue().capacity()).isEqualTo(101);
    }

    @Test
    @Covers("ibv_modify_cq")
    void moderationHasTheBytesOfC() throws RdmaException {
        MemorySegment expected = ibv_modify_cq_attr.allocate(arena);
        FakeVerbs.call("oracle_moderation", expected.address(), 0xfffe, 0x8001);
        queue.modifyModeration(0xfffe, 0x8001);
        FakeVerbs.Call call = FakeVerbs.calls("modify_cq").getFirst();
        assertThat(call.arguments().getFirst()).isEqualTo(queue.handle().address());
        assertThat(call.data()).isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
        assertThatIllegalArgumentException().isThrownBy(() -> queue.modifyModeration(1 << 16, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> queue.modifyModeration(0, -1));
        FakeVerbs.setExtendedOp(stack.context().handle(), "modify_cq", 0);
        assertThatThrownBy(() -> queue.modifyModeration(1, 1)).isInstanceOf(RdmaUnsupportedException.class);
    }
}
