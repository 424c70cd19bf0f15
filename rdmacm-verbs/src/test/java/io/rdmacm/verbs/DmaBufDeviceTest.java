// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.DmaBuf;
import io.rdmacm.verbs.testing.MemoryTraffic;
import io.rdmacm.verbs.testing.MessageTraffic;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The peer's cases of dma-bufs, under their names: used where the device has them, refused elsewhere. */
@RequiresRdma
class DmaBufDeviceTest {
    private static final long LENGTH = 1 << 16;
    private static final long[] OFFSETS = {0, LENGTH / 2};
    private static final List<AccessFlag[]> ACCESS = List.of(new AccessFlag[] {AccessFlag.LOCAL_WRITE},
            new AccessFlag[] {AccessFlag.REMOTE_READ},
            new AccessFlag[] {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_ATOMIC});

    private VerbsContext context;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws RdmaException {
        context = TrafficEnd.openDevice();
        domain = context.allocateProtectionDomain();
    }

    @AfterEach
    void close() throws RdmaException {
        domain.close();
        context.close();
    }

    /** A file that is no dma-buf: a device that has them looks at it. */
    private MemoryRegion registerNoDmaBuf() throws RdmaException {
        return domain.registerDmaBuf(context.commandFd(), 0, 4096, 0, AccessFlag.LOCAL_WRITE);
    }

    /** A buffer, where the device can do something with it. */
    private DmaBuf allocate() throws RdmaException {
        try {
            registerNoDmaBuf().close();
        } catch (RdmaUnsupportedException e) {
            Assumptions.abort("the device registers no dma-bufs: " + e.getMessage());
        } catch (RdmaException e) {
            // it would register one
        }
        return DmaBuf.allocate(LENGTH + OFFSETS[1]);
    }

    @Test
    @Covers("ibv_reg_dmabuf_mr")
    void whatIsNoDmaBufIsRefused() {
        // EOPNOTSUPP of a device that cannot do it, EBADF or EINVAL of one that looks at the file
        assertThatThrownBy(() -> registerNoDmaBuf()).isInstanceOfSatisfying(RdmaException.class,
                e -> assertThat(e.function()).isEqualTo("ibv_reg_dmabuf_mr"));
    }

    @FunctionalInterface
    private interface Use {
        void run(MemoryRegion region, MemorySegment memory) throws Exception;
    }

    /** A use of regions with each access, at each offset. */
    private void assertEach(Use use) throws Exception {
        try (DmaBuf buffer = allocate()) {
            for (AccessFlag[] access : ACCESS) {
                for (long offset : OFFSETS) {
                    try (MemoryRegion region = domain.registerDmaBuf(buffer.fd(), offset, LENGTH, offset, access)) {
                        use.run(region, buffer.memory().asSlice(offset, LENGTH));
                    }
                }
            }
        }
    }

    @Test
    @DisplayName("DmaBufMRTest.test_dmabuf_reg_mr")
    @Covers("ibv_reg_dmabuf_mr")
    void register() throws Exception {
        assertEach((region, memory) -> {
            assertThat(region.length()).isEqualTo(LENGTH);
            assertThat(region.protectionDomain()).isSameAs(domain);
            assertThatIllegalStateException().isThrownBy(region::memory);
        });
    }

    @Test
    @DisplayName("DmaBufMRTest.test_dmabuf_dereg_mr")
    @Covers("ibv_dereg_mr")
    void deregister() throws Exception {
        assertEach((region, memory) -> {
            region.close();
            assertThat(region.isOpen()).isFalse();
        });
    }

    @Test
    @DisplayName("DmaBufMRTest.test_dmabuf_dereg_mr_twice")
    @Covers("ibv_dereg_mr")
    void deregisterTwice() throws Exception {
        assertEach((region, memory) -> {
            region.close();
            region.close();
        });
    }

    @Test
    @DisplayName("DmaBufMRTest.test_dmabuf_reg_mr_bad_flags")
    @Covers("ibv_reg_dmabuf_mr")
    void badFlags() throws Exception {
        try (DmaBuf buffer = allocate()) {
            for (AccessFlag[] access : List.of(new AccessFlag[] {AccessFlag.REMOTE_WRITE},
                    new AccessFlag[] {AccessFlag.REMOTE_ATOMIC},
                    new AccessFlag[] {AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC})) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> domain.registerDmaBuf(buffer.fd(), 0, LENGTH, 0, access))
                        .withMessageContaining("LOCAL_WRITE");
            }
        }
    }

    @Test
    @DisplayName("DmaBufMRTest.test_dmabuf_write")
    @Covers("ibv_reg_dmabuf_mr")
    void write() throws Exception {
        assertEach((region, memory) -> memory.fill((byte) 'a'));
    }

    @Test
    @DisplayName("DmaBufMRTest.test_dmabuf_read")
    @Covers("ibv_reg_dmabuf_mr")
    void read() throws Exception {
        assertEach((region, memory) -> {
            memory.fill((byte) 'a');
            assertThat(memory.asSlice(LENGTH / 4, LENGTH / 4).toArray(ValueLayout.JAVA_BYTE)).containsOnly('a');
        });
    }

    @Test
    @DisplayName("DmaBufMRTest.test_dmabuf_lkey")
    @Covers("ibv_reg_dmabuf_mr")
    void localKey() throws Exception {
        assertEach((region, memory) -> {
            try (MemoryRegion other = domain.allocate(8)) {
                assertThat(region.localKey()).isNotEqualTo(other.localKey());
            }
        });
    }

    @Test
    @DisplayName("DmaBufMRTest.test_dmabuf_rkey")
    @Covers("ibv_reg_dmabuf_mr")
    void remoteKey() throws Exception {
        assertEach((region, memory) -> {
            try (MemoryRegion other = domain.allocate(8, AccessFlag.REMOTE_READ)) {
                assertThat(region.remoteKey()).isNotEqualTo(other.remoteKey());
            }
        });
    }

    @FunctionalInterface
    private interface Traffic {
        void run(TrafficEnd one, MemoryTraffic.Place place, TrafficEnd other, MemoryTraffic.Place otherPlace)
                throws Exception;
    }

    private void assertTraffic(Traffic traffic) throws Exception {
        try (DmaBuf buffer = allocate(); DmaBuf otherBuffer = allocate()) {
            MessageTraffic.connected(new TrafficEnd.Builder(),
                    (one, other) -> traffic.run(one, place(one, buffer), other, place(other, otherBuffer)));
        }
    }

    private static MemoryTraffic.Place place(TrafficEnd end, DmaBuf buffer) throws RdmaException {
        return new MemoryTraffic.Place(end.own(end.domain.registerDmaBuf(buffer.fd(), 0, LENGTH, 0,
                AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)), buffer.memory());
    }

    @Test
    @DisplayName("DmaBufTestCase.test_dmabuf_rc_traffic")
    @Covers({"ibv_reg_dmabuf_mr", "ibv_post_send"})
    void messages() throws Exception {
        assertTraffic(MemoryTraffic::pingPong);
    }

    @Test
    @DisplayName("DmaBufTestCase.test_dmabuf_rdma_traffic")
    @Covers({"ibv_reg_dmabuf_mr", "ibv_post_send"})
    void writes() throws Exception {
        assertTraffic((one, place, other, otherPlace) -> {
            MemoryTraffic.writes(one.requester(), place, otherPlace);
            MemoryTraffic.writes(other.requester(), otherPlace, place);
        });
    }
}
