// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.testing.TrafficEnd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Protection domains of a real device, plain, parent and imported ones. */
@RequiresRdma(connectedByHand = true)
class ProtectionDomainDeviceTest {
    private static final int MANY = 100;
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private TrafficEnd[] ends;
    private VerbsContext context;

    @BeforeEach
    void open() throws RdmaException {
        ends = TrafficEnd.connected(new TrafficEnd.Builder());
        context = ends[0].context;
    }

    @AfterEach
    void close() throws RdmaException {
        for (TrafficEnd end : ends) {
            end.close();
        }
    }

    @Test
    @DisplayName("PDTest.test_alloc_pd")
    @Covers("ibv_alloc_pd")
    void allocate() throws Exception {
        try (ProtectionDomain domain = context.allocateProtectionDomain()) {
            assertThat(domain.context()).isSameAs(context);
            assertThat(domain.kernelHandle()).isNotEqualTo(ends[0].domain.kernelHandle());
        }
    }

    @Test
    @DisplayName("PDTest.test_dealloc_pd")
    @Covers("ibv_dealloc_pd")
    void deallocate() throws Exception {
        ProtectionDomain domain = context.allocateProtectionDomain();
        domain.close();
        assertThat(domain.isOpen()).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> domain.allocate(8));
    }

    @Test
    @DisplayName("PDTest.test_multiple_pd_creation")
    @Covers({"ibv_alloc_pd", "ibv_dealloc_pd"})
    void allocateMany() throws Exception {
        ResourceCounts before = ResourceCounts.now();
        for (int i = 0; i < MANY; i++) {
            context.allocateProtectionDomain().close();
        }
        assertThat(ResourceCounts.await(before, LIMIT)).isEqualTo(before);
    }

    @Test
    @DisplayName("PDTest.test_destroy_pd_twice")
    @Covers("ibv_dealloc_pd")
    void deallocateTwice() throws Exception {
        ProtectionDomain domain = context.allocateProtectionDomain();
        domain.close();
        domain.close();
        assertThat(domain.isOpen()).isFalse();
    }

    @Test
    @Covers({"ibv_alloc_td", "ibv_alloc_parent_domain", "ibv_import_pd", "ibv_import_mr"})
    void whatTheDeviceLacksIsUnsupported() throws Exception {
        try (ThreadDomain thread = context.allocateThreadDomain()) {
            assertThat(thread.context()).isSameAs(context);
        } catch (RdmaUnsupportedException e) {
            assertThat(e.function()).isEqualTo("ibv_alloc_td");
        }
        try (ParentDomain parent = ends[0].domain.allocateParentDomain(ParentDomainAttributes.create())) {
            assertThat(parent.protectionDomain()).isSameAs(ends[0].domain);
        } catch (RdmaUnsupportedException e) {
            assertThat(e.function()).isEqualTo("ibv_alloc_parent_domain");
        }
        if (isImportUnsupported()) {
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> context.importProtectionDomain(ends[0].domain.kernelHandle()))
                    .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_import_pd"));
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> ends[0].domain.importRegion(ends[0].region.kernelHandle()))
                    .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_import_mr"));
        }
    }

    private boolean isImportUnsupported() throws RdmaException {
        try {
            Device.importDevice(context.commandFd()).close();
            return false;
        } catch (RdmaUnsupportedException e) {
            return true;
        }
    }

    @Test
    @DisplayName("SharedPDTestCase.test_imported_rc_ex_rdma_write")
    @Covers({"ibv_import_device", "ibv_import_pd", "ibv_import_mr", "ibv_unimport_pd", "ibv_unimport_mr"})
    void imported() throws Exception {
        Assumptions.assumeFalse(isImportUnsupported(), "the driver cannot import a device");
        try (VerbsContext other = Device.importDevice(context.commandFd());
                ProtectionDomain domain = other.importProtectionDomain(ends[0].domain.kernelHandle());
                MemoryRegion region = domain.importRegion(ends[0].region.kernelHandle())) {
            assertThat(region.remoteKey()).isEqualTo(ends[0].region.remoteKey());
            ends[1].fill(0, TrafficEnd.SIZE, 9);
            ends[1].pair.postSend(ends[1].send.rdmaWrite(ends[0].address(0), region.remoteKey())
                    .data(ends[1].region, 0, TrafficEnd.SIZE));
            ends[1].success();
            assertThat(ends[0].bytes(0, TrafficEnd.SIZE)).containsOnly(9);
        }
    }
}
