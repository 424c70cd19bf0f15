// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.IntFunction;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.QueuePairStatus;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.codec.AddressStructs;
import io.rdmacm.verbs.internal.codec.QueuePairStructs;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;

/** The attributes of a queue pair, compared with what C makes of the same values. */
@WithFakeVerbs
public class QueuePairAttributesTest {
    private static final AddressAttributes PATH = AddressAttributes.ofRoute(3, new Gid(1, 2), 4);
    private static final AddressAttributes OTHER = AddressAttributes.builder().destinationLid(0xfff0).port(5).build();
    public static final QueuePairAttributes ALL = QueuePairAttributes.builder().state(QueuePairState.RTS)
            .currentState(QueuePairState.SQD).pathMtu(2048).pathMigrationState(PathMigrationState.REARM)
            .queueKey(0x80010000).receivePacketNumber(0xfffffe).sendPacketNumber(0xfffffd)
            .destinationQueuePair(0xfffffc).accessFlags(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC)
            .capabilities(new QueuePairCapabilities(1, 2, 3, 4, 5)).path(PATH)
            .alternatePath(new AlternatePath(OTHER, 0xfffb, 0xfa, AckTimeout.ofCode(31))).partitionKeyIndex(0xfff9)
            .notifyWhenDrained(true).maxReadAtomic(0xf8).maxDestinationReadAtomic(0xf7)
            .minRnrTimer(RnrTimer.ofCode(30)).port(0xf6)
            .timeout(AckTimeout.ofCode(29)).retryCount(7).rnrRetry(6).rateLimit(0x7fffffff).build();

    private static MemorySegment oracle(Arena arena) {
        MemorySegment struct = ibv_qp_attr.allocate(arena);
        MemorySegment path = ibv_ah_attr.allocate(arena);
        MemorySegment other = ibv_ah_attr.allocate(arena);
        AddressStructs.write(PATH, path.address());
        AddressStructs.write(OTHER, other.address());
        int[] numbers = {Rdma.IBV_QPS_RTS(), Rdma.IBV_QPS_SQD(), Rdma.IBV_MTU_2048(), Rdma.IBV_MIG_REARM(),
            0x80010000, 0xfffffe, 0xfffffd, 0xfffffc, Rdma.IBV_ACCESS_REMOTE_READ() | Rdma.IBV_ACCESS_REMOTE_ATOMIC(),
            1, 2, 3, 4, 5, 0xfff9, 0xfffb, 1, 0xf8, 0xf7, 30, 0xf6, 29, 7, 6, 0xfa, 31, 0x7fffffff};
        FakeVerbs.call("oracle_qp_attr", struct.address(),
                arena.allocateFrom(ValueLayout.JAVA_INT, numbers).address(), path.address(), other.address());
        return struct;
    }

    @Test
    void theStructHasTheBytesThatCGivesIt() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment written = ibv_qp_attr.allocate(arena);
            QueuePairStructs.write(ALL, written.address());

            assertThat(written.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(oracle(arena).toArray(ValueLayout.JAVA_BYTE));
            assertThat(ALL.present()).isEqualTo(EnumSet.allOf(QueuePairAttribute.class));
            assertThat(QueuePairStructs.mask(ALL)).isEqualTo(Rdma.IBV_QP_RATE_LIMIT() | (1 << 21) - 1);
        }
    }

    @Test
    void codesThatTheSpecificationDoesNotHaveAreReadAndWrittenBackAsTheyAre() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = ibv_qp_attr.allocate(arena);
            ibv_qp_attr.timeout(struct, (byte) 200);
            ibv_qp_attr.min_rnr_timer(struct, (byte) 255);
            ibv_qp_attr.alt_timeout(struct, (byte) 99);
            ibv_ah_attr.static_rate(ibv_qp_attr.ah_attr(struct), (byte) 251);
            Set<QueuePairAttribute> attributes = EnumSet.of(QueuePairAttribute.TIMEOUT,
                    QueuePairAttribute.MIN_RNR_TIMER, QueuePairAttribute.ALT_PATH, QueuePairAttribute.AV);

            QueuePairAttributes read = QueuePairStructs.read(struct.address(), attributes);
            assertThat(read.timeout().code()).isEqualTo(200);
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
    void durationsAreRoundedUpToTheNextCode() {
        QueuePairAttributes rounded = QueuePairAttributes.builder().timeout(Duration.ofMillis(500))
                .minRnrTimer(Duration.ofMillis(1)).build();
        assertThat(rounded.timeout()).isEqualTo(AckTimeout.ofCode(17));
        assertThat(rounded.minRnrTimer()).isEqualTo(RnrTimer.ofCode(14));
        assertThat(rounded).hasToString("QueuePairAttributes{TIMEOUT=PT0.536870912S (code 17),"
                + " MIN_RNR_TIMER=PT0.00128S (code 14)}");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> QueuePairAttributes.builder().timeout(Duration.ofDays(1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> QueuePairAttributes.builder().minRnrTimer(Duration.ofSeconds(1)));
    }

    @Test
    void onlyWhatIsPresentIsWritten() {
        try (Arena arena = Arena.ofConfined()) {
            for (QueuePairAttribute attribute : QueuePairAttribute.values()) {
                MemorySegment written = ibv_qp_attr.allocate(arena);
                QueuePairAttributes one = QueuePairStructs.read(oracle(arena).address(), EnumSet.of(attribute));
                QueuePairStructs.write(one, written.address());

                assertThat(one.get(attribute)).isEqualTo(ALL.get(attribute));
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

            assertThat(read).isEqualTo(ALL).hasSameHashCodeAs(ALL).hasToString(ALL.toString());
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
            assertThat(read.path()).isEqualTo(PATH);
            assertThat(read.alternatePath()).isEqualTo(new AlternatePath(OTHER, 0xfffb, 0xfa, AckTimeout.ofCode(31)));
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
    void aValueThatIsNotThereIsNamed() {
        QueuePairAttributes some = QueuePairAttributes.toReset();
        assertThat(some).hasToString("QueuePairAttributes{STATE=RESET}");
        assertThat(some.has(QueuePairAttribute.QKEY)).isFalse();
        assertThatIllegalStateException().isThrownBy(some::queueKey)
                .withMessage("QKEY is not among the attributes: QueuePairAttributes{STATE=RESET}");
        assertThat(some.toBuilder().queueKey(5).build())
                .hasToString("QueuePairAttributes{STATE=RESET, QKEY=5}").isNotEqualTo(some);
    }

    private static void assertLimit(int limit, IntFunction<QueuePairAttributes.Builder> setter) {
        setter.apply(0);
        setter.apply(limit);
        for (int wrong : new int[] {-1, limit + 1, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> setter.apply(wrong))
                    .withMessageEndingWith(" must be from 0 to " + limit + ", not " + wrong);
        }
    }

    @Test
    void numbersThatDoNotFitAreRefused() {
        QueuePairAttributes.Builder builder = QueuePairAttributes.builder();
        assertLimit(0xffff, builder::partitionKeyIndex);
        assertLimit(0xff, builder::port);
        assertLimit(31, code -> builder.timeout(AckTimeout.ofCode(code)));
        assertLimit(7, builder::retryCount);
        assertLimit(7, builder::rnrRetry);
        assertLimit(0xffffff, builder::receivePacketNumber);
        assertLimit(0xffffff, builder::sendPacketNumber);
        assertLimit(0xffffff, builder::destinationQueuePair);
        assertLimit(0xff, builder::maxReadAtomic);
        assertLimit(0xff, builder::maxDestinationReadAtomic);
        assertLimit(31, code -> builder.minRnrTimer(RnrTimer.ofCode(code)));
        for (int wrong : new int[] {0, 1, 128, 257, 1025, 8192, -4096, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> builder.pathMtu(wrong))
                    .withMessage("the path MTU must be 256, 512, 1024, 2048 or 4096, not " + wrong);
        }
        assertThatIllegalArgumentException().isThrownBy(() -> new AlternatePath(PATH, 0x10000, 1, AckTimeout.INFINITE));
        assertThatIllegalArgumentException().isThrownBy(() -> new AlternatePath(PATH, 1, 256, AckTimeout.INFINITE));
        assertThatIllegalArgumentException().isThrownBy(() -> new AlternatePath(PATH, 1, 1, new AckTimeout(256)));
    }

    @Test
    @Covers("ibv_query_qp")
    void aQueryAsksForAllButTheRateLimitAndReadsIt() throws RdmaException {
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
                    .isEqualTo(ALL);
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
                    .withMessageStartingWith("ibv_modify_qp: ENXIO");
        } finally {
            FakeVerbs.call("fake_query_answer", 0);
        }
    }
}
