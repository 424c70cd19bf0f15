// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Set;

import io.rdmacm.verbs.device.DeviceCapability;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.InstalledLibrary;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.PlacementType;
import io.rdmacm.verbs.work.SelectivityLevel;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Flushes, where the library and the device have them: rdma-core 45 and, for SoftRoCE, a kernel of 6.2 or later
 * ({@code RDMA_KERNEL=6.12}).
 */
@RequiresRdma
class FlushDeviceTest {
    private static final int SINCE = 45;
    private static final int LENGTH = 1000;

    private static TrafficEnd.Builder flushing() {
        return new TrafficEnd.Builder().operations(Set.of(SendOperation.FLUSH, SendOperation.RDMA_WRITE));
    }

    @FunctionalInterface
    private interface Exchange {
        void between(TrafficEnd one, TrafficEnd other) throws Exception;
    }

    private static void connected(Exchange exchange) throws Exception {
        try (VerbsContext context = TrafficEnd.openDevice()) {
            InstalledLibrary.requireRelease(SINCE);
            Assumptions.assumeTrue(
                    context.queryDeviceEx().capabilities().contains(DeviceCapability.FLUSH_GLOBAL),
                    "the device has no flush, which SoftRoCE has in kernel 6.2 and later");
        }
        TrafficEnd[] ends = TrafficEnd.connected(
                flushing().regionAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.FLUSH_GLOBAL),
                AccessFlag.REMOTE_WRITE, AccessFlag.FLUSH_GLOBAL, AccessFlag.FLUSH_PERSISTENT);
        try (TrafficEnd one = ends[0]; TrafficEnd other = ends[1]) {
            exchange.between(one, other);
        }
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_flush")
    @Covers("ibv_wr_flush")
    void whatWasWrittenBeforeIsFlushed() throws Exception {
        connected((one, other) -> {
            int number = 0;
            for (SelectivityLevel level : SelectivityLevel.values()) {
                number++;
                one.fill(0, LENGTH, number);
                try (SendBatch batch = one.pair.startBatch()) {
                    batch.signaled(false).rdmaWrite(other.address(0), other.region.remoteKey())
                            .data(one.region, 0, LENGTH);
                    batch.id(number).signaled(true).flush(other.address(0), other.region.remoteKey(), LENGTH,
                            PlacementType.GLOBAL, level);
                    batch.complete();
                }
                WorkCompletion done = one.success();
                assertThat(done.workRequestId()).isEqualTo(number);
                assertThat(done.opcode()).isEqualTo(WorkCompletionOpcode.FLUSH);
                assertThat(other.bytes(0, LENGTH)).containsOnly(number);
            }
        });
    }

    @Test
    @DisplayName("QpExTestCase.test_qp_ex_rc_flush_type_violate")
    @Covers("ibv_wr_flush")
    void aPlacementThatTheRegionDoesNotGrantIsRefusedByThePeer() throws Exception {
        connected((one, other) -> {
            try (SendBatch batch = one.pair.startBatch()) {
                batch.flush(other.address(0), other.region.remoteKey(), LENGTH, PlacementType.PERSISTENT,
                        SelectivityLevel.RANGE);
                batch.complete();
            }
            assertThat(one.completion().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        });
    }

    @Test
    void anOlderLibraryIsNamedWhenAQueuePairIsToFlush() throws RdmaException {
        RdmaTestDevice.assumeConnectedByHand();
        int installed = InstalledLibrary.release();
        if (installed >= SINCE) {
            flushing().build().close();
            return;
        }
        assertThatExceptionOfType(NativeLibraryException.class).isThrownBy(() -> flushing().build())
                .withMessageContaining("ibv_wr_flush, which came with rdma-core 45")
                .withMessageContaining("the installed rdma-core " + installed + ".");
    }
}
