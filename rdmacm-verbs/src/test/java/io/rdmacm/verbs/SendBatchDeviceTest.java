// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.MessageTraffic;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The peer's cases of the extended send interface, under their names. */
@RequiresRdma
class SendBatchDeviceTest {
    private static final int ITERATIONS = 100;
    private static final int LENGTH = 1000;

    private static TrafficEnd.Builder reliable(SendOperation... operations) {
        return new TrafficEnd.Builder().operations(Set.of(operations));
    }

    private static TrafficEnd.Builder datagrams() {
        return new TrafficEnd.Builder().type(QueuePairType.UD).operations(MessageTraffic.OPERATIONS);
    }

    private static void messages(TrafficEnd.Builder builder, int length, boolean withImmediate) throws Exception {
        MessageTraffic.connected(builder, (one, other) -> MessageTraffic.pingPong(one, other, length, withImmediate));
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_send")
    @Covers("ibv_wr_send")
    void send() throws Exception {
        messages(reliable(SendOperation.SEND), LENGTH, false);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_send_imm")
    @Covers("ibv_wr_send_imm")
    void sendWithImmediate() throws Exception {
        messages(reliable(SendOperation.SEND_WITH_IMM), LENGTH, true);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_ud_send")
    @Covers({"ibv_wr_send", "ibv_wr_set_ud_addr"})
    void datagram() throws Exception {
        messages(datagrams(), LENGTH, false);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_ud_send_imm")
    @Covers({"ibv_wr_send_imm", "ibv_wr_set_ud_addr"})
    void datagramWithImmediate() throws Exception {
        messages(datagrams(), LENGTH, true);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_ud_zero_size")
    @Covers("ibv_wr_send")
    void emptyDatagram() throws Exception {
        messages(datagrams(), 0, false);
    }

    /** Writes or reads one way, and looks at what has arrived. */
    private static void move(int length, boolean read) throws Exception {
        SendOperation operation = read ? SendOperation.RDMA_READ : SendOperation.RDMA_WRITE;
        MessageTraffic.connected(reliable(operation), (one, other) -> {
            for (int i = 0; i < ITERATIONS; i++) {
                TrafficEnd source = read ? other : one;
                TrafficEnd target = read ? one : other;
                source.fill(0, Math.max(length, 1), i);
                try (SendBatch batch = one.pair.startBatch()) {
                    batch.id(i);
                    if (read) {
                        batch.rdmaRead(other.region.remoteMemory());
                    } else {
                        batch.rdmaWrite(other.region.remoteMemory());
                    }
                    batch.data(one.region, 0, length);
                    batch.complete();
                }
                WorkCompletion done = one.success();
                assertThat(done.workRequestId()).isEqualTo(i);
                assertThat(done.opcode()).isEqualTo(
                        read ? WorkCompletionOpcode.RDMA_READ : WorkCompletionOpcode.RDMA_WRITE);
                if (length > 0) {
                    assertThat(target.bytes(0, length)).containsOnly(i);
                }
            }
        });
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_rdma_write")
    @Covers("ibv_wr_rdma_write")
    void rdmaWrite() throws Exception {
        move(LENGTH, false);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_rdma_write_zero_length")
    @Covers("ibv_wr_rdma_write")
    void rdmaWriteOfNothing() throws Exception {
        move(0, false);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_rdma_read")
    @Covers("ibv_wr_rdma_read")
    void rdmaRead() throws Exception {
        move(LENGTH, true);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_rdma_read_zero_size")
    @Covers("ibv_wr_rdma_read")
    void rdmaReadOfNothing() throws Exception {
        move(0, true);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_rdma_write_imm")
    @Covers("ibv_wr_rdma_write_imm")
    void rdmaWriteWithImmediate() throws Exception {
        MessageTraffic.connected(reliable(SendOperation.RDMA_WRITE_WITH_IMM), (one, other) -> {
            for (int i = 0; i < ITERATIONS; i++) {
                other.pair.postReceive(other.receive.id(i).noData());
                one.fill(0, LENGTH, i);
                try (SendBatch batch = one.pair.startBatch()) {
                    batch.rdmaWriteWithImmediate(other.region.remoteMemory(), i)
                            .data(one.region, 0, LENGTH);
                    batch.complete();
                }
                one.success();
                WorkCompletion told = other.success();
                assertThat(told.opcode()).isEqualTo(WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
                assertThat(told.immediate()).isEqualTo(i);
                assertThat(other.bytes(0, LENGTH)).containsOnly(i);
            }
        });
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_atomic_cmp_swp")
    @Covers("ibv_wr_atomic_cmp_swp")
    void compareAndSwap() throws Exception {
        MessageTraffic.connected(reliable(SendOperation.ATOMIC_CMP_AND_SWP), (one, other) -> {
            for (int i = 0; i < ITERATIONS; i++) {
                other.region.memory().set(ValueLayout.JAVA_LONG, 0, i);
                try (SendBatch batch = one.pair.startBatch()) {
                    batch.compareAndSwap(other.region.remoteMemory(), i, ~i).data(one.region, 8, 8);
                    batch.complete();
                }
                assertThat(one.success().opcode()).isEqualTo(WorkCompletionOpcode.COMP_SWAP);
                assertThat(one.region.memory().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(i);
                assertThat(other.region.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(~i);
            }
        });
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_atomic_fetch_add")
    @Covers("ibv_wr_atomic_fetch_add")
    void fetchAndAdd() throws Exception {
        MessageTraffic.connected(reliable(SendOperation.ATOMIC_FETCH_AND_ADD), (one, other) -> {
            other.region.memory().set(ValueLayout.JAVA_LONG, 0, 0);
            for (int i = 0; i < ITERATIONS; i++) {
                try (SendBatch batch = one.pair.startBatch()) {
                    batch.fetchAndAdd(other.region.remoteMemory(), 3).data(one.region, 8, 8);
                    batch.complete();
                }
                assertThat(one.success().opcode()).isEqualTo(WorkCompletionOpcode.FETCH_ADD);
                assertThat(one.region.memory().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(3L * i);
            }
        });
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_atomic_write")
    @Covers("ibv_wr_atomic_write")
    void atomicWrite() throws Exception {
        MessageTraffic.connected(reliable(SendOperation.ATOMIC_WRITE), (one, other) -> {
            try (SendBatch batch = one.pair.startBatch()) {
                batch.atomicWrite(other.region.remoteMemory(), 0x123456789abcdefL);
                batch.complete();
            }
            WorkCompletion done = one.completion();
            // the kernel of SoftRoCE learnt it later than its library
            Assumptions.assumeTrue(done.status() != WorkCompletionStatus.LOC_QP_OP_ERR,
                    "the device lacks atomic writes: " + done.status());
            assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(other.region.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x123456789abcdefL);
        });
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_bind_mw")
    @Covers("ibv_wr_bind_mw")
    void aWindowThatIsNotWrittenRefusesAWrite() throws Exception {
        MessageTraffic.connected(reliable(SendOperation.BIND_MW, SendOperation.RDMA_WRITE), (one, other) -> {
            try (MemoryWindow window = other.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
                int key = MemoryWindow.incrementKey(window.remoteKey());
                try (SendBatch batch = other.pair.startBatch()) {
                    batch.id(5).bindMemoryWindow(window, key, MemoryWindowBinding.of(other.region, 0, TrafficEnd.SIZE));
                    batch.complete();
                }
                WorkCompletion bound = other.success();
                assertThat(bound.workRequestId()).isEqualTo(5);
                assertThat(bound.opcode()).isEqualTo(WorkCompletionOpcode.BIND_MW);
                assertThat(window.remoteKey()).isEqualTo(key);
                try (SendBatch batch = one.pair.startBatch()) {
                    batch.rdmaWrite(other.address(0), key).data(one.region, 0, LENGTH);
                    batch.complete();
                }
                assertThat(one.completion().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            }
        });
    }

    @Test
    @Covers({"ibv_wr_set_inline_data", "ibv_wr_set_inline_data_list", "ibv_wr_set_sge_list"})
    void dataIsGivenInAllWaysInOneBatch() throws Exception {
        MessageTraffic.connected(reliable(SendOperation.SEND), (one, other) -> {
            MemorySegment text = MemorySegment.ofArray("0123456789".getBytes());
            for (int i = 0; i < 6; i++) {
                other.pair.postReceive(other.receive.id(i).data(other.region, 100 * i, 100));
            }
            one.region.memory().setString(0, "abcdefgh");
            try (SendBatch batch = one.pair.startBatch()) {
                batch.signaled(false).inline(true).send().inlineData(text, 0, 10);
                batch.send().inlineData(ScatterGatherList.allocate(2).set(0, one.region, 1, 2)
                        .set(1, one.region, 3, 3));
                batch.send().inlineData(one.region, 2, 5);
                batch.send();
                batch.inline(false).send().data(ScatterGatherList.allocate(2).set(0, one.region, 4, 4)
                        .set(1, one.region, 0, 4));
                batch.id(7).signaled(true).send();
                batch.complete();
            }
            assertThat(one.success().workRequestId()).isEqualTo(7);
            int[] lengths = {10, 5, 5, 0, 8, 0};
            for (int i = 0; i < lengths.length; i++) {
                WorkCompletion received = other.success();
                assertThat(received.workRequestId()).isEqualTo(i);
                assertThat(received.byteLength()).isEqualTo(lengths[i]);
            }
            assertThat(other.bytes(0, 10)).asString().isEqualTo("0123456789");
            assertThat(other.bytes(100, 5)).asString().isEqualTo("bcdef");
            assertThat(other.bytes(200, 5)).asString().isEqualTo("cdefg");
            assertThat(other.bytes(400, 8)).asString().isEqualTo("efghabcd");
        });
    }

    @Test
    @Covers("ibv_wr_abort")
    void anAbortedBatchSendsNothing() throws Exception {
        MessageTraffic.connected(reliable(SendOperation.SEND), (one, other) -> {
            try (SendBatch batch = one.pair.startBatch()) {
                batch.id(1).send().data(one.region, 0, 8);
                batch.id(2).send().data(one.region, 0, 8);
            }
            MessageTraffic.message(one, other, 3, 8, false);
        });
    }

    @Test
    @Covers("ibv_wr_complete")
    void aBatchThatDoesNotFitIsRefusedAsAWhole() throws Exception {
        MessageTraffic.connected(reliable(SendOperation.SEND), (one, other) -> {
            SendBatch batch = one.pair.startBatch();
            // the device may have more room than it tells of
            for (int i = 0; i < 8 * one.pair.capabilities().maxSendRequests(); i++) {
                batch.send().data(one.region, 0, 8);
            }
            assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::complete)
                    .satisfies(e -> assertThat(e.errnoName()).isIn("ENOMEM", "ENOSPC"));
            MessageTraffic.message(one, other, 3, 8, false);
        });
    }

    @Test
    @DisplayName("QpExTestCase.test_post_receive_qp_state_bad_flow")
    @Covers("ibv_post_recv")
    void receivesAreRefusedInReset() throws Exception {
        MessageTraffic.connected(datagrams(), (one, other) -> {
            other.pair.modify(QueuePairAttributes.toReset());
            assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> other.postReceive(1, 8))
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EINVAL"));
        });
    }

    @Test
    @DisplayName("QpExTestCase.test_post_send_qp_state_bad_flow")
    @Covers("ibv_wr_complete")
    void sendsAreRefusedInReset() throws Exception {
        MessageTraffic.connected(datagrams(), (one, other) -> {
            one.pair.modify(QueuePairAttributes.toReset());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> one.postSend(1, 8, false, 0))
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EINVAL"));
        });
    }

    @Test
    @DisplayName("QpExTestCase.test_full_rq_bad_flow")
    @Covers("ibv_post_recv")
    void aFullReceiveQueueRefuses() throws Exception {
        MessageTraffic.connected(datagrams(), (one, other) ->
                assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> {
                    for (int i = 0; i <= 8 * other.pair.capabilities().maxReceiveRequests(); i++) {
                        other.postReceive(i, 8);
                    }
                }).satisfies(e -> assertThat(e.errnoName()).isEqualTo("ENOMEM")));
    }

    @Test
    @DisplayName("QpExTestCase.test_rq_with_larger_sgl_bad_flow")
    @Covers("ibv_post_recv")
    void aReceiveWithTooManyPartsIsRefused() throws Exception {
        MessageTraffic.connected(datagrams(), (one, other) -> {
            int most = other.pair.capabilities().maxReceiveScatterGather();
            ReceiveRequest request = ReceiveRequests.allocate(1, most + 1).get(0);
            for (int i = 0; i <= most; i++) {
                request.data(i, other.region, 8 * i, 8);
            }
            assertThatIllegalArgumentException().isThrownBy(() -> other.pair.postReceive(request))
                    .withMessageContaining("allows " + most);
        });
    }
}
