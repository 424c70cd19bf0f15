// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.EnumSet;
import java.util.function.Consumer;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RateLimit;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.SendOpcode;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Queue pairs of the device, made and asked, one at a time; named as the cases of the peers. */
@RequiresRdma
class QueuePairDeviceTest {
    private static final int KEY = 0x1234;
    private static final int PACKET_NUMBER = 0x654321;

    private VerbsContext context;
    private ProtectionDomain domain;
    private CompletionQueue queue;

    @BeforeEach
    void open() throws RdmaException {
        String name = RdmaTestDevice.get().name();
        context = Device.list().stream().filter(device -> device.name().equals(name)).findFirst().orElseThrow().open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(100);
    }

    @AfterEach
    void close() throws RdmaException {
        queue.close();
        domain.close();
        context.close();
    }

    private QueuePairInitAttributes.Builder attributes(QueuePairType type, boolean extended) {
        QueuePairInitAttributes.Builder builder = QueuePairInitAttributes.builder().type(type).completionQueue(queue)
                .maxSendRequests(8).maxReceiveRequests(9).maxSendScatterGather(3).maxReceiveScatterGather(4)
                .maxInlineData(16);
        return extended ? builder.sendOperations(EnumSet.of(SendOperation.SEND)) : builder;
    }

    /** Skips where the device has none of the type. */
    private QueuePair create(QueuePairType type, boolean extended) throws RdmaException {
        try {
            return domain.createQueuePair(attributes(type, extended).build());
        } catch (RdmaUnsupportedException e) {
            Assumptions.abort("Create " + type + " QP is not supported: " + e.getMessage());
            throw e;
        }
    }

    private void assertCreated(QueuePairType type, boolean extended, QueuePairState state) throws RdmaException {
        try (QueuePair pair = create(type, extended)) {
            assertThat(pair.type()).isEqualTo(type);
            assertThat(pair.number()).isPositive();
            if (state != QueuePairState.RESET) {
                pair.modify(toInit(type));
            }
            if (state == QueuePairState.RTS) {
                toRts(pair, type);
            }
            assertState(pair.state(), state);
        }
    }

    /** SoftiWARP does not report the state before Linux 6.8, and knows no RESET. */
    private static void assertState(QueuePairState actual, QueuePairState expected) {
        if (!RdmaTestDevice.get().isIwarp()) {
            assertThat(actual).isEqualTo(expected);
        }
    }

    private static QueuePairAttributes toInit(QueuePairType type) {
        return switch (type) {
            case UD -> QueuePairTransitions.Ud.resetToInit(1, 0, KEY);
            case RAW_PACKET -> QueuePairTransitions.RawPacket.resetToInit(1);
            default -> QueuePairTransitions.Rc.resetToInit(1, 0);
        };
    }

    private static void toRts(QueuePair pair, QueuePairType type) throws RdmaException {
        pair.modify(QueuePairTransitions.Ud.initToRtr());
        pair.modify(type == QueuePairType.UD
                ? QueuePairTransitions.Ud.rtrToRts(PACKET_NUMBER)
                : QueuePairTransitions.RawPacket.rtrToRts());
    }

    @Test
    @DisplayName("QPTest.test_create_rc_qp_no_attr")
    @Covers({"ibv_create_qp", "ibv_destroy_qp"})
    void createRc() throws RdmaException {
        assertCreated(QueuePairType.RC, false, QueuePairState.RESET);
    }

    @Test
    @DisplayName("QPTest.test_create_uc_qp_no_attr")
    @Covers({"ibv_create_qp", "ibv_destroy_qp"})
    void createUc() throws RdmaException {
        assertCreated(QueuePairType.UC, false, QueuePairState.RESET);
    }

    @Test
    @DisplayName("QPTest.test_create_ud_qp_no_attr")
    @Covers({"ibv_create_qp", "ibv_destroy_qp"})
    void createUd() throws RdmaException {
        assertCreated(QueuePairType.UD, false, QueuePairState.RESET);
    }

    @Test
    @DisplayName("QPTest.test_create_raw_qp_no_attr")
    @Covers({"ibv_create_qp", "ibv_destroy_qp"})
    void createRaw() throws RdmaException {
        assertCreated(QueuePairType.RAW_PACKET, false, QueuePairState.RESET);
    }

    @Test
    @DisplayName("QPTest.test_create_rc_qp_with_attr")
    @Covers({"ibv_create_qp", "ibv_modify_qp"})
    void createRcWithAttributes() throws RdmaException {
        assertCreated(QueuePairType.RC, false, QueuePairState.INIT);
    }

    @Test
    @DisplayName("QPTest.test_create_uc_qp_with_attr")
    @Covers({"ibv_create_qp", "ibv_modify_qp"})
    void createUcWithAttributes() throws RdmaException {
        assertCreated(QueuePairType.UC, false, QueuePairState.INIT);
    }

    @Test
    @DisplayName("QPTest.test_create_ud_qp_with_attr")
    @Covers({"ibv_create_qp", "ibv_modify_qp"})
    void createUdWithAttributes() throws RdmaException {
        assertCreated(QueuePairType.UD, false, QueuePairState.RTS);
    }

    @Test
    @DisplayName("QPTest.test_create_raw_qp_with_attr")
    @Covers({"ibv_create_qp", "ibv_modify_qp"})
    void createRawWithAttributes() throws RdmaException {
        assertCreated(QueuePairType.RAW_PACKET, false, QueuePairState.RTS);
    }

    @Test
    @DisplayName("QPTest.test_create_rc_qp_ex_no_attr")
    @Covers({"ibv_create_qp_ex", "ibv_destroy_qp"})
    void createExtendedRc() throws RdmaException {
        assertCreated(QueuePairType.RC, true, QueuePairState.RESET);
    }

    @Test
    @DisplayName("QPTest.test_create_uc_qp_ex_no_attr")
    @Covers({"ibv_create_qp_ex", "ibv_destroy_qp"})
    void createExtendedUc() throws RdmaException {
        assertCreated(QueuePairType.UC, true, QueuePairState.RESET);
    }

    @Test
    @DisplayName("QPTest.test_create_ud_qp_ex_no_attr")
    @Covers({"ibv_create_qp_ex", "ibv_destroy_qp"})
    void createExtendedUd() throws RdmaException {
        assertCreated(QueuePairType.UD, true, QueuePairState.RESET);
    }

    @Test
    @DisplayName("QPTest.test_create_raw_qp_ex_no_attr")
    @Covers({"ibv_create_qp_ex", "ibv_destroy_qp"})
    void createExtendedRaw() throws RdmaException {
        assertCreated(QueuePairType.RAW_PACKET, true, QueuePairState.RESET);
    }

    @Test
    @DisplayName("QPTest.test_create_rc_qp_ex_with_attr")
    @Covers({"ibv_create_qp_ex", "ibv_modify_qp"})
    void createExtendedRcWithAttributes() throws RdmaException {
        assertCreated(QueuePairType.RC, true, QueuePairState.INIT);
    }

    @Test
    @DisplayName("QPTest.test_create_uc_qp_ex_with_attr")
    @Covers({"ibv_create_qp_ex", "ibv_modify_qp"})
    void createExtendedUcWithAttributes() throws RdmaException {
        assertCreated(QueuePairType.UC, true, QueuePairState.INIT);
    }

    @Test
    @DisplayName("QPTest.test_create_ud_qp_ex_with_attr")
    @Covers({"ibv_create_qp_ex", "ibv_modify_qp"})
    void createExtendedUdWithAttributes() throws RdmaException {
        assertCreated(QueuePairType.UD, true, QueuePairState.RTS);
    }

    @Test
    @DisplayName("QPTest.test_create_raw_qp_ex_with_attr")
    @Covers({"ibv_create_qp_ex", "ibv_modify_qp"})
    void createExtendedRawWithAttributes() throws RdmaException {
        assertCreated(QueuePairType.RAW_PACKET, true, QueuePairState.RTS);
    }

    private void assertTooMuch(Consumer<QueuePairInitAttributes.Builder> change) {
        // the peer's cases are named for raw packets and use datagrams too
        QueuePairInitAttributes.Builder builder = attributes(QueuePairType.UD, false);
        change.accept(builder);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> domain.createQueuePair(builder.build()))
                .withMessageStartingWith("ibv_create_qp (UD, QueuePairCapabilities[")
                .satisfies(e -> assertThat(e.errno()).isPositive());
    }

    @Test
    @DisplayName("QPTest.test_create_raw_qp_ex_with_illegal_caps_max_send_wr")
    @Covers("ibv_create_qp")
    void tooManySends() {
        assertTooMuch(builder -> builder.maxSendRequests(Integer.MAX_VALUE));
    }

    @Test
    @DisplayName("QPTest.test_create_raw_qp_ex_with_illegal_caps_max_send_sge")
    @Covers("ibv_create_qp")
    void tooManySendEntries() {
        assertTooMuch(builder -> builder.maxSendScatterGather(0xffff));
    }

    @Test
    @DisplayName("QPTest.test_create_raw_qp_ex_with_illegal_caps_max_recv_sge")
    @Covers("ibv_create_qp")
    void tooManyReceiveEntries() {
        assertTooMuch(builder -> builder.maxReceiveScatterGather(0xffff));
    }

    @Test
    @DisplayName("QPTest.test_create_raw_qp_ex_with_illegal_caps_max_recv_wr")
    @Covers("ibv_create_qp")
    void tooManyReceives() {
        assertTooMuch(builder -> builder.maxReceiveRequests(Integer.MAX_VALUE));
    }

    private void assertQueried(QueuePairType type) throws RdmaException {
        for (boolean extended : new boolean[] {false, true}) {
            try (QueuePair pair = create(type, extended)) {
                QueuePairStatus status = pair.query();
                assertState(status.attributes().state(), QueuePairState.RESET);
                assertThat(status.sendQueueDraining()).isFalse();
                QueuePairCapabilities sizes = status.initAttributes().capabilities();
                assertThat(sizes.maxSendRequests()).isGreaterThanOrEqualTo(8);
                assertThat(sizes.maxReceiveRequests()).isGreaterThanOrEqualTo(9);
                assertThat(sizes.maxSendScatterGather()).isGreaterThanOrEqualTo(3);
                assertThat(sizes.maxReceiveScatterGather()).isGreaterThanOrEqualTo(4);
                assertThat(sizes.maxInlineData()).isGreaterThanOrEqualTo(16);
                assertThat(status.initAttributes().type()).isEqualTo(type);
                assertThat(status.initAttributes().sendCompletionQueue()).containsSame(queue);
            }
        }
    }

    @Test
    @DisplayName("QPTest.test_query_rc_qp")
    @Covers("ibv_query_qp")
    void queryRc() throws RdmaException {
        assertQueried(QueuePairType.RC);
    }

    @Test
    @DisplayName("QPTest.test_query_uc_qp")
    @Covers("ibv_query_qp")
    void queryUc() throws RdmaException {
        assertQueried(QueuePairType.UC);
    }

    @Test
    @DisplayName("QPTest.test_query_ud_qp")
    @Covers("ibv_query_qp")
    void queryUd() throws RdmaException {
        assertQueried(QueuePairType.UD);
    }

    @Test
    @DisplayName("QPTest.test_query_raw_qp")
    @Covers("ibv_query_qp")
    void queryRaw() throws RdmaException {
        assertQueried(QueuePairType.RAW_PACKET);
    }

    @Test
    @DisplayName("QPTest.test_query_data_in_order")
    @Covers("ibv_query_qp_data_in_order")
    void queryDataInOrder() throws RdmaException {
        try (QueuePair pair = create(QueuePairType.UD, false)) {
            pair.modify(toInit(QueuePairType.UD));
            toRts(pair, QueuePairType.UD);
            // no driver of today promises it for messages
            assertThat(pair.queryDataInOrder(SendOpcode.SEND)).isIn(true, false);
        }
    }

    @Test
    @DisplayName("QPTest.test_modify_ud_qp")
    @Covers({"ibv_modify_qp", "ibv_query_qp"})
    void modifyUd() throws RdmaException {
        for (boolean extended : new boolean[] {false, true}) {
            try (QueuePair pair = create(QueuePairType.UD, extended)) {
                pair.modify(toInit(QueuePairType.UD));
                assertThat(pair.query().attributes().queueKey()).isEqualTo(KEY);
                toRts(pair, QueuePairType.UD);
                assertThat(pair.query().attributes().sendPacketNumber()).isEqualTo(PACKET_NUMBER);
                pair.modify(QueuePairAttributes.builder().state(QueuePairState.RTS).queueKey(KEY + 1).build());
                assertThat(pair.query().attributes().queueKey()).isEqualTo(KEY + 1);
            }
        }
    }

    @Test
    @Covers({"ibv_open_xrcd", "ibv_create_srq_ex", "ibv_get_srq_num", "ibv_post_srq_ops", "ibv_query_ece",
            "ibv_set_ece", "ibv_modify_qp_rate_limit", "ibv_create_qp_ex"})
    void whatSoftRoceLacksIsRefusedAsUnsupported() throws RdmaException {
        Assumptions.assumeTrue(context.deviceName().startsWith("rxe"), "not a SoftRoCE device, which lacks all of it");
        try (QueuePair pair = create(QueuePairType.RC, false); SharedReceiveQueue shared = domain
                .createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().build())) {
            assertUnsupported("ibv_open_xrcd", () -> context.openXrcDomain());
            assertUnsupported("ibv_query_ece", pair::queryEce);
            assertUnsupported("ibv_set_ece", () -> pair.setEce(new Ece(1, 1)));
            assertUnsupported("ibv_modify_qp_rate_limit", () -> pair.modifyRateLimit(new RateLimit(1, 1, 1)));
            assertUnsupported("ibv_post_srq_ops",
                    () -> shared.postOperations(TagOperations.allocate(1, 1), 0, 1));
            for (QueuePairCreateFlag flag : EnumSet.of(QueuePairCreateFlag.SCATTER_FCS,
                    QueuePairCreateFlag.BLOCK_SELF_MCAST_LB)) {
                assertUnsupported("ibv_create_qp_ex", () -> domain.createQueuePair(
                        attributes(QueuePairType.UD, false).createFlags(flag).build()));
            }
            assertUnsupported("ibv_create_qp_ex", () -> domain.createQueuePair(attributes(QueuePairType.RC, false)
                    .sendOperations(EnumSet.of(SendOperation.TSO)).build()));
            assertUnsupported("ibv_create_qp_ex", () -> domain.createQueuePair(
                    attributes(QueuePairType.UD, false).maxTsoHeader(54).build()));
            assertUnsupported("ibv_create_qp", () -> domain.createQueuePair(
                    attributes(QueuePairType.DRIVER, false).build()));
            assertUnsupported("ibv_create_qp", () -> domain.createQueuePair(QueuePairInitAttributes.builder()
                    .type(QueuePairType.XRC_SEND).sendCompletionQueue(queue).build()));
            assertUnsupported("ibv_create_srq_ex", () -> domain.createSharedReceiveQueue(
                    SharedReceiveQueueInitAttributes.builder().tagMatching(queue, 4, 4).build()));
        }
    }

    @FunctionalInterface
    private interface Use {
        void run() throws RdmaException;
    }

    private static void assertUnsupported(String function, Use use) {
        assertThatExceptionOfType(RdmaUnsupportedException.class).describedAs(function).isThrownBy(use::run)
                .withMessageStartingWith(function);
    }
}
