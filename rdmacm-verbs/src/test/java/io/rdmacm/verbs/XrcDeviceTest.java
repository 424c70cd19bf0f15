// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Set;

import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.device.AtomicCapability;
import io.rdmacm.verbs.device.OdpCapability;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.HandMadePair;
import io.rdmacm.verbs.testing.MemoryTraffic;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.testing.XrcEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The peer's cases of extended reliable connections, under their names. */
@RequiresRdma
class XrcDeviceTest {
    private static final int ROUNDS = 50;

    @FunctionalInterface
    private interface Exchange {
        void between(XrcEnd one, XrcEnd other) throws Exception;
    }

    private static void connected(XrcEnd.Options options, Exchange exchange) throws Exception {
        try (XrcEnd one = new XrcEnd(TrafficEnd.openDevice(), options);
                XrcEnd other = new XrcEnd(TrafficEnd.openDevice(), options)) {
            AddressAttributes path = HandMadePair.route(one.context);
            one.connect(other, path);
            other.connect(one, path);
            exchange.between(one, other);
        }
    }

    private static void messages(XrcEnd.Options options, boolean withImmediate) throws Exception {
        connected(options, (one, other) -> {
            for (byte i = 1; i <= ROUNDS; i++) {
                for (int pair = 0; pair < XrcEnd.PAIRS; pair++) {
                    one.message(other, pair, i, withImmediate);
                    other.message(one, pair, (byte) -i, withImmediate);
                }
            }
        });
    }

    private static void atomics(MemoryTraffic.Remote atomics) throws Exception {
        connected(XrcEnd.Options.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC), (one, other) -> {
            Assumptions.assumeTrue(one.context.queryDevice().atomicCapability() != AtomicCapability.NONE,
                    "the device has no atomic operations");
            for (int pair = 0; pair < XrcEnd.PAIRS; pair++) {
                atomics.run(one.requester(other, pair), MemoryTraffic.Place.of(one.region),
                        MemoryTraffic.Place.of(other.region));
            }
        });
    }

    @Test
    @DisplayName("AtomicTest.test_xrc_atomic_cmp_and_swap")
    @Covers({"ibv_open_xrcd", "ibv_post_send"})
    void compareAndSwap() throws Exception {
        atomics(MemoryTraffic::compareAndSwaps);
    }

    @Test
    @DisplayName("AtomicTest.test_xrc_atomic_fetch_and_add")
    @Covers({"ibv_open_xrcd", "ibv_post_send"})
    void fetchAndAdd() throws Exception {
        atomics(MemoryTraffic::fetchAndAdds);
    }

    @Test
    @DisplayName("CqExTestCase.test_xrc_traffic_cq_ex")
    @Covers({"ibv_open_xrcd", "ibv_get_srq_num", "ibv_create_cq_ex"})
    void extendedQueue() throws Exception {
        messages(new XrcEnd.Options(true, Set.of(), AccessFlag.LOCAL_WRITE), false);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_xrc_send")
    @Covers({"ibv_open_xrcd", "ibv_wr_set_xrc_srqn"})
    void batches() throws Exception {
        messages(new XrcEnd.Options(false, Set.of(SendOperation.SEND), AccessFlag.LOCAL_WRITE), false);
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_xrc_send_imm")
    @Covers({"ibv_open_xrcd", "ibv_wr_set_xrc_srqn"})
    void batchesWithImmediates() throws Exception {
        messages(new XrcEnd.Options(false, Set.of(SendOperation.SEND_WITH_IMM), AccessFlag.LOCAL_WRITE), true);
    }

    @Test
    @DisplayName("RoTestCase.test_ro_xrc_traffic")
    @Covers({"ibv_open_xrcd", "ibv_reg_mr_iova2"})
    void relaxedOrdering() throws Exception {
        messages(XrcEnd.Options.of(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING), false);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_xrc_traffic")
    @Covers({"ibv_open_xrcd", "ibv_reg_mr"})
    void onDemandPaging() throws Exception {
        try (VerbsContext context = TrafficEnd.openDevice()) {
            Set<OdpCapability> paging = context.queryDeviceEx().xrcOnDemandPaging();
            Assumptions.assumeTrue(paging.containsAll(Set.of(OdpCapability.SEND, OdpCapability.SRQ_RECV)),
                    "no on-demand paging for messages of extended reliable connections: " + paging);
        }
        messages(XrcEnd.Options.of(AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND), false);
    }
}
