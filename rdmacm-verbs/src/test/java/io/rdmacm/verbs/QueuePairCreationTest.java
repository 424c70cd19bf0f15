// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ece;
import io.rdmacm.bindings.ibv_qp_init_attr;
import io.rdmacm.bindings.ibv_qp_init_attr_ex;
import io.rdmacm.bindings.ibv_qp_open_attr;
import io.rdmacm.bindings.ibv_qp_rate_limit_attr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.DataInOrderCapability;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RateLimit;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.FlagSet;
import io.rdmacm.verbs.work.SendOpcode;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Queue pairs of all kinds: what the library and the driver get. */
@WithFakeVerbs
class QueuePairCreationTest {
    private FakeStack stack;
    private long context;
    private long domain;
    private long queue;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        context = stack.context().handle().address();
        domain = stack.domain().handle().address();
        queue = stack.queue().handle().address();
        FakeVerbs.call("fake_equip_queue_pairs", context);
        FakeVerbs.call("fake_equip_receive", context);
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    @FunctionalInterface
    private interface Fill {
        void of(Arena arena, long struct);
    }

    private static byte[] oracle(MemoryLayout layout, Fill fill) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(layout);
            fill.of(arena, struct.address());
            return struct.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static byte[] init(long send, long receive, long pd, long xrcd, int... numbers) {
        return oracle(ibv_qp_init_attr_ex.layout(), (arena, struct) -> FakeVerbs.call("oracle_qp_init", struct,
                arena.allocateFrom(ValueLayout.JAVA_INT, numbers).address(), send, receive, pd, xrcd));
    }

    private QueuePairInitAttributes.Builder attributes(QueuePairType type) {
        return QueuePairInitAttributes.builder().type(type).completionQueue(stack.queue());
    }

    // The struct of the plain function is the beginning of the other; its padding at the end is the other's mask.
    @Test
    @Covers("ibv_create_qp")
    void withoutAnythingExtendedItIsMadeByThePlainFunction() throws RdmaException {
        for (QueuePairType type : EnumSet.complementOf(EnumSet.of(QueuePairType.XRC_RECV))) {
            FakeVerbs.reset();
            try (QueuePair pair = stack.domain().createQueuePair(attributes(type).signalAll(true)
                    .maxSendRequests(2).maxReceiveRequests(3).maxSendScatterGather(4).maxReceiveScatterGather(5)
                    .maxInlineData(6).build())) {
                assertThat(FakeVerbs.functions()).containsExactly("ibv_create_qp");
                FakeVerbs.Call call = FakeVerbs.calls().getFirst();
                assertThat(call.arguments().getFirst()).isEqualTo(domain);
                assertThat(call.data()).isEqualTo(Arrays.copyOf(init(queue, queue, 0, 0, type.value(), 1,
                        Rdma.IBV_QP_INIT_ATTR_PD(), 0, 0, 0, 0, 2, 3, 4, 5, 6), (int) ibv_qp_init_attr.sizeof()));
                assertThat(pair.type()).isEqualTo(type);
                assertThat(pair.context()).isSameAs(stack.context());
            }
        }
    }

    @Test
    @Covers("ibv_create_qp_ex")
    void whatIsExtendedGoesToTheDriver() throws RdmaException {
        QueuePairInitAttributes attributes = attributes(QueuePairType.RAW_PACKET)
                .createFlags(QueuePairCreateFlag.SCATTER_FCS).maxTsoHeader(0xfffe).sourceQueuePair(0xfffffd)
                .sendOperations(EnumSet.of(SendOperation.SEND, SendOperation.TSO)).maxInlineData(6).build();
        try (QueuePair pair = stack.domain().createQueuePair(attributes)) {
            // one request is begun, so that libmlx5 knows one
            assertThat(FakeVerbs.functions()).containsExactly("create_qp_ex", "wr_start", "wr_send", "wr_abort");
            FakeVerbs.Call call = FakeVerbs.calls().getFirst();
            assertThat(call.arguments().getFirst()).isEqualTo(context);
            assertThat(call.data()).isEqualTo(init(queue, queue, domain, 0, Rdma.IBV_QPT_RAW_PACKET(), 0,
                    Rdma.IBV_QP_INIT_ATTR_PD() | Rdma.IBV_QP_INIT_ATTR_CREATE_FLAGS()
                            | Rdma.IBV_QP_INIT_ATTR_MAX_TSO_HEADER() | Rdma.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS(),
                    Rdma.IBV_QP_CREATE_SCATTER_FCS() | Rdma.IBV_QP_CREATE_SOURCE_QPN(), 0xfffe, 0xfffffd,
                    Rdma.IBV_QP_EX_WITH_SEND() | Rdma.IBV_QP_EX_WITH_TSO(), 16, 16, 1, 1, 6));
            // what the driver gave
            assertThat(pair.capabilities().maxInlineData()).isEqualTo(9);
        }
    }

    @Test
    void eachPartAloneIsExtended() throws RdmaException {
        for (QueuePairInitAttributes attributes : List.of(
                attributes(QueuePairType.UD).createFlags(QueuePairCreateFlag.BLOCK_SELF_MCAST_LB).build(),
                attributes(QueuePairType.UD).sourceQueuePair(0).build(),
                attributes(QueuePairType.UD).maxTsoHeader(1).build(),
                attributes(QueuePairType.RC).sendOperations(EnumSet.of(SendOperation.RDMA_WRITE)).build())) {
            FakeVerbs.reset();
            stack.domain().createQueuePair(attributes).close();
            assertThat(FakeVerbs.functions()).filteredOn(function -> !function.startsWith("wr_"))
                    .containsExactly("create_qp_ex", "ibv_destroy_qp");
        }
        assertThat(attributes(QueuePairType.RC).sendOperations(EnumSet.noneOf(SendOperation.class)).build()
                .isExtended()).isFalse();
    }

    @Test
    @Covers({"ibv_create_qp_ex", "ibv_destroy_qp"})
    void theReceivingSideOfXrcBelongsToItsDomainOnly() throws RdmaException {
        XrcDomain xrc = stack.context().openXrcDomain();
        FakeVerbs.reset();
        QueuePair pair = xrc.createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.XRC_RECV).build());

        assertThat(FakeVerbs.functions()).containsExactly("create_qp_ex");
        assertThat(FakeVerbs.calls().getFirst().data()).isEqualTo(init(0, 0, 0, xrc.handle().address(),
                Rdma.IBV_QPT_XRC_RECV(), 0, Rdma.IBV_QP_INIT_ATTR_XRCD(), 0, 0, 0, 0, 16, 16, 1, 1, 0));
        assertThatIllegalStateException().isThrownBy(xrc::close).withMessageContaining(pair.toString());
        assertThatIllegalStateException().isThrownBy(pair::protectionDomain)
                .withMessage("a queue pair of type XRC_RECV has no protection domain");
        assertThatIllegalStateException().isThrownBy(pair::sendCompletionQueue)
                .withMessage("a queue pair of type XRC_RECV has no send completion queue");
        assertThatIllegalStateException().isThrownBy(pair::receiveCompletionQueue)
                .withMessage("a queue pair of type XRC_RECV has no receive completion queue");
        assertThatIllegalStateException().isThrownBy(() -> pair.postSend(SendRequests.allocate(1, 1).get(0)))
                .withMessage("a queue pair of type XRC_RECV has no send queue");
        assertThatIllegalStateException().isThrownBy(() -> pair.postReceive(ReceiveRequests.allocate(1, 1), 0, 1))
                .withMessage("a queue pair of type XRC_RECV has no receive queue");
        pair.modify(QueuePairTransitions.XrcReceive.resetToInit(1, 0));
        assertThat(pair.state()).isEqualTo(QueuePairState.INIT);
        assertThat(pair.context()).isSameAs(stack.context());
        pair.close();
        xrc.close();
    }

    @Test
    @Covers("ibv_create_qp")
    void theSendingSideOfXrcHasNoReceives() throws RdmaException {
        try (QueuePair pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.XRC_SEND).sendCompletionQueue(stack.queue()).build())) {
            assertThat(FakeVerbs.calls("ibv_create_qp").getFirst().data()).isEqualTo(Arrays.copyOf(init(queue, 0, 0,
                    0, Rdma.IBV_QPT_XRC_SEND(), 0, Rdma.IBV_QP_INIT_ATTR_PD(), 0, 0, 0, 0, 16, 16, 1, 1, 0),
                    (int) ibv_qp_init_attr.sizeof()));
            SendRequest request = SendRequests.allocate(1, 1).get(0).remoteSharedReceiveQueue(0xfedcba);
            assertThat((int) FakeVerbs.call("oracle_remote_srqn", request.address())).isEqualTo(0xfedcba);
            pair.postSend(request);
            assertThatIllegalStateException().isThrownBy(() -> pair.postReceive(ReceiveRequests.allocate(1, 1).get(0)))
                    .withMessage("a queue pair of type XRC_SEND has no receive queue");
            assertThatIllegalStateException().isThrownBy(pair::receiveCompletionQueue);
        }
    }

    @Test
    @Covers("ibv_open_qp")
    void theQueuePairOfAnotherProcessIsOpenedByItsNumber() throws RdmaException {
        XrcDomain xrc = stack.context().openXrcDomain();
        FakeVerbs.reset();
        QueuePair pair = xrc.openQueuePair(0xabcdef);

        FakeVerbs.Call call = FakeVerbs.calls("open_qp").getFirst();
        assertThat(call.arguments().getFirst()).isEqualTo(context);
        assertThat(call.data()).isEqualTo(oracle(ibv_qp_open_attr.layout(),
                (arena, struct) -> FakeVerbs.call("oracle_qp_open", struct, 0xabcdef, xrc.handle().address())));
        assertThat(pair.number()).isEqualTo(0xabcdef);
        assertThat(pair.type()).isEqualTo(QueuePairType.XRC_RECV);
        assertThatIllegalStateException().isThrownBy(xrc::close).withMessageContaining(pair.toString());
        pair.close();

        assertThatIllegalArgumentException().isThrownBy(() -> xrc.openQueuePair(1 << 24));
        FakeVerbs.fail("open_qp", Rdma.EINVAL());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> xrc.openQueuePair(5))
                .withMessageStartingWith("ibv_open_qp (number 5): EINVAL");
        xrc.close();
    }

    @Test
    void whatTheTypeDoesNotHaveIsRefused() throws RdmaException {
        assertThatIllegalArgumentException().isThrownBy(() -> attributes(QueuePairType.XRC_RECV).build())
                .withMessageStartingWith("a queue pair of type XRC_RECV has neither completion queues nor");
        assertThatNullPointerException().isThrownBy(() -> QueuePairInitAttributes.builder().build())
                .withMessage("sendCompletionQueue");
        assertThatNullPointerException().isThrownBy(() -> QueuePairInitAttributes.builder()
                .sendCompletionQueue(stack.queue())
                .build()).withMessage("receiveCompletionQueue");
        assertThatIllegalArgumentException().isThrownBy(
                () -> attributes(QueuePairType.RC).createFlags(QueuePairCreateFlag.SOURCE_QPN).build())
                .withMessageStartingWith("the flag SOURCE_QPN and the source queue pair must be set together");
        assertThatIllegalArgumentException().isThrownBy(
                () -> attributes(QueuePairType.RC).sourceQueuePair(1 << 24).build())
                .withMessage("the source queue pair must be from 0 to 16777215, not 16777216");
        assertThatIllegalArgumentException().isThrownBy(() -> attributes(QueuePairType.RC).maxTsoHeader(-1).build());
        assertThatIllegalArgumentException().isThrownBy(() -> stack.domain().createQueuePair(
                QueuePairInitAttributes.builder().type(QueuePairType.XRC_RECV).build()))
                .withMessage("a queue pair of type XRC_RECV belongs to an XRC domain, not to a protection domain");
        try (XrcDomain xrc = stack.context().openXrcDomain()) {
            assertThatIllegalArgumentException().isThrownBy(
                    () -> xrc.createQueuePair(attributes(QueuePairType.RC).build()))
                    .withMessage("an XRC domain can only have queue pairs of type XRC_RECV, not RC");
        }
        assertThat(FakeVerbs.functions()).containsExactly("open_xrcd", "close_xrcd");
    }

    @Test
    void aDriverWithoutTheFunctionsIsUnsupported() throws RdmaException {
        try (XrcDomain xrc = stack.context().openXrcDomain()) {
            for (String member : List.of("create_qp_ex", "open_qp", "modify_qp_rate_limit")) {
                FakeVerbs.setExtendedOp(stack.context().handle(), member, 0);
            }
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> xrc.openQueuePair(1));
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> xrc.createQueuePair(
                    QueuePairInitAttributes.builder().type(QueuePairType.XRC_RECV).build()));
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> stack.domain()
                    .createQueuePair(attributes(QueuePairType.RC).maxTsoHeader(1).build()));
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> stack.queuePair().modifyRateLimit(new RateLimit(0, 0, 0)));
        }
    }

    @Test
    void aFailedCreationLeavesNothingBehind() throws RdmaException {
        FakeVerbs.fail("create_qp_ex", Rdma.EOPNOTSUPP());
        FakeVerbs.fail("ibv_create_qp", Rdma.EPERM());
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> stack.domain().createQueuePair(
                attributes(QueuePairType.DRIVER).maxTsoHeader(1).build()))
                .withMessageStartingWith("ibv_create_qp_ex (DRIVER, QueuePairCapabilities[maxSendRequests=16,");
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> stack.domain().createQueuePair(
                attributes(QueuePairType.RAW_PACKET).build()))
                .withMessageStartingWith("ibv_create_qp (RAW_PACKET, ").withMessageContaining("EPERM");
    }

    @Test
    @Covers("ibv_modify_qp_rate_limit")
    void theRateLimitHasTheBytesThatCGivesIt() throws RdmaException {
        stack.queuePair().modifyRateLimit(new RateLimit(0x7ffffffe, 0x7ffffffd, 0xfffc));

        FakeVerbs.Call call = FakeVerbs.calls("modify_qp_rate_limit").getFirst();
        assertThat(call.arguments().getFirst()).isEqualTo(stack.queuePair().handle().address());
        assertThat(call.data()).isEqualTo(oracle(ibv_qp_rate_limit_attr.layout(),
                (arena, struct) -> FakeVerbs.call("oracle_rate_limit", struct, 0x7ffffffe, 0x7ffffffd, 0xfffc)));
        FakeVerbs.fail("modify_qp_rate_limit", Rdma.EINVAL());
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> stack.queuePair().modifyRateLimit(new RateLimit(1, 1, 1)))
                .withMessageStartingWith("ibv_modify_qp_rate_limit: EINVAL");
        assertThatIllegalArgumentException().isThrownBy(() -> new RateLimit(-1, 0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new RateLimit(0, -1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new RateLimit(0, 0, 0x10000));
    }

    @Test
    @Covers({"ibv_set_ece", "ibv_query_ece"})
    void eceOptionsHaveTheBytesThatCGivesThem() throws RdmaException {
        stack.queuePair().setEce(new Ece(0x80000001, 0xfedcba98));

        FakeVerbs.Call call = FakeVerbs.calls("ibv_set_ece").getFirst();
        assertThat(call.arguments().getFirst()).isEqualTo(stack.queuePair().handle().address());
        assertThat(call.data()).isEqualTo(oracle(ibv_ece.layout(),
                (arena, struct) -> FakeVerbs.call("oracle_ece", struct, 0x80000001L, 0xfedcba98L)));
        assertThat(stack.queuePair().queryEce()).isEqualTo(new Ece(0x8015b3, 0x90000001));

        FakeVerbs.fail("ibv_set_ece", Rdma.EOPNOTSUPP());
        FakeVerbs.fail("ibv_query_ece", Rdma.EOPNOTSUPP());
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> stack.queuePair().setEce(new Ece(0, 0))).withMessageStartingWith("ibv_set_ece: ");
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> stack.queuePair().queryEce())
                .withMessageStartingWith("ibv_query_ece: EOPNOTSUPP");
    }

    @Test
    @Covers("ibv_query_qp_data_in_order")
    void theOrderOfDataIsAskedForByOperation() throws RdmaException {
        FakeVerbs.result(1);
        assertThat(stack.queuePair().queryDataInOrder(SendOpcode.RDMA_READ)).isTrue();
        FakeVerbs.result(0);
        assertThat(stack.queuePair().queryDataInOrder(SendOpcode.SEND)).isFalse();
        assertThat(FakeVerbs.calls("ibv_query_qp_data_in_order")).extracting(call -> call.arguments().subList(0, 3))
                .containsExactly(
                        List.of(stack.queuePair().handle().address(), (long) Rdma.IBV_WR_RDMA_READ(), 0L),
                        List.of(stack.queuePair().handle().address(), (long) Rdma.IBV_WR_SEND(), 0L));
    }

    @Test
    @Covers("ibv_query_qp_data_in_order")
    void theOrderOfDataIsAskedForInDetail() throws RdmaException {
        FakeVerbs.result(0x40000002);
        FlagSet<DataInOrderCapability> order = stack.queuePair().queryDataInOrder(SendOpcode.RDMA_READ, false);
        assertThat(order).containsExactly(DataInOrderCapability.ALIGNED_128_BYTES);
        assertThat(order.unknownBits()).isEqualTo(0x40000000);
        FakeVerbs.result(1);
        assertThat(stack.queuePair().queryDataInOrder(SendOpcode.SEND, true))
                .containsExactly(DataInOrderCapability.WHOLE_MSG);
        assertThat(FakeVerbs.calls("ibv_query_qp_data_in_order")).extracting(call -> call.arguments().subList(1, 3))
                .containsExactly(List.of((long) Rdma.IBV_WR_RDMA_READ(), 1L), List.of((long) Rdma.IBV_WR_SEND(), 3L));
    }
}
