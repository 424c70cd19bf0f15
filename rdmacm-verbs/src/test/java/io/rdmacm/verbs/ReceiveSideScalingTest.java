// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp_init_attr_ex;
import io.rdmacm.bindings.ibv_rx_hash_conf;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.device.RxHashFunction;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Queue pairs that spread what they receive over work queues: what the driver gets, and what they do not have. */
@WithFakeVerbs
class ReceiveSideScalingTest {
    private static final long POINTER = ibv_qp_init_attr_ex.rx_hash_conf$offset()
            + ibv_rx_hash_conf.rx_hash_key$offset();

    private FakeStack stack;
    private WorkQueue queue;
    private IndirectionTable table;
    private final byte[] key = new byte[40];

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_work_queues", stack.context().handle().address());
        FakeVerbs.call("fake_equip_queue_pairs", stack.context().handle().address());
        FakeVerbs.call("fake_equip_receive", stack.context().handle().address());
        queue = stack.domain().createWorkQueue(stack.queue(), 16, 2);
        table = stack.context().createIndirectionTable(List.of(queue, queue));
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) (0x81 + i);
        }
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        table.close();
        queue.close();
        stack.close();
    }

    private ReceiveSideScaling scaling(Set<RxHashField> fields) {
        return new ReceiveSideScaling(table, RxHashFunction.TOEPLITZ, key, fields);
    }

    private QueuePairInitAttributes.Builder attributes(Set<RxHashField> fields) {
        return QueuePairInitAttributes.builder().type(QueuePairType.RAW_PACKET).receiveSideScaling(scaling(fields));
    }

    private byte[] oracle(long sends, long fields, int... sizes) {
        try (Arena arena = Arena.ofConfined()) {
            int[] numbers = new int[12];
            numbers[0] = Rdma.IBV_QPT_RAW_PACKET();
            numbers[2] = Rdma.IBV_QP_INIT_ATTR_PD();
            System.arraycopy(sizes, 0, numbers, 7, sizes.length);
            MemorySegment struct = ibv_qp_init_attr_ex.allocate(arena);
            FakeVerbs.call("oracle_qp_init", struct.address(),
                    arena.allocateFrom(ValueLayout.JAVA_INT, numbers).address(), sends, 0,
                    stack.domain().handle().address(), 0);
            FakeVerbs.call("oracle_qp_spreading", struct.address(), table.handle().address(), key.length, fields);
            return struct.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** The struct without the address of the key, and the key to which it led. */
    private void assertMade(byte[] struct) {
        FakeVerbs.Call call = FakeVerbs.calls("create_qp_ex").getFirst();
        assertThat(call.arguments().getFirst()).isEqualTo(stack.context().handle().address());
        byte[] made = Arrays.copyOf(call.data(), struct.length);
        Arrays.fill(made, (int) POINTER, (int) POINTER + Long.BYTES, (byte) 0);
        assertThat(made).isEqualTo(struct);
        assertThat(Arrays.copyOfRange(call.data(), struct.length, call.data().length)).isEqualTo(key);
    }

    @Test
    @Covers("ibv_create_qp_ex")
    void oneThatOnlyReceivesHasTheBytesOfC() throws RdmaException {
        Set<RxHashField> fields = EnumSet.allOf(RxHashField.class);
        try (QueuePair pair = stack.domain().createQueuePair(attributes(fields).maxReceiveRequests(9)
                .maxInlineData(9).build())) {
            assertThat(FakeVerbs.functions()).containsExactly("create_qp_ex");
            assertMade(oracle(0, FakeVerbs.call("oracle_every_hash_field"), 0, 0, 0, 0, 0));
            assertThat(pair.receiveSideScaling()).contains(scaling(fields));
            assertThat(pair.sharedReceiveQueue()).isEmpty();
            assertThatIllegalStateException().isThrownBy(table::close).withMessageContaining(pair.toString());
            String none = "a queue pair of type RAW_PACKET with " + table + " has no ";
            assertThatIllegalStateException().isThrownBy(pair::sendCompletionQueue)
                    .withMessage(none + "send completion queue");
            assertThatIllegalStateException().isThrownBy(pair::receiveCompletionQueue)
                    .withMessage(none + "receive completion queue");
            assertThatIllegalStateException().isThrownBy(() -> pair.postSend(SendRequests.allocate(1, 1).get(0)))
                    .withMessage(none + "send queue");
            assertThatIllegalStateException().isThrownBy(() -> pair.postSend(SendRequests.allocate(1, 1), 0, 1))
                    .withMessage(none + "send queue");
            assertThatIllegalStateException().isThrownBy(pair::startBatch).withMessage(none + "send queue");
            assertThatIllegalStateException().isThrownBy(() -> pair.postReceive(ReceiveRequests.allocate(1, 1).get(0)))
                    .withMessage(none + "receive queue");
            assertThatIllegalStateException().isThrownBy(() -> pair.postReceive(ReceiveRequests.allocate(1, 1), 0, 1))
                    .withMessage(none + "receive queue");
            assertThat(pair.query().initAttributes().receiveSideScaling()).contains(scaling(fields));
        }
        assertThat(FakeVerbs.calls("ibv_destroy_qp")).hasSize(1);
        assertThat(FakeVerbs.functions()).doesNotContain("post_send", "post_recv");
    }

    @Test
    @Covers("ibv_create_qp_ex")
    void oneThatSendsTooHasASendQueueOnly() throws RdmaException {
        try (QueuePair pair = stack.domain().createQueuePair(attributes(EnumSet.of(RxHashField.SRC_IPV4,
                RxHashField.DST_IPV4)).sendCompletionQueue(stack.queue()).maxSendRequests(5).maxReceiveRequests(6)
                .maxSendScatterGather(3).maxReceiveScatterGather(7).maxInlineData(8).build())) {
            assertMade(oracle(stack.queue().handle().address(),
                    Rdma.IBV_RX_HASH_SRC_IPV4() | Rdma.IBV_RX_HASH_DST_IPV4(), 5, 0, 3, 0, 8));
            assertThat(pair.sendCompletionQueue()).isSameAs(stack.queue());
            pair.postSend(SendRequests.allocate(1, 1).get(0));
            assertThat(FakeVerbs.calls("post_send")).hasSize(1);
            assertThatIllegalStateException().isThrownBy(() -> pair.postReceive(ReceiveRequests.allocate(1, 1).get(0)));
        }
    }

    @Test
    void whatDoesNotGoTogetherIsRefused() throws RdmaException {
        Set<RxHashField> fields = EnumSet.of(RxHashField.SRC_IPV6);
        String neither = "a queue pair with receive side scaling has neither a receive completion queue nor a shared";
        assertThatIllegalArgumentException().isThrownBy(
                () -> attributes(fields).completionQueue(stack.queue()).build()).withMessageStartingWith(neither);
        try (SharedReceiveQueue shared = stack.domain().createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().build())) {
            assertThatIllegalArgumentException().isThrownBy(
                    () -> attributes(fields).sharedReceiveQueue(shared).build()).withMessageStartingWith(neither);
            assertThatIllegalArgumentException().isThrownBy(
                    () -> attributes(fields).sharedReceiveQueue(shared).build()).withMessageStartingWith(neither);
        }
        for (QueuePairType type : EnumSet.of(QueuePairType.XRC_SEND, QueuePairType.XRC_RECV)) {
            assertThatIllegalArgumentException().isThrownBy(() -> attributes(fields).type(type).build())
                    .withMessage("a queue pair of type " + type + " cannot use receive side scaling");
        }
        assertThatIllegalArgumentException().isThrownBy(
                () -> attributes(fields).sendOperations(EnumSet.of(SendOperation.SEND)).build())
                .withMessageStartingWith("a queue pair without a send completion queue cannot send");
        assertThatIllegalArgumentException().isThrownBy(() -> attributes(fields).maxTsoHeader(1).build());
        for (int length : new int[] {0, 256}) {
            assertThatIllegalArgumentException().isThrownBy(() -> new ReceiveSideScaling(table,
                    RxHashFunction.TOEPLITZ, new byte[length], fields))
                    .withMessage("the hash key must have 1 to 255 bytes, not " + length);
        }
        assertThatNullPointerException().isThrownBy(() -> new ReceiveSideScaling(null, RxHashFunction.TOEPLITZ, key,
                fields)).withMessage("table");
        try (FakeStack other = new FakeStack()) {
            assertThatIllegalArgumentException().isThrownBy(
                    () -> other.domain().createQueuePair(attributes(fields).build()))
                    .withMessageStartingWith("the indirection table belongs to another context");
        }
        assertThat(FakeVerbs.calls("create_qp_ex")).isEmpty();
    }

    @Test
    void aFailedCreationLeavesNothingBehind() throws RdmaException {
        FakeVerbs.fail("create_qp_ex", Rdma.EINVAL());
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> stack.domain().createQueuePair(attributes(Set.of()).build()))
                .withMessageStartingWith("ibv_create_qp_ex (RAW_PACKET, ");
        FakeVerbs.setExtendedOp(stack.context().handle(), "create_qp_ex", 0);
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> stack.domain().createQueuePair(attributes(Set.of()).build()));
        table.close();
    }

    @Test
    void itIsAValueThatKeepsItsKey() {
        ReceiveSideScaling one = scaling(Set.of(RxHashField.DST_PORT_UDP));
        one.key()[0] = 0;
        assertThat(one.key()).isEqualTo(key);
        assertThat(one).isEqualTo(scaling(EnumSet.of(RxHashField.DST_PORT_UDP)))
                .hasSameHashCodeAs(scaling(EnumSet.of(RxHashField.DST_PORT_UDP)))
                .isNotEqualTo(scaling(Set.of()))
                .hasToString("ReceiveSideScaling[" + table + ", TOEPLITZ with a key of 40 bytes over [DST_PORT_UDP]]");
    }
}
