// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** On-demand paging with advice, null regions and dma-buf: used where the device has them, refused elsewhere. */
@RequiresRdma
class PagingTest {
    private TrafficEnd client;
    private TrafficEnd server;
    private DeviceAttributesEx.OnDemandPaging paging;

    @BeforeEach
    void open() throws RdmaException {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder());
        client = ends[0];
        server = ends[1];
        paging = client.context.queryDeviceEx().onDemandPaging();
    }

    @AfterEach
    void close() throws RdmaException {
        client.close();
        server.close();
    }

    @Test
    @Covers("ibv_advise_mr")
    void adviceIsRefusedWithoutPaging() {
        Assumptions.assumeFalse(paging.supported(), "the device has on-demand paging");
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> client.domain
                .advise(MemoryAdvice.PREFETCH, true, new MemoryRange(client.region, 0, 8)))
                .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_advise_mr"));
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> client.domain.allocate(8, AccessFlag.ON_DEMAND))
                .withMessageContaining("the device has no on-demand paging");
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> client.domain.registerAllMemory(AccessFlag.LOCAL_WRITE))
                .withMessageContaining("the device has no implicit on-demand paging");
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> client.domain.registerAllMemory(AccessFlag.RELAXED_ORDERING));
    }

    @Test
    @Covers("ibv_alloc_null_mr")
    void aNullRegionIsThereOrRefused() throws Exception {
        try (MemoryRegion none = client.domain.allocateNullRegion()) {
            server.pair.postReceive(server.receive.data(server.region, 0, 64));
            server.fill(0, 64, 7);
            client.pair.postSend(client.send.send().data(none, 1L << 40, 64));
            client.success();
            server.success();
            assertThat(server.bytes(0, 64)).containsOnly(0);
        } catch (RdmaUnsupportedException e) {
            assertThat(e.function()).isEqualTo("ibv_alloc_null_mr");
        }
    }

    @Test
    @Covers("ibv_reg_dmabuf_mr")
    void whatIsNoDmaBufIsRefused() {
        // EOPNOTSUPP of a device that cannot do it, EBADF or EINVAL of one that looks at the file
        assertThatThrownBy(() -> client.domain.registerDmaBuf(client.context.commandFd(), 0, 4096, 0,
                AccessFlag.LOCAL_WRITE)).isInstanceOfSatisfying(RdmaException.class,
                        e -> assertThat(e.function()).isEqualTo("ibv_reg_dmabuf_mr"));
    }

    private void assertTraffic(MemoryAdvice advice, boolean flush) throws Exception {
        Assumptions.assumeTrue(paging.supported(), "the device has no on-demand paging");
        Assumptions.assumeTrue(paging.rc().contains(OdpCapability.SEND) && paging.rc().contains(OdpCapability.RECV),
                "no on-demand paging for messages: " + paging);
        try (MemoryRegion source = client.domain.allocate(TrafficEnd.SIZE, AccessFlag.LOCAL_WRITE,
                AccessFlag.ON_DEMAND);
                MemoryRegion target = server.domain.allocate(TrafficEnd.SIZE, AccessFlag.LOCAL_WRITE,
                        AccessFlag.ON_DEMAND)) {
            if (advice != null) {
                client.domain.advise(advice, flush, new MemoryRange(source, 0, TrafficEnd.SIZE));
                server.domain.advise(advice, flush, new MemoryRange(target, 0, TrafficEnd.SIZE));
            }
            source.memory().fill((byte) 6);
            server.pair.postReceive(server.receive.data(target, 0, TrafficEnd.SIZE));
            client.pair.postSend(client.send.send().data(source, 0, TrafficEnd.SIZE));
            client.success();
            server.success();
            assertThat(target.memory().mismatch(source.memory())).isEqualTo(-1);
        }
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_traffic")
    @Covers("ibv_reg_mr")
    void paged() throws Exception {
        assertTraffic(null, false);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_sync_prefetch_rc_traffic")
    @Covers("ibv_advise_mr")
    void fetchedBefore() throws Exception {
        assertTraffic(MemoryAdvice.PREFETCH_WRITE, true);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_async_prefetch_rc_traffic")
    @Covers("ibv_advise_mr")
    void fetchedMeanwhile() throws Exception {
        assertTraffic(MemoryAdvice.PREFETCH_WRITE, false);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_prefetch_sync_no_page_fault_rc_traffic")
    @Covers("ibv_advise_mr")
    void toldBefore() throws Exception {
        assertTraffic(MemoryAdvice.PREFETCH_NO_FAULT, true);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_prefetch_async_no_page_fault_rc_traffic")
    @Covers("ibv_advise_mr")
    void toldMeanwhile() throws Exception {
        assertTraffic(MemoryAdvice.PREFETCH_NO_FAULT, false);
    }

    private void assertRemote(boolean write) throws Exception {
        Assumptions.assumeTrue(paging.supported(), "the device has no on-demand paging");
        Assumptions.assumeTrue(paging.rc().contains(write ? OdpCapability.WRITE : OdpCapability.READ),
                "no on-demand paging for this operation: " + paging);
        try (MemoryRegion target = server.domain.allocate(TrafficEnd.SIZE, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND)) {
            client.fill(0, TrafficEnd.SIZE, 1);
            target.memory().fill((byte) 2);
            SendRequest request = write ? client.send.rdmaWrite(target.remoteAddress(), target.remoteKey())
                    : client.send.rdmaRead(target.remoteAddress(), target.remoteKey());
            client.pair.postSend(request.data(client.region, 0, TrafficEnd.SIZE));
            client.success();
            assertThat(target.memory().mismatch(client.region.memory())).isEqualTo(-1);
        }
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_rdma_write")
    @Covers("ibv_reg_mr")
    void pagedWrites() throws Exception {
        assertRemote(true);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_rdma_read")
    @Covers("ibv_reg_mr")
    void pagedReads() throws Exception {
        assertRemote(false);
    }
}
