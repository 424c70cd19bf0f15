// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Regions of real devices: what is refused, and what peers find in them. */
@RequiresRdma
class RegionTrafficTest {
    private static final int SIZE = 1024;
    private static final int ROUNDS = 20;

    /** Two connected ends. */
    private static final class Ends implements AutoCloseable {
        final TrafficEnd client;
        final TrafficEnd server;

        Ends(QueuePairType type) throws RdmaException {
            TrafficEnd[] both = TrafficEnd.connected(new TrafficEnd.Builder().type(type));
            client = both[0];
            server = both[1];
        }

        Ends() throws RdmaException {
            this(QueuePairType.RC);
        }

        @Override
        public void close() throws RdmaException {
            client.close();
            server.close();
        }
    }

    private static WorkCompletionStatus run(TrafficEnd end, SendRequest request) throws Exception {
        end.pair.postSend(request);
        return end.completion().status();
    }

    private static SendRequest request() {
        return SendRequests.allocate(1, 1).get(0);
    }

    private static ReceiveRequest receive() {
        return ReceiveRequests.allocate(1, 1).get(0);
    }

    private static VerbsContext openDevice() throws RdmaException {
        return Device.list().stream().filter(device -> device.name().equals(RdmaTestDevice.get().name())).findFirst()
                .orElseThrow().open();
    }

    private static void assertMessages(TrafficEnd from, MemoryRegion source, TrafficEnd to, MemoryRegion target)
            throws Exception {
        for (byte i = 1; i <= ROUNDS; i++) {
            source.memory().fill(i);
            to.pair.postReceive(receive().data(target, 0, SIZE));
            assertThat(run(from, request().data(source, 0, SIZE))).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(to.success().byteLength()).isEqualTo(SIZE);
            assertThat(target.memory().asSlice(0, SIZE).toArray(ValueLayout.JAVA_BYTE)).containsOnly(i);
        }
    }

    @Test
    @DisplayName("MRTest.test_reg_mr_bad_flags")
    @Covers("ibv_reg_mr")
    void badFlags() throws Exception {
        try (VerbsContext context = openDevice(); ProtectionDomain domain = context.allocateProtectionDomain()) {
            assertThatIllegalArgumentException().isThrownBy(() -> domain.allocate(SIZE, AccessFlag.REMOTE_WRITE))
                    .withMessageContaining("LOCAL_WRITE");
            assertThatIllegalArgumentException().isThrownBy(() -> domain.allocate(SIZE, AccessFlag.REMOTE_ATOMIC))
                    .withMessageContaining("LOCAL_WRITE");
        }
    }

    @Test
    @DisplayName("RoTestCase.test_ro_rc_traffic")
    @Covers({"ibv_reg_mr_iova2", "ibv_post_send"})
    void relaxedOrderingOverAConnection() throws Exception {
        try (Ends ends = new Ends();
                MemoryRegion source = ends.client.domain.allocate(SIZE, AccessFlag.LOCAL_WRITE,
                        AccessFlag.RELAXED_ORDERING);
                MemoryRegion target = ends.server.domain.allocate(SIZE, AccessFlag.LOCAL_WRITE,
                        AccessFlag.RELAXED_ORDERING)) {
            assertMessages(ends.client, source, ends.server, target);
            assertMessages(ends.server, target, ends.client, source);
        }
    }

    @Test
    @DisplayName("RoTestCase.test_ro_ud_traffic")
    @Covers({"ibv_reg_mr_iova2", "ibv_post_send"})
    void relaxedOrderingOfDatagrams() throws Exception {
        try (Ends ends = new Ends(QueuePairType.UD);
                MemoryRegion source = ends.client.domain.allocate(SIZE, AccessFlag.LOCAL_WRITE,
                        AccessFlag.RELAXED_ORDERING);
                MemoryRegion target = ends.server.domain.allocate(TrafficEnd.HEADER + SIZE, AccessFlag.LOCAL_WRITE,
                        AccessFlag.RELAXED_ORDERING)) {
            TrafficEnd client = ends.client;
            TrafficEnd server = ends.server;
            for (byte i = 1; i <= ROUNDS; i++) {
                source.memory().fill(i);
                server.pair.postReceive(receive().data(target, 0, TrafficEnd.HEADER + SIZE));
                assertThat(run(client, client.addressed().data(source, 0, SIZE)))
                        .isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(server.success().byteLength()).isEqualTo(TrafficEnd.HEADER + SIZE);
                assertThat(target.memory().asSlice(TrafficEnd.HEADER).toArray(ValueLayout.JAVA_BYTE)).containsOnly(i);
            }
        }
    }

    @Test
    @Covers({"ibv_reg_mr_iova", "ibv_post_send"})
    void aRegionUnderAnotherAddress() throws Exception {
        long address = 0x7000_0000_0000L;
        try (Arena arena = Arena.ofShared(); Ends ends = new Ends();
                MemoryRegion source = ends.client.domain.registerAt(arena.allocate(2L * SIZE, 4096), address,
                        AccessFlag.LOCAL_WRITE);
                MemoryRegion target = ends.server.domain.registerAt(arena.allocate(2L * SIZE, 4096), address,
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
                MemoryRegion zero = ends.server.domain.register(target.memory(), AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED)) {
            source.memory().asSlice(SIZE).fill((byte) 7);
            assertThat(run(ends.client, request().rdmaWrite(address + SIZE, target.remoteKey())
                    .data(source, SIZE, SIZE))).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(target.memory().asSlice(SIZE).toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
            assertThat(target.memory().asSlice(0, SIZE).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);

            assertThat(run(ends.client, request().rdmaWrite(16, zero.remoteKey())
                    .data(source, SIZE, 8))).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(target.memory().get(ValueLayout.JAVA_BYTE, 16)).isEqualTo((byte) 7);
            assertThat(target.memory().get(ValueLayout.JAVA_BYTE, 15)).isZero();
        }
    }

    @Test
    @Covers("ibv_reg_mr")
    void aSliceIsOnlyTheSlice() throws Exception {
        try (Arena arena = Arena.ofShared(); Ends ends = new Ends();
                MemoryRegion source = ends.client.domain.allocate(SIZE);
                MemoryRegion target = ends.server.domain.register(arena.allocate(3L * 4096, 4096).asSlice(4096, 4096),
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            source.memory().fill((byte) 3);
            assertThat(run(ends.client, request().rdmaWrite(target.remoteAddress() + 100,
                    target.remoteKey()).data(source, 0, SIZE))).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(target.memory().asSlice(100, SIZE).toArray(ValueLayout.JAVA_BYTE)).containsOnly(3);
            assertThat(run(ends.client, request().rdmaWrite(target.remoteAddress() - SIZE,
                    target.remoteKey()).data(source, 0, SIZE))).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    @Covers({"ibv_reg_mr", "ibv_post_send"})
    void theLastPageOfThreeGigabytesArrives() throws Exception {
        long bytes = 3L << 30;
        long free = availableMemory();
        Assumptions.assumeTrue(free > 2 * bytes - (1L << 30), "a test with a region of 3 GiB needs 5 GiB free, not "
                + (free >> 20) + " MiB");
        try (Ends ends = new Ends();
                MemoryRegion source = ends.client.domain.allocate(4096, AccessFlag.LOCAL_WRITE);
                MemoryRegion target = ends.server.domain.allocate(bytes, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ)) {
            assertThat(target.length()).isEqualTo(bytes);
            source.memory().fill((byte) 42);
            long page = bytes - 4096;
            assertThat(run(ends.client, request().rdmaWrite(target.remoteAddress() + page,
                    target.remoteKey()).data(source, 0, 4096))).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(target.memory().asSlice(page).toArray(ValueLayout.JAVA_BYTE)).containsOnly(42);
            assertThat(target.memory().get(ValueLayout.JAVA_BYTE, page - 1)).isZero();

            target.memory().asSlice(page).fill((byte) 43);
            ends.client.pair.postReceive(receive().data(source, 0, 4096));
            assertThat(run(ends.server, request().data(target, page, 4096)))
                    .isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(ends.client.success().byteLength()).isEqualTo(4096);
            assertThat(source.memory().toArray(ValueLayout.JAVA_BYTE)).containsOnly(43);
        }
    }

    private static long availableMemory() throws IOException {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream().filter(line -> line.startsWith("MemAvailable"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10).findFirst().orElse(0);
    }

    @Test
    @Covers("ibv_reg_mr_iova")
    void anAddressAtAnotherPlaceInItsPageIsRefused() throws Exception {
        try (Arena arena = Arena.ofShared(); VerbsContext context = openDevice();
                ProtectionDomain domain = context.allocateProtectionDomain()) {
            MemorySegment memory = arena.allocate(4096, 4096);
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> domain.registerAt(memory, 0x10008))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL()));
        }
    }
}
