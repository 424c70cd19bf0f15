// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.QueuePairStatus;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.PathMigrationState;
import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.QueuePairValues;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;

/** The attributes of a queue pair have the bytes that C writes for the same values, and are read from them. */
@WithFakeVerbs
class QueuePairStructsTest {
    private static MemorySegment oracle(Arena arena) {
        MemorySegment struct = ibv_qp_attr.allocate(arena);
        MemorySegment path = ibv_ah_attr.allocate(arena);
        MemorySegment other = ibv_ah_attr.allocate(arena);
        AddressStructs.write(QueuePairValues.PATH, path.address());
        AddressStructs.write(QueuePairValues.ALTERNATE, other.address());
        int[] numbers = {Rdma.IBV_QPS_RTS(), Rdma.IBV_QPS_SQD(), Rdma.IBV_MTU_2048(), Rdma.IBV_MIG_REARM(),
            0x80010000, 0xfffffe, 0xfffffd, 0xfffffc, Rdma.IBV_ACCESS_REMOTE_READ() | Rdma.IBV_ACCESS_REMOTE_ATOMIC(),
            1, 2, 3, 4, 5, 0xfff9, 0xfffb, 1, 0xf8, 0xf7, 30, 0xf6, 29, 7, 6, 0xfa, 31, 0x7fffffff};
        FakeVerbs.call("oracle_qp_attr", struct.address(),
                arena.allocateFrom(ValueLayout.JAVA_INT, numbers).address(), path.address(), other.address());
        return struct;
    }

    @Test
    void theStructHasTheBytesThatCWrites() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment written = ibv_qp_attr.allocate(arena);
            QueuePairStructs.write(QueuePairValues.ALL, written.address());

            assertThat(written.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(oracle(arena).toArray(ValueLayout.JAVA_BYTE));
            assertThat(QueuePairValues.ALL.present()).isEqualTo(EnumSet.allOf(QueuePairAttribute.class));
            assertThat(QueuePairStructs.mask(QueuePairValues.ALL)).isEqualTo(Rdma.IBV_QP_RATE_LIMIT() | (1 << 21) - 1);
        }
    }

    @Test
    void unspecifiedCodesAreReadAndWrittenBackUnchanged() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = ibv_qp_attr.allocate(arena);
            ibv_qp_attr.timeout(struct, (byte) 200);
            ibv_qp_attr.retry_cnt(struct, (byte) 201);
            ibv_qp_attr.min_rnr_timer(struct, (byte) 255);
            ibv_qp_attr.alt_timeout(struct, (byte) 99);
            ibv_ah_attr.static_rate(ibv_qp_attr.ah_attr(struct), (byte) 251);
            Set<QueuePairAttribute> attributes = EnumSet.of(QueuePairAttribute.TIMEOUT,
                    QueuePairAttribute.RETRY_CNT, QueuePairAttribute.MIN_RNR_TIMER,
                    QueuePairAttribute.ALT_PATH, QueuePairAttribute.AV);

            QueuePairAttributes read = QueuePairStructs.read(struct.address(), attributes);
            assertThat(read.timeout().code()).isEqualTo(200);
            assertThat(read.retryCount()).isEqualTo(201);
            assertThat(read.minRnrTimer().code()).isEqualTo(255);
            assertThat(read.alternatePath().timeout().code()).isEqualTo(99);
            assertThat(read.path().staticRate().value()).isEqualTo(251);
            MemorySegment written = ibv_qp_attr.allocate(arena);
            QueuePairStructs.write(read.toBuilder().build(), written.address());
            assertThat(written.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(struct.toArray(ValueLayout.JAVA_BYTE));

            QueuePairAttributes.Builder builder = QueuePairAttributes.builder();
            assertThatIllegalArgumentException().isThrownBy(() -> builder.timeout(read.timeout()))
                    .withMessageEndingWith("must be from 0 to 31, not 200");
            assertThatIllegalArgumentException().isThrownBy(() -> builder.minRnrTimer(read.minRnrTimer()))
                    .withMessageEndingWith("must be from 0 to 31, not 255");
        }
    }

    @Test
    void onlyPresentAttributesAreWritten() {
        try (Arena arena = Arena.ofConfined()) {
            for (QueuePairAttribute attribute : QueuePairAttribute.values()) {
                MemorySegment written = ibv_qp_attr.allocate(arena);
                QueuePairAttributes one = QueuePairStructs.read(oracle(arena).address(), EnumSet.of(attribute));
                QueuePairStructs.write(one, written.address());

                assertThat(one.present()).containsExactly(attribute);
                assertThat(QueuePairStructs.read(written.address(), EnumSet.of(attribute))).isEqualTo(one);
                assertThat(QueuePairStructs.mask(one)).isEqualTo(attribute.bit());
                assertThat(QueuePairAttribute.of(attribute.bit())).containsExactly(attribute);
            }
        }
    }

    @Test
    void everyValueIsReadBack() {
        try (Arena arena = Arena.ofConfined()) {
            QueuePairAttributes read = QueuePairStructs.read(oracle(arena).address(),
                    EnumSet.allOf(QueuePairAttribute.class));

            assertThat(read).isEqualTo(QueuePairValues.ALL).hasSameHashCodeAs(QueuePairValues.ALL)
                    .hasToString(QueuePairValues.ALL.toString());
            assertThat(read.state()).isEqualTo(QueuePairState.RTS);
            assertThat(read.currentState()).isEqualTo(QueuePairState.SQD);
            assertThat(read.pathMtu()).isEqualTo(2048);
            assertThat(read.pathMigrationState()).isEqualTo(PathMigrationState.REARM);
            assertThat(read.queueKey()).isEqualTo(0x80010000);
            assertThat(read.receivePacketNumber()).isEqualTo(0xfffffe);
            assertThat(read.sendPacketNumber()).isEqualTo(0xfffffd);
            assertThat(read.destinationQueuePair()).isEqualTo(0xfffffc);
            assertThat(read.accessFlags()).isEqualTo(Set.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC));
            assertThat(read.capabilities()).isEqualTo(new QueuePairCapabilities(1, 2, 3, 4, 5));
            assertThat(read.path()).isEqualTo(QueuePairValues.PATH);
            assertThat(read.alternatePath()).isEqualTo(
                    new AlternatePath(QueuePairValues.ALTERNATE, 0xfffb, 0xfa, AckTimeout.ofCode(31)));
            assertThat(read.partitionKeyIndex()).isEqualTo(0xfff9);
            assertThat(read.notifyWhenDrained()).isTrue();
            assertThat(read.maxReadAtomic()).isEqualTo(0xf8);
            assertThat(read.maxDestinationReadAtomic()).isEqualTo(0xf7);
            assertThat(read.minRnrTimer()).isEqualTo(RnrTimer.ofCode(30));
            assertThat(read.port()).isEqualTo(0xf6);
            assertThat(read.timeout()).isEqualTo(AckTimeout.ofCode(29));
            assertThat(read.retryCount()).isEqualTo(7);
            assertThat(read.rnrRetry()).isEqualTo(6);
            assertThat(read.rateLimit()).isEqualTo(0x7fffffff);
        }
    }

    @Test
    @Covers("ibv_query_qp")
    void aQueryAsksForAllAttributesButTheRateLimit() throws RdmaException {
        try (Arena arena = Arena.ofConfined(); FakeStack stack = new FakeStack()) {
            MemorySegment answer = oracle(arena);
            ibv_qp_attr.sq_draining(answer, (byte) 1);
            FakeVerbs.call("fake_query_answer", answer.address());
            FakeVerbs.reset();

            QueuePairStatus status = stack.queuePair().query();

            assertThat(FakeVerbs.calls("ibv_query_qp").getFirst().arguments().get(2)).isEqualTo((1 << 21) - 1);
            Set<QueuePairAttribute> asked = EnumSet.complementOf(EnumSet.of(QueuePairAttribute.RATE_LIMIT));
            assertThat(status.attributes().present()).isEqualTo(asked);
            assertThat(status.attributes().toBuilder().state(QueuePairState.RTS).rateLimit(0x7fffffff).build())
                    .isEqualTo(QueuePairValues.ALL);
            assertThat(status.attributes().state()).isEqualTo(QueuePairState.RESET);
            assertThat(status.sendQueueDraining()).isTrue();
            assertThat(status.initAttributes()).isEqualTo(QueuePairInitAttributes.builder()
                    .completionQueue(stack.queue()).maxSendRequests(11).maxReceiveRequests(12)
                    .maxSendScatterGather(13).maxReceiveScatterGather(14).maxInlineData(15).signalAll(true).build());

            FakeVerbs.fail("ibv_query_qp", Rdma.EINVAL());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> stack.queuePair().query())
                    .withMessageStartingWith("ibv_query_qp: EINVAL");
            FakeVerbs.fail("ibv_modify_qp", Rdma.ENXIO());
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> stack.queuePair().modify(QueuePairAttributes.toReset()))
                    .withMessageMatching("ibv_modify_qp \\(QueuePairAttributes\\{.*}\\): ENXIO.*");
        } finally {
            FakeVerbs.call("fake_query_answer", 0);
        }
    }
}
