// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.Completion;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Code that takes a {@link Completion} reads the same from a copy, from a polled batch and from a cursor. */
@WithFakeVerbs
class CompletionTest {
    private static final int UNKNOWN_FLAG = 1 << 30;

    private final Arena arena = Arena.ofAuto();
    private FakeStack stack;
    private ExtendedCompletionQueue queue;

    @FunctionalInterface
    private interface Reader {
        void read(Completion completion) throws RdmaException;
    }

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_completion", stack.context().handle().address());
        queue = stack.context().createExtendedCompletionQueue(CompletionQueueInitAttributes.builder(8)
                .fields(CompletionField.values()).build());
    }

    @AfterEach
    void close() throws RdmaException {
        queue.close();
        stack.close();
    }

    /** One completion, read in each way that there is. */
    private void read(int status, int flags, Reader reader) throws RdmaException {
        MemorySegment completion = ibv_wc.allocate(arena);
        FakeVerbs.call("oracle_completion", completion.address(), 7, status, Rdma.IBV_WC_RECV(), 0x80000002L,
                0x80000003L, 0x01020304L, 0x00800005L, 0x00800006L, flags);
        FakeVerbs.complete(queue.handle(), completion);
        FakeVerbs.complete(queue.handle(), completion);
        WorkCompletions completions = WorkCompletions.allocate(1);
        queue.poll(completions);
        reader.read(completions.at(0));
        reader.read(completions.copy());
        try (CompletionCursor cursor = queue.startPoll()) {
            assertThat(cursor.next()).isTrue();
            reader.read(cursor);
            reader.read(cursor.copy());
        }
    }

    @Test
    void successesHaveTheSameFields() throws RdmaException {
        int flags = Rdma.IBV_WC_GRH() | Rdma.IBV_WC_WITH_IMM() | UNKNOWN_FLAG;
        read(0, flags, completion -> {
            assertThat(completion.workRequestId()).isEqualTo(7);
            assertThat(completion.succeeded()).isTrue();
            assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(completion.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
            assertThat(completion.vendorError()).isEqualTo(0x80000002);
            assertThat(completion.byteLength()).isEqualTo(0x80000003);
            assertThat(completion.hasImmediate()).isTrue();
            assertThat(completion.immediate()).isEqualTo(0x01020304);
            assertThat(completion.queuePairNumber()).isEqualTo(0x00800005);
            assertThat(completion.sourceQueuePair()).isEqualTo(0x00800006);
            assertThat(completion.flagBits()).isEqualTo(flags);
            assertThat(completion.flags()).isEqualTo(Set.of(WorkCompletionFlag.GRH, WorkCompletionFlag.WITH_IMM));
            assertThat(completion.flags().unknownBits()).isEqualTo(UNKNOWN_FLAG);
            assertThat(completion.has(WorkCompletionFlag.GRH)).isTrue();
            assertThat(completion.has(WorkCompletionFlag.TM_MATCH)).isFalse();
            assertThat(completion.copy()).isEqualTo(new WorkCompletion(7, WorkCompletionStatus.SUCCESS,
                    WorkCompletionOpcode.RECV, 0x80000002, 0x80000003, 0x01020304, 0x00800005, 0x00800006, flags));
            assertThat(completion.copy()).hasToString("WorkCompletion[workRequestId=7, status=SUCCESS, opcode=RECV,"
                    + " vendorError=-2147483646, byteLength=-2147483645, immediate=16909060, queuePairNumber=8388613,"
                    + " sourceQueuePair=8388614, flags=[GRH, WITH_IMM]]");
            completion.check();
        });
    }

    @Test
    void anInvalidatedKeyIsInTheByteOrderOfTheMachine() throws RdmaException {
        int inMemory = MemorySegment.ofArray(new byte[] {1, 2, 3, 4}).get(
                ValueLayout.JAVA_INT_UNALIGNED, 0);
        read(0, Rdma.IBV_WC_WITH_INV(), completion -> {
            assertThat(completion.flags()).isEqualTo(EnumSet.of(WorkCompletionFlag.WITH_INV));
            assertThat(completion.hasImmediate()).isFalse();
            assertThat(completion.invalidatedKey()).isEqualTo(inMemory);
        });
    }

    @Test
    void failuresAreExceptionsThatHaveTheCopy() throws RdmaException {
        read(Rdma.IBV_WC_RETRY_EXC_ERR(), 0, completion -> {
            assertThat(completion.succeeded()).isFalse();
            assertThat(completion.status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
            assertThat(completion.queuePairNumber()).isEqualTo(0x00800005);
            assertThatExceptionOfType(WorkCompletionException.class).isThrownBy(completion::check)
                    .satisfies(e -> assertThat(e.completion()).isEqualTo(completion.copy()));
        });
    }
}
