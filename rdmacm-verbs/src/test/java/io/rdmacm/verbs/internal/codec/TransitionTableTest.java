// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.XrcDomain;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.PathMigrationState;
import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.QueuePairValues;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every step between two states, for each transport, with each bit too few and each bit too many. */
@WithFakeVerbs
class TransitionTableTest {
    /** From, to: transports: required: optional. What is not here has no attributes. */
    private static final String FACTS = """
            RESET INIT: RC UC XRC_SEND XRC_RECV: PKEY_INDEX PORT ACCESS_FLAGS:
            RESET INIT: UD: PKEY_INDEX PORT QKEY:
            RESET INIT: RAW_PACKET: PORT:
            INIT INIT: RC UC XRC_SEND XRC_RECV: : PKEY_INDEX PORT ACCESS_FLAGS
            INIT INIT: UD: : PKEY_INDEX PORT QKEY
            INIT RTR: RC XRC_RECV: AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER: \
            ALT_PATH ACCESS_FLAGS PKEY_INDEX
            INIT RTR: UC XRC_SEND: AV PATH_MTU DEST_QPN RQ_PSN: ALT_PATH ACCESS_FLAGS PKEY_INDEX
            INIT RTR: UD: : PKEY_INDEX QKEY
            RTR RTS: RC: TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC: \
            CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE
            RTR RTS: XRC_SEND: TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC: \
            CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE
            RTR RTS: XRC_RECV: TIMEOUT SQ_PSN: CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE
            RTR RTS: UC: SQ_PSN: CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE
            RTR RTS: UD: SQ_PSN: CUR_STATE QKEY
            RTR RTS: RAW_PACKET: : RATE_LIMIT
            RTS RTS: RC XRC_RECV: : CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER
            RTS RTS: UC XRC_SEND: : CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE
            RTS RTS: UD: : CUR_STATE QKEY
            RTS RTS: RAW_PACKET: : RATE_LIMIT
            RTS SQD: RC UC UD XRC_SEND XRC_RECV: : EN_SQD_ASYNC_NOTIFY
            SQD RTS: RC XRC_RECV: : CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER
            SQD RTS: UC XRC_SEND: : CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE
            SQD RTS: UD: : CUR_STATE QKEY
            SQD SQD: RC: : PORT AV TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC MAX_DEST_RD_ATOMIC ALT_PATH \
            ACCESS_FLAGS PKEY_INDEX MIN_RNR_TIMER PATH_MIG_STATE
            SQD SQD: XRC_SEND: : PORT AV TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC ALT_PATH \
            ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE
            SQD SQD: XRC_RECV: : PORT AV TIMEOUT MAX_DEST_RD_ATOMIC ALT_PATH \
            ACCESS_FLAGS PKEY_INDEX MIN_RNR_TIMER PATH_MIG_STATE
            SQD SQD: UC: : AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE
            SQD SQD: UD: : PKEY_INDEX QKEY
            SQE RTS: UC: : CUR_STATE ACCESS_FLAGS
            SQE RTS: UD: : CUR_STATE QKEY
            """;
    private static final Set<QueuePairState> STATES = EnumSet.range(QueuePairState.RESET, QueuePairState.ERROR);

    private FakeStack stack;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_queue_pairs", stack.context().handle().address());
        FakeVerbs.call("fake_equip_receive", stack.context().handle().address());
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    /** One cell of the table. */
    record Step(QueuePairType type, QueuePairState from, QueuePairState to, boolean possible,
            Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {
    }

    static Stream<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (QueuePairType type : EnumSet.complementOf(EnumSet.of(QueuePairType.DRIVER))) {
            for (QueuePairState from : STATES) {
                for (QueuePairState to : STATES) {
                    steps.add(step(type, from, to));
                }
            }
        }
        return steps.stream();
    }

    private static Step step(QueuePairType type, QueuePairState from, QueuePairState to) {
        String way = from + " " + to;
        boolean possible = to == QueuePairState.RESET || to == QueuePairState.ERROR && from != QueuePairState.RESET;
        for (String line : FACTS.lines().toList()) {
            String[] parts = line.split(":", -1);
            possible |= parts[0].equals(way);
            if (parts[0].equals(way) && List.of(parts[1].strip().split(" ")).contains(type.name())) {
                return new Step(type, from, to, true, attributes(parts[2]), attributes(parts[3]));
            }
        }
        return new Step(type, from, to, possible, Set.of(), Set.of());
    }

    private static Set<QueuePairAttribute> attributes(String names) {
        Set<QueuePairAttribute> set = EnumSet.noneOf(QueuePairAttribute.class);
        for (String name : names.strip().split(" ")) {
            if (!name.isEmpty()) {
                set.add(QueuePairAttribute.valueOf(name));
            }
        }
        return set;
    }

    private static Set<QueuePairAttribute> with(Set<QueuePairAttribute> set, QueuePairAttribute more) {
        Set<QueuePairAttribute> sum = EnumSet.of(more);
        sum.addAll(set);
        return sum;
    }

    private QueuePair create(XrcDomain xrc, QueuePairType type) throws RdmaException {
        QueuePairInitAttributes.Builder attributes = QueuePairInitAttributes.builder().type(type);
        return type == QueuePairType.XRC_RECV
                ? xrc.createQueuePair(attributes.build())
                : stack.domain().createQueuePair(attributes.completionQueue(stack.queue()).build());
    }

    private void modify(QueuePair pair, Step step, Set<QueuePairAttribute> given) throws RdmaException {
        ibv_qp.state(pair.handle(), step.from().value());
        pair.modify(QueuePairValues.of(given, step.from(), step.to()));
    }

    @ParameterizedTest
    @MethodSource("steps")
    @Covers("ibv_modify_qp")
    void eachMaskIsTakenOrRefusedBeforeTheNativeCall(Step step) throws RdmaException {
        Set<QueuePairAttribute> least = with(step.required(), QueuePairAttribute.STATE);
        String way = "the transition of a queue pair of type " + step.type() + " from " + step.from() + " to "
                + step.to();
        try (XrcDomain xrc = stack.context().openXrcDomain(); QueuePair pair = create(xrc, step.type())) {
            FakeVerbs.reset();
            if (!step.possible()) {
                assertThatIllegalStateException().isThrownBy(() -> modify(pair, step, least))
                        .withMessageStartingWith("a queue pair of type " + step.type() + " cannot go from "
                                + step.from() + " to " + step.to() + ", only to [RESET");
                assertThat(FakeVerbs.calls("ibv_modify_qp")).isEmpty();
                return;
            }
            for (QueuePairAttribute missing : step.required()) {
                Set<QueuePairAttribute> fewer = EnumSet.copyOf(least);
                fewer.remove(missing);
                assertThatIllegalArgumentException().isThrownBy(() -> modify(pair, step, fewer))
                        .withMessage(way + " requires [" + missing + "]");
            }
            for (QueuePairAttribute more : EnumSet.complementOf(EnumSet.copyOf(least))) {
                if (!step.optional().contains(more)) {
                    assertThatIllegalArgumentException().isThrownBy(() -> modify(pair, step, with(least, more)))
                            .withMessage(way + " does not allow [" + more + "]");
                }
            }
            assertThat(FakeVerbs.calls("ibv_modify_qp")).isEmpty();

            modify(pair, step, least);
            for (QueuePairAttribute more : step.optional()) {
                modify(pair, step, with(least, more));
            }
            List<Long> masks = FakeVerbs.calls("ibv_modify_qp").stream().map(call -> call.arguments().get(2)).toList();
            assertThat(masks).hasSize(1 + step.optional().size());
            assertThat(masks.getFirst()).isEqualTo(least.stream().mapToLong(QueuePairAttribute::bit).sum());
        }
    }

    @Test
    void missingAndSurplusAreNamedTogether() {
        assertThatIllegalArgumentException().isThrownBy(() -> TransitionTable.check(QueuePairType.RC,
                QueuePairState.INIT, QueuePairState.RTR, EnumSet.of(QueuePairAttribute.STATE, QueuePairAttribute.QKEY,
                        QueuePairAttribute.AV, QueuePairAttribute.RQ_PSN, QueuePairAttribute.MIN_RNR_TIMER)))
                .withMessage("the transition of a queue pair of type RC from INIT to RTR requires [PATH_MTU,"
                        + " MAX_DEST_RD_ATOMIC, DEST_QPN] and does not allow [QKEY]");
    }

    @Test
    void withoutANewStateItStaysInItsOwn() throws RdmaException {
        ibv_qp.state(stack.queuePair().handle(), QueuePairState.RTS.value());
        FakeVerbs.reset();
        stack.queuePair().modify(QueuePairAttributes.builder().minRnrTimer(RnrTimer.ofCode(3)).build());
        assertThat(FakeVerbs.calls("ibv_modify_qp").getFirst().arguments().get(2))
                .isEqualTo(Rdma.IBV_QP_MIN_RNR_TIMER());

        FakeVerbs.reset();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stack.queuePair().modify(
                        QueuePairAttributes.builder().timeout(AckTimeout.ofCode(3)).build()))
                .withMessageContaining("from RTS to RTS does not allow [TIMEOUT]");
        assertThat(FakeVerbs.calls("ibv_modify_qp")).isEmpty();
    }

    @Test
    void theAssumedStateIsTakenForTheState() throws RdmaException {
        ibv_qp.state(stack.queuePair().handle(), QueuePairState.RTS.value());
        FakeVerbs.reset();
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().modify(QueuePairAttributes.builder()
                .state(QueuePairState.RTS).currentState(QueuePairState.RTR).build()))
                .withMessageContaining("from RTR to RTS requires [TIMEOUT");
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(QueuePairState.class)
    void driverTypesAreLeftToTheirDriver(QueuePairState to) throws RdmaException {
        try (QueuePair pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.DRIVER).completionQueue(stack.queue()).build())) {
            FakeVerbs.reset();
            pair.modify(QueuePairAttributes.builder().state(to).queueKey(9).build());
            assertThat(FakeVerbs.functions()).containsExactly("ibv_modify_qp");
        }
    }

    @Test
    void eachFactoryGivesWhatItsStepRequires() {
        AddressAttributes path = AddressAttributes.builder().build();
        QueuePairState reset = QueuePairState.RESET;
        QueuePairState init = QueuePairState.INIT;
        QueuePairState rtr = QueuePairState.RTR;
        assertFits(QueuePairType.RC, reset, QueuePairTransitions.Rc.resetToInit(1, 0, AccessFlag.REMOTE_READ));
        assertFits(QueuePairType.RC, init, QueuePairTransitions.Rc.initToRtr(path, 1024, 5, 6, 7, RnrTimer.ofCode(8)));
        assertFits(QueuePairType.RC, rtr, QueuePairTransitions.Rc.rtrToRts(1, AckTimeout.ofCode(2), 3, 4, 5));
        assertFits(QueuePairType.UC, reset, QueuePairTransitions.Uc.resetToInit(1, 0));
        assertFits(QueuePairType.UC, init, QueuePairTransitions.Uc.initToRtr(path, 256, 5, 6));
        assertFits(QueuePairType.UC, rtr, QueuePairTransitions.Uc.rtrToRts(1));
        assertFits(QueuePairType.UD, reset, QueuePairTransitions.Ud.resetToInit(1, 0, -1));
        assertFits(QueuePairType.UD, init, QueuePairTransitions.Ud.initToRtr());
        assertFits(QueuePairType.UD, rtr, QueuePairTransitions.Ud.rtrToRts(1));
        assertFits(QueuePairType.XRC_SEND, reset, QueuePairTransitions.XrcSend.resetToInit(1, 0));
        assertFits(QueuePairType.XRC_SEND, init, QueuePairTransitions.XrcSend.initToRtr(path, 4096, 5, 6));
        assertFits(QueuePairType.XRC_SEND, rtr,
                QueuePairTransitions.XrcSend.rtrToRts(1, AckTimeout.ofCode(2), 3, 4, 5));
        assertFits(QueuePairType.XRC_RECV, reset, QueuePairTransitions.XrcReceive.resetToInit(1, 0));
        assertFits(QueuePairType.XRC_RECV, init,
                QueuePairTransitions.XrcReceive.initToRtr(path, 512, 5, 6, 7, RnrTimer.ofCode(8)));
        assertFits(QueuePairType.XRC_RECV, rtr, QueuePairTransitions.XrcReceive.rtrToRts(1, AckTimeout.ofCode(2)));
        assertFits(QueuePairType.RAW_PACKET, reset, QueuePairTransitions.RawPacket.resetToInit(1));
        assertFits(QueuePairType.RAW_PACKET, init, QueuePairTransitions.RawPacket.initToRtr());
        assertFits(QueuePairType.RAW_PACKET, rtr, QueuePairTransitions.RawPacket.rtrToRts());
        for (QueuePairType type : EnumSet.of(QueuePairType.RC, QueuePairType.UC, QueuePairType.UD)) {
            assertFits(type, QueuePairState.RTS, QueuePairAttributes.rtsToSqd(true));
            assertFits(type, QueuePairState.SQD, QueuePairAttributes.sqdToRts());
            assertFits(type, QueuePairState.SQE, QueuePairAttributes.sqeToRts());
            assertFits(type, QueuePairState.RTS, QueuePairAttributes.toError());
            assertFits(type, QueuePairState.ERROR, QueuePairAttributes.toReset());
        }
        assertFits(QueuePairType.RC, QueuePairState.RTS, QueuePairAttributes.migrate(PathMigrationState.REARM));
    }

    private static void assertFits(QueuePairType type, QueuePairState from, QueuePairAttributes attributes) {
        assertThatCode(() -> TransitionTable.check(type, from, attributes.state(), attributes.present()))
                .doesNotThrowAnyException();
    }
}
