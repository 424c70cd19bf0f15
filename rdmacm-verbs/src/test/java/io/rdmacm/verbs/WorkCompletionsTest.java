// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a poll takes is read as a C program writes it. */
@WithFakeVerbs
class WorkCompletionsTest {
    private static final long ID = 0xfedcba9876543210L;

    private final WorkCompletions completions = WorkCompletions.allocate(4);
    private FakeStack stack;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    private void complete(long id, int status, int opcode) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment completion = ibv_wc.allocate(arena);
            FakeVerbs.call("oracle_completion", completion.address(), id, status, opcode, 0x80000001, 0xfffffffe,
                    0x81020384, 0x00ffffff, 0x00fffffe, Rdma.IBV_WC_GRH() | Rdma.IBV_WC_WITH_IMM());
            FakeVerbs.complete(stack.queue().handle(), completion);
        }
    }

    /** The constants of an enum in verbs.h, by their names without the prefix. */
    private static Map<String, Integer> constants(String pattern) {
        Map<String, Integer> constants = new TreeMap<>();
        Arrays.stream(Rdma.class.getMethods()).filter(m -> m.getName().matches(pattern)).forEach(m -> {
            try {
                constants.put(m.getName().substring("IBV_WC_".length()), (Integer) m.invoke(null));
            } catch (IllegalAccessException | InvocationTargetException e) {
                throw new AssertionError(e);
            }
        });
        return constants;
    }

    @Test
    void someFieldsAreReadWithoutTheCursor() throws RdmaException {
        complete(ID, Rdma.IBV_WC_SUCCESS(), Rdma.IBV_WC_RECV());
        complete(ID + 1, Rdma.IBV_WC_WR_FLUSH_ERR(), Rdma.IBV_WC_RECV());
        stack.queue().poll(completions);

        assertThat(completions.workRequestId(1)).isEqualTo(ID + 1);
        assertThat(completions.succeeded(1)).isFalse();
        assertThat(completions.workRequestId(0)).isEqualTo(ID);
        assertThat(completions.succeeded(0)).isTrue();
        assertThatIllegalStateException().isThrownBy(completions::workRequestId);
        for (int index : new int[] {-1, 2, Integer.MAX_VALUE}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> completions.workRequestId(index));
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> completions.succeeded(index));
        }
    }

    @Test
    void everyFieldIsRead() throws RdmaException {
        complete(ID, Rdma.IBV_WC_SUCCESS(), Rdma.IBV_WC_RECV());
        assertThat(stack.queue().poll(completions)).isEqualTo(1);

        assertThat(completions.next()).isTrue();

        assertThat(completions.workRequestId()).isEqualTo(ID);
        assertThat(completions.succeeded()).isTrue();
        assertThat(completions.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(completions.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        assertThat(completions.vendorError()).isEqualTo(0x80000001);
        assertThat(completions.byteLength()).isEqualTo(0xfffffffe);
        assertThat(completions.hasImmediate()).isTrue();
        assertThat(completions.immediate()).isEqualTo(0x81020384);
        assertThat(completions.queuePairNumber()).isEqualTo(0x00ffffff);
        assertThat(completions.sourceQueuePair()).isEqualTo(0x00fffffe);
        assertThat(completions.flagBits()).isEqualTo(3);
        assertThat(completions.flags()).containsExactly(WorkCompletionFlag.GRH, WorkCompletionFlag.WITH_IMM);
        completions.check();
        assertThat(completions.copy()).isEqualTo(new WorkCompletion(ID, WorkCompletionStatus.SUCCESS,
                WorkCompletionOpcode.RECV, 0x80000001, 0xfffffffe, 0x81020384, 0x00ffffff, 0x00fffffe,
                WorkCompletionFlag.GRH.bit() | WorkCompletionFlag.WITH_IMM.bit()));
        assertThat(completions.next()).isFalse();
    }

    @Test
    void flagsAreThoseOfTheHeader() {
        Map<String, Integer> constants = constants("IBV_WC_(GRH|WITH_.*|IP_CSUM_OK|TM_(SYNC_REQ|MATCH|DATA_VALID))");
        assertThat(constants).hasSize(WorkCompletionFlag.values().length);
        for (WorkCompletionFlag flag : WorkCompletionFlag.values()) {
            assertThat(flag.bit()).describedAs(flag.name()).isEqualTo(constants.get(flag.name()));
            assertThat(WorkCompletionFlag.of(flag.bit())).containsExactly(flag);
        }
    }

    @Test
    void everyStatusIsThatOfTheHeader() throws RdmaException {
        Map<String, Integer> constants = constants("IBV_WC_(SUCCESS|.*_ERR|TM_RNDV_INCOMPLETE)");
        assertThat(constants).hasSize(WorkCompletionStatus.values().length);
        for (WorkCompletionStatus status : WorkCompletionStatus.values()) {
            int value = constants.get(status.name());
            assertThat(status.value()).describedAs(status.name()).isEqualTo(value);

            complete(7, value, Rdma.IBV_WC_SEND());
            stack.queue().poll(completions);

            assertThat(completions.at(0).status()).isEqualTo(status);
            assertThat(completions.succeeded()).isEqualTo(status == WorkCompletionStatus.SUCCESS);
        }
        assertThat(WorkCompletionStatus.of(constants.size())).isEqualTo(WorkCompletionStatus.GENERAL_ERR);
        assertThat(WorkCompletionStatus.of(-1)).isEqualTo(WorkCompletionStatus.GENERAL_ERR);
    }

    @Test
    void everyOpcodeIsThatOfTheHeader() throws RdmaException {
        for (WorkCompletionOpcode opcode : WorkCompletionOpcode.values()) {
            if (opcode == WorkCompletionOpcode.OTHER) {
                continue;
            }
            int value = constants("IBV_WC_" + opcode.name()).get(opcode.name());
            assertThat(opcode.value()).describedAs(opcode.name()).isEqualTo(value);

            complete(7, 0, value);
            stack.queue().poll(completions);

            assertThat(completions.at(0).opcode()).isEqualTo(opcode);
        }
        assertThat(WorkCompletionOpcode.of(77)).isEqualTo(WorkCompletionOpcode.OTHER);
        assertThat(WorkCompletionOpcode.of(-1)).isEqualTo(WorkCompletionOpcode.OTHER);
    }

    @Test
    void aPollTakesAsManyAsFitInOrder() throws RdmaException {
        for (int i = 0; i < 6; i++) {
            complete(i, 0, 0);
        }

        assertThat(stack.queue().poll(completions)).isEqualTo(4);
        assertThat(completions.size()).isEqualTo(4);
        for (int i = 0; i < 4; i++) {
            assertThat(completions.next()).isTrue();
            assertThat(completions.workRequestId()).isEqualTo(i);
        }
        assertThat(completions.next()).isFalse();
        assertThat(completions.workRequestId()).describedAs("the last one stays current").isEqualTo(3);
        assertThat(completions.at(1).workRequestId()).isEqualTo(1);

        assertThat(stack.queue().poll(completions)).isEqualTo(2);
        assertThat(completions.at(1).workRequestId()).isEqualTo(5);
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> completions.at(2));
        assertThat(stack.queue().poll(completions)).isZero();
        assertThat(completions.next()).isFalse();
    }

    @Test
    void beforeNextNothingIsCurrent() throws RdmaException {
        complete(1, 0, 0);
        assertThatIllegalStateException().isThrownBy(completions::workRequestId);
        stack.queue().poll(completions);
        assertThatIllegalStateException().isThrownBy(completions::status)
                .withMessage("no current completion: call next() first");
        assertThat(completions.next()).isTrue();
        stack.queue().poll(completions);
        assertThatIllegalStateException().isThrownBy(completions::copy);
    }

    @Test
    void aFailedCompletionIsAnException() throws RdmaException {
        complete(77, Rdma.IBV_WC_RETRY_EXC_ERR(), 0);
        stack.queue().poll(completions);

        assertThatExceptionOfType(WorkCompletionException.class).isThrownBy(() -> completions.at(0).check())
                .withMessage("work request 77 on queue pair 16777215 failed: RETRY_EXC_ERR, vendor error 0x80000001:"
                        + " the peer does not answer any more")
                .satisfies(e -> assertThat(e.completion()).isEqualTo(completions.copy()).isEqualTo(
                        new WorkCompletion(77, WorkCompletionStatus.RETRY_EXC_ERR, WorkCompletionOpcode.OTHER,
                                0x80000001, 0, 0, 0xffffff, 0, 0)));
    }

    @Test
    void aFailedPollIsAnExceptionAndLeavesNoCompletions() throws RdmaException {
        complete(1, 0, 0);
        stack.queue().poll(completions);
        // The number is the driver's own: no error number of the system is meant by it.
        FakeVerbs.fail("poll_cq", 2);

        assertThatThrownBy(() -> stack.queue().poll(completions)).isExactlyInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_poll_cq failed with -2 on CompletionQueue[16 entries")
                .satisfies(e -> assertThat(((RdmaException) e).errno()).isZero());

        assertThat(completions.size()).isZero();
        assertThat(completions.next()).isFalse();
        assertThat(stack.queue().poll(completions)).isZero();
    }

    @Test
    void thePollPassesItsRoom() throws RdmaException {
        FakeVerbs.reset();
        stack.queue().poll(completions);

        assertThat(FakeVerbs.calls("poll_cq").getFirst().arguments())
                .startsWith(stack.queue().handle().address(), 4L, completions.memory().address());
        assertThat(completions.memory().byteSize()).isEqualTo(4 * ibv_wc.sizeof());
        assertThat(completions.capacity()).isEqualTo(4);
        assertThatIllegalArgumentException().isThrownBy(() -> WorkCompletions.allocate(0));
    }

    @Test
    void armingPassesWhatIsWanted() throws RdmaException {
        FakeVerbs.reset();
        stack.queue().requestNotification(true);
        stack.queue().requestNotification(false);
        assertThat(FakeVerbs.calls("req_notify_cq")).extracting(call -> call.arguments().get(1))
                .containsExactly(1L, 0L);

        FakeVerbs.fail("req_notify_cq", Rdma.EIO());
        assertThatThrownBy(() -> stack.queue().requestNotification(false)).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_req_notify_cq: EIO");
        try (CompletionQueue polled = stack.context().createCompletionQueue(1)) {
            assertThatIllegalStateException().isThrownBy(() -> polled.requestNotification(false))
                    .withMessageContaining("without a completion channel");
        }
    }
}
