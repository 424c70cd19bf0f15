// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.verbs.device.AtomicCapability;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.MemoryTraffic;
import io.rdmacm.verbs.testing.MessageTraffic;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The cases of pyverbs for atomic operations, under their names. */
@RequiresRdma
class AtomicDeviceTest {
    @BeforeEach
    void requireAtomics() throws RdmaException {
        try (VerbsContext context = Device.list().getFirst().open()) {
            Assumptions.assumeTrue(context.queryDevice().atomicCapability() != AtomicCapability.NONE,
                    "the device has no atomic operations");
        }
    }

    private static SendRequest add(TrafficEnd from, long address, int key) {
        return from.send.fetchAndAdd(address, key, 2).data(from.region, 8, 8);
    }

    /** A fetch-and-add that must end with a status, on both sides of the truth. */
    private static void refused(TrafficEnd.Builder builder, long offset, int keyDifference,
            WorkCompletionStatus expected, AccessFlag... access) throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(builder, access);
        try (TrafficEnd one = ends[0]; TrafficEnd other = ends[1]) {
            other.region.memory().fill((byte) 5);
            one.pair.postSend(add(one, other.address(offset), other.region.remoteKey() + keyDifference));
            assertThat(one.completion().status()).isEqualTo(expected);
            assertThat(other.bytes(0, 32)).containsOnly(5);
        }
    }

    @Test
    @DisplayName("AtomicTest.test_atomic_cmp_and_swap")
    @Covers("ibv_post_send")
    void compareAndSwap() throws Exception {
        MessageTraffic.connected(new TrafficEnd.Builder(), (one, other) -> MemoryTraffic.compareAndSwaps(
                one.requester(), MemoryTraffic.Place.of(one.region), MemoryTraffic.Place.of(other.region)));
    }

    @Test
    @DisplayName("AtomicTest.test_atomic_fetch_and_add")
    @Covers("ibv_post_send")
    void fetchAndAdd() throws Exception {
        MessageTraffic.connected(new TrafficEnd.Builder(), (one, other) -> MemoryTraffic.fetchAndAdds(one.requester(),
                MemoryTraffic.Place.of(one.region), MemoryTraffic.Place.of(other.region)));
    }

    @Test
    @DisplayName("AtomicTest.test_atomic_invalid_qp_access")
    @Covers("ibv_post_send")
    void theQueuePairDoesNotAllowIt() throws Exception {
        refused(new TrafficEnd.Builder(), 0, 0, WorkCompletionStatus.REM_INV_REQ_ERR, AccessFlag.LOCAL_WRITE);
    }

    @Test
    @DisplayName("AtomicTest.test_atomic_invalid_mr_access")
    @Covers("ibv_post_send")
    void theRegionDoesNotAllowIt() throws Exception {
        refused(new TrafficEnd.Builder().regionAccess(AccessFlag.LOCAL_WRITE), 0, 0,
                WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    @DisplayName("AtomicTest.test_atomic_non_aligned_addr")
    @Covers("ibv_post_send")
    void theAddressIsNoMultipleOf8() throws Exception {
        MessageTraffic.connected(new TrafficEnd.Builder(), (one, other) -> {
            SendRequest request = add(one, other.address(1), other.region.remoteKey());
            try {
                one.pair.postSend(request);
            } catch (WorkRequestException e) {
                assertThat(e.errnoName()).isEqualTo("EINVAL");
                return;
            }
            assertThat(one.completion().status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        });
    }

    @Test
    @DisplayName("AtomicTest.test_atomic_invalid_lkey")
    @Covers("ibv_post_send")
    void theLocalKeyIsNone() throws Exception {
        MessageTraffic.connected(new TrafficEnd.Builder(), (one, other) -> {
            MemoryRegion gone = one.domain.allocate(8, AccessFlag.LOCAL_WRITE);
            SendRequest request = one.send.fetchAndAdd(other.address(0), other.region.remoteKey(), 2)
                    .data(gone, 0, 8);
            gone.close();
            one.pair.postSend(request);
            assertThat(one.completion().status()).isIn(WorkCompletionStatus.LOC_PROT_ERR,
                    WorkCompletionStatus.LOC_QP_OP_ERR);
        });
    }

    @Test
    @DisplayName("AtomicTest.test_atomic_invalid_rkey")
    @Covers("ibv_post_send")
    void theRemoteKeyIsNone() throws Exception {
        refused(new TrafficEnd.Builder(), 0, 1, WorkCompletionStatus.REM_ACCESS_ERR);
    }
}
