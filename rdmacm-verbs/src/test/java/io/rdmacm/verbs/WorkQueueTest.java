// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_wq;
import io.rdmacm.bindings.ibv_wq_attr;
import io.rdmacm.bindings.ibv_wq_init_attr;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.flow.Counters;
import io.rdmacm.verbs.queue.WorkQueueFlag;
import io.rdmacm.verbs.queue.WorkQueueState;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Work queues, their tables and counters: made with the bytes of C, and closed in the right order only. */
@WithFakeVerbs
class WorkQueueTest {
    private final Arena arena = Arena.ofAuto();
    private FakeStack stack;
    private WorkQueue queue;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_work_queues", stack.context().handle().address());
        queue = stack.domain().createWorkQueue(stack.queue(), 16, 2);
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        queue.close();
        stack.close();
    }

    @Test
    @Covers({"ibv_create_wq", "ibv_destroy_wq"})
    void isMadeWithTheBytesOfC() throws RdmaException {
        MemorySegment expected = ibv_wq_init_attr.allocate(arena);
        FakeVerbs.call("oracle_wq_init", expected.address(), 7, 3, stack.domain().handle().address(),
                stack.queue().handle().address(), 0xf);
        try (WorkQueue made = stack.domain().createWorkQueue(stack.queue(), 7, 3, WorkQueueFlag.values())) {
            FakeVerbs.Call call = FakeVerbs.calls("create_wq").getFirst();
            assertThat(call.arguments().getFirst()).isEqualTo(stack.context().handle().address());
            assertThat(call.data()).isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
            MemorySegment struct = made.handle();
            assertThat(ibv_wq.events_completed(struct)).isZero();
            assertThat(ibv_wq.wq_context(struct)).isEqualTo(MemorySegment.NULL);
            assertThat(struct.asSlice(ibv_wq.mutex$offset(), ibv_wq.mutex$layout()).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0);
            assertThat(struct.asSlice(ibv_wq.cond$offset(), ibv_wq.cond$layout()).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0);
            assertThat(made.number()).isEqualTo(ibv_wq.wq_num(struct));
            assertThat(made.protectionDomain()).isSameAs(stack.domain());
            assertThat(made.completionQueue()).isSameAs(stack.queue());
            assertThat(made).hasToString("WorkQueue[0x" + Integer.toHexString(made.number()) + "]");
            assertThatIllegalStateException().isThrownBy(stack.domain()::close).withMessageContaining(made.toString());
        }
        assertThat(FakeVerbs.calls("destroy_wq")).hasSize(1);
    }

    @Test
    void wrongArgumentsAndADriverWithoutThemAreRefused() throws RdmaException {
        assertThatIllegalArgumentException().isThrownBy(() -> stack.domain().createWorkQueue(stack.queue(), 0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> stack.domain().createWorkQueue(stack.queue(), 1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> stack.context().createIndirectionTable(List.of()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stack.context().createIndirectionTable(List.of(queue, queue, queue)))
                .withMessageContaining("power of two");
        try (FakeStack other = new FakeStack()) {
            assertThatIllegalArgumentException().isThrownBy(() -> stack.domain().createWorkQueue(other.queue(), 1, 1));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> other.context().createIndirectionTable(List.of(queue)));
            for (String function : List.of("create_wq", "create_rwq_ind_table", "create_counters")) {
                FakeVerbs.setExtendedOp(other.context().handle(), function, 0);
            }
            assertThatThrownBy(() -> other.domain().createWorkQueue(other.queue(), 1, 1))
                    .isInstanceOf(RdmaUnsupportedException.class).hasMessageStartingWith("ibv_create_wq");
            assertThatThrownBy(() -> Counters.create(other.context())).isInstanceOf(RdmaUnsupportedException.class);
        }
        FakeVerbs.fail("create_wq", Rdma.ENOMEM());
        assertThatThrownBy(() -> stack.domain().createWorkQueue(stack.queue(), 1, 1))
                .isInstanceOf(RdmaException.class).hasMessageContaining("ENOMEM");
    }

    private byte[] attributes(long mask, long state, long flags, long flagsMask) {
        MemorySegment struct = ibv_wq_attr.allocate(arena);
        FakeVerbs.call("oracle_wq_attr", struct.address(), mask, state, flags, flagsMask);
        return struct.toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    @Covers("ibv_modify_wq")
    void stateAndFlagsAreChanged() throws RdmaException {
        assertThat(queue.state()).isEqualTo(WorkQueueState.RESET);
        queue.modify(WorkQueueState.RDY);
        assertThat(queue.state()).isEqualTo(WorkQueueState.RDY);
        queue.modifyFlags(Set.of(WorkQueueFlag.CVLAN_STRIPPING), Set.of(WorkQueueFlag.DELAY_DROP));
        assertThat(FakeVerbs.calls("modify_wq")).extracting(FakeVerbs.Call::data).containsExactly(
                attributes(Rdma.IBV_WQ_ATTR_STATE(), Rdma.IBV_WQS_RDY(), 0, 0),
                attributes(Rdma.IBV_WQ_ATTR_FLAGS(), 0, Rdma.IBV_WQ_FLAGS_CVLAN_STRIPPING(),
                        Rdma.IBV_WQ_FLAGS_CVLAN_STRIPPING() | Rdma.IBV_WQ_FLAGS_DELAY_DROP()));
        Set<WorkQueueFlag> same = Set.of(WorkQueueFlag.SCATTER_FCS);
        assertThatIllegalArgumentException().isThrownBy(() -> queue.modifyFlags(same, same));
        FakeVerbs.fail("modify_wq", Rdma.EINVAL());
        assertThatThrownBy(() -> queue.modify(WorkQueueState.ERR)).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_modify_wq: EINVAL");
    }

    @Test
    @Covers("ibv_post_wq_recv")
    void receivesArePosted() throws RdmaException {
        ReceiveRequests block = ReceiveRequests.allocate(2, 3);
        block.get(0).id(9).data(stack.region(), 0, 8);
        queue.postReceive(block.get(0));
        queue.postReceive(block, 0, 2);
        assertThat(FakeVerbs.calls("post_wq_recv")).hasSize(2)
                .allSatisfy(call -> assertThat(call.arguments().getFirst()).isEqualTo(queue.handle().address()));
        block.get(0).data(1, stack.region(), 0, 8).data(2, stack.region(), 0, 8);
        assertThatIllegalArgumentException().isThrownBy(() -> queue.postReceive(block.get(0)))
                .withMessageContaining("the work queue allows 2");
        FakeVerbs.fail("post_wq_recv", Rdma.ENOMEM());
        assertThatThrownBy(() -> queue.postReceive(block.get(1))).isInstanceOf(WorkRequestException.class)
                .hasMessageStartingWith("ibv_post_wq_recv");
    }

    @Test
    @Covers({"ibv_create_rwq_ind_table", "ibv_destroy_rwq_ind_table"})
    void aTableNamesItsQueuesAndKeepsThem() throws RdmaException {
        try (WorkQueue second = stack.domain().createWorkQueue(stack.queue(), 1, 1)) {
            List<WorkQueue> entries = List.of(queue, second, queue, queue);
            try (IndirectionTable table = stack.context().createIndirectionTable(entries)) {
                FakeVerbs.Call call = FakeVerbs.calls("create_rwq_ind_table").getFirst();
                assertThat(call.arguments()).startsWith(stack.context().handle().address(), 2L, 0L);
                ByteBuffer bytes = ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder());
                assertThat(bytes.remaining()).isEqualTo(4 * Long.BYTES);
                for (WorkQueue entry : entries) {
                    assertThat(bytes.getLong()).isEqualTo(entry.handle().address());
                }
                assertThat(table.queues()).isEqualTo(entries);
                assertThat(table.number()).isPositive();
                assertThatIllegalStateException().isThrownBy(second::close).withMessageContaining(table.toString());
                assertThatIllegalStateException().isThrownBy(queue::close).withMessageContaining(table.toString());
            }
            assertThat(FakeVerbs.calls("destroy_rwq_ind_table")).hasSize(1);
        }
    }

    @Test
    @Covers("ibv_get_async_event")
    void anEventOfAQueueKeepsIt() throws Exception {
        FakeVerbs.async(stack.context().handle(), AsyncEventType.WQ_FATAL.value(), queue.handle().address());
        try (AsyncEvent event = stack.context().getAsyncEvent(Duration.ofSeconds(60))) {
            assertThat(event.workQueue()).isSameAs(queue);
            assertThatIllegalStateException().isThrownBy(queue::close).withMessageContaining(event.toString());
        }
    }

    @Test
    @Covers({"ibv_create_counters", "ibv_read_counters", "ibv_destroy_counters"})
    void countersAreRead() throws RdmaException {
        try (Counters counters = Counters.create(stack.context())) {
            assertThat(counters.read(3, true)).containsExactly(1L << 63, 1L << 63 | 1, 1L << 63 | 2);
            assertThat(counters.read(1, false)).containsExactly(1L << 63);
            assertThat(FakeVerbs.calls("read_counters")).extracting(call -> call.arguments().subList(0, 3))
                    .containsExactly(List.of(counters.handle().address(), 3L, 1L),
                            List.of(counters.handle().address(), 1L, 0L));
            assertThatIllegalArgumentException().isThrownBy(() -> counters.read(0, false));
            FakeVerbs.fail("read_counters", Rdma.EINVAL());
            assertThatThrownBy(() -> counters.read(9, false)).isInstanceOf(RdmaException.class)
                    .hasMessageStartingWith("ibv_read_counters: EINVAL");
            assertThatIllegalStateException().isThrownBy(stack.context()::close)
                    .withMessageContaining(counters.toString());
        }
        assertThat(FakeVerbs.calls("destroy_counters")).hasSize(1);
    }

    @Test
    void aWrongFlagLeavesNothingBehind() throws RdmaException {
        assertThatThrownBy(() -> stack.domain().createWorkQueue(stack.queue(), 1, 1, (WorkQueueFlag) null))
                .isInstanceOf(NullPointerException.class);
        // or the close of the stack would be refused
        assertThat(FakeVerbs.calls("create_wq")).isEmpty();
    }

    @Test
    void noMoreCountersAreReadThanTheKernelGivesAtOnce() throws RdmaException {
        try (Counters counters = Counters.create(stack.context())) {
            assertThat(counters.read(8191, true)).hasSize(8191);
            for (int count : new int[] {0, -1, 8192, Integer.MAX_VALUE}) {
                assertThatIllegalArgumentException().isThrownBy(() -> counters.read(count, true))
                        .withMessage("1 to 8191 counters can be read, not " + count);
            }
        }
    }
}
