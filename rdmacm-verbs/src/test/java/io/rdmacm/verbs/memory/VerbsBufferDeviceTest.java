// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.ValueLayout;
import java.util.Set;

import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.InstalledLibrary;
import io.rdmacm.verbs.testing.MessageTraffic;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Buffers of the driver, and dma-bufs that are exported, where the library has them. */
@RequiresRdma
class VerbsBufferDeviceTest {
    private static TrafficEnd.Builder writing() {
        return new TrafficEnd.Builder().operations(Set.of(SendOperation.RDMA_WRITE));
    }

    @Test
    @Covers({"ibv_alloc_buf", "ibv_reg_buf_mr", "ibv_free_buf"})
    void aPeerWritesToABuffer() throws Exception {
        InstalledLibrary.requireRelease(64);
        MessageTraffic.connected(writing(), (one, other) -> {
            try (VerbsBuffer buffer = VerbsBuffer.allocate(other.domain, 10_000)) {
                assertThat(buffer.memory().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
                try (MemoryRegion region = buffer.register(5000, 5000, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE);
                        MemoryRegion whole = ExtendedRegistration.of(buffer, 0, buffer.length()).register(
                                other.domain, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
                    ExtendedRegistrationDeviceTest.write(one, region, 1);
                    ExtendedRegistrationDeviceTest.write(one, whole, 2);
                }
            }
        });
    }

    @Test
    @Covers("ibv_export_buf_dmabuf_fd")
    void ordinaryMemoryIsNoDmaBuf() throws RdmaException {
        InstalledLibrary.requireRelease(65);
        try (TrafficEnd end = writing().build(); VerbsBuffer buffer = VerbsBuffer.allocate(end.domain, 100)) {
            assertThatExceptionOfType(RdmaException.class).isThrownBy(buffer::exportDmaBuf)
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ENODATA"));
        }
    }

    @Test
    @Covers("ibv_dm_export_dmabuf_fd")
    void deviceMemoryIsExportedWhereTheDeviceHasIt() throws RdmaException {
        InstalledLibrary.requireRelease(62);
        try (TrafficEnd end = writing().build()) {
            DeviceMemory memory;
            try {
                memory = end.context.allocateDeviceMemory(4096, 12);
            } catch (RdmaUnsupportedException e) {
                Assumptions.abort("the device has no memory of its own: " + e.getMessage());
                return;
            }
            try (memory; DmaBuf exported = DmaBuf.export(memory)) {
                assertThat(exported.fd()).isNotNegative();
            } catch (RdmaUnsupportedException e) {
                Assumptions.abort("the driver exports no device memory: " + e.getMessage());
            }
        }
    }
}
