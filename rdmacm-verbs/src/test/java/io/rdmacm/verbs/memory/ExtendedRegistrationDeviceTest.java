// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.InstalledLibrary;
import io.rdmacm.verbs.testing.MessageTraffic;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Regions with all attributes: used where the library has them. */
@RequiresRdma
class ExtendedRegistrationDeviceTest {
    private static final int LENGTH = 1000;
    private static final int PAGE = 4096;

    @BeforeEach
    void requireLibrary() {
        InstalledLibrary.requireRelease(59);
    }

    private static TrafficEnd.Builder writing() {
        return new TrafficEnd.Builder().operations(Set.of(SendOperation.RDMA_WRITE));
    }

    /** Writes from one end to a region of the other. */
    static void write(TrafficEnd one, MemoryRegion target, int number) throws Exception {
        one.fill(0, LENGTH, number);
        try (SendBatch batch = one.pair.startBatch()) {
            batch.rdmaWrite(target.remoteAddress(), target.remoteKey(), one.region, 0, LENGTH);
            batch.complete();
        }
        one.success();
        assertThat(target.memory().asSlice(0, LENGTH).toArray(ValueLayout.JAVA_BYTE)).containsOnly(number);
    }

    @Test
    @Covers("ibv_reg_mr_ex")
    void aPeerWritesToTheRegion() throws Exception {
        MessageTraffic.connected(writing(), (one, other) -> {
            try (Arena arena = Arena.ofShared(); MemoryRegion region = ExtendedRegistration.of(
                    arena.allocate(PAGE, PAGE)).register(other.domain, AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_WRITE)) {
                write(one, region, 1);
            }
        });
    }

    @Test
    @Covers("ibv_reg_mr_ex")
    void aPeerWritesByAnotherAddress() throws Exception {
        MessageTraffic.connected(writing(), (one, other) -> {
            try (Arena arena = Arena.ofShared(); MemoryRegion region = ExtendedRegistration.of(
                    arena.allocate(PAGE, PAGE)).deviceAddress(0x10000).register(other.domain, AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_WRITE)) {
                assertThat(region.remoteAddress()).isEqualTo(0x10000);
                write(one, region, 2);
            }
        });
    }

    @Test
    @Covers("ibv_reg_mr_ex")
    void whatIsNoDmaBufIsRefused() throws RdmaException {
        try (TrafficEnd end = writing().build()) {
            assertThatExceptionOfType(RdmaException.class).isThrownBy(
                    () -> ExtendedRegistration.ofDmaBuf(end.context.commandFd(), 0, PAGE, 0).register(end.domain))
                    .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_reg_mr_ex"));
        }
    }

    @Test
    @Covers({"ibv_alloc_dmah", "ibv_dealloc_dmah"})
    void aDmaHandleIsUsedWhereTheDeviceHasThem() throws RdmaException {
        try (TrafficEnd end = writing().build()) {
            DmaHandle handle;
            try {
                handle = DmaHandle.allocate(end.context, DmaHandleAttributes.builder().cpu(0).build());
            } catch (RdmaUnsupportedException e) {
                assertThat(e).hasMessageStartingWith("ibv_alloc_dmah: EOPNOTSUPP");
                return;
            }
            MemorySegment memory = end.region.memory();
            try (handle; MemoryRegion region = ExtendedRegistration.of(memory).dmaHandle(handle)
                    .register(end.domain)) {
                assertThat(region.isOpen()).isTrue();
            }
        }
    }
}
