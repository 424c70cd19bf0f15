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
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.MemoryTraffic;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Regions of real devices: what is refused, and what peers find in them. */
@RequiresRdma
class MemoryRegionDeviceTest {
    private static final int SIZE = 1024;

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

    @Test
    @DisplayName("MRTest.test_reg_mr_bad_flags")
    @Covers("ibv_reg_mr")
    void badFlags() throws Exception {
        try (VerbsContext context = TrafficEnd.openDevice();
                ProtectionDomain domain = context.allocateProtectionDomain()) {
            assertThatIllegalArgumentException().isThrownBy(() -> domain.allocate(SIZE, AccessFlag.REMOTE_WRITE))
                    .withMessageContaining("LOCAL_WRITE");
            assertThatIllegalArgumentException().isThrownBy(() -> domain.allocate(SIZE, AccessFlag.REMOTE_ATOMIC))
                    .withMessageContaining("LOCAL_WRITE");
        }
    }

    private static void relaxedOrdering(QueuePairType type) throws Exception {
        try (Ends ends = new Ends(type);
                MemoryRegion source = relaxed(ends.client);
                MemoryRegion target = relaxed(ends.server)) {
            MemoryTraffic.pingPong(ends.client, MemoryTraffic.Place.of(source), ends.server,
                    MemoryTraffic.Place.of(target));
        }
    }

    private static MemoryRegion relaxed(TrafficEnd end) throws RdmaException {
        return end.domain.allocate(MemoryTraffic.ROOM, AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING);
    }

    @Test
    @DisplayName("RoTestCase.test_ro_rc_traffic")
    @Covers({"ibv_reg_mr_iova2", "ibv_post_send"})
    void relaxedOrderingOverAConnection() throws Exception {
        relaxedOrdering(QueuePairType.RC);
    }

    @Test
    @DisplayName("RoTestCase.test_ro_ud_traffic")
    @Covers({"ibv_reg_mr_iova2", "ibv_post_send"})
    void relaxedOrderingOfDatagrams() throws Exception {
        relaxedOrdering(QueuePairType.UD);
    }

    /** A process that is started begins as a copy of this one, and must not take the pages that are registered. */
    @Test
    @Covers("ibv_reg_mr")
    void processesAreStartedWhileMemoryIsRegistered() throws Exception {
        try (Arena arena = Arena.ofConfined(); Ends ends = new Ends();
                MemoryRegion source = ends.client.domain.register(arena.allocate(5000).asSlice(1, 4000));
                MemoryRegion target = ends.server.domain.register(arena.allocate(5000).asSlice(3, 4000),
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            SendRequest write = request().rdmaWrite(target.remoteAddress(), target.remoteKey()).data(source, 0, 4000);
            for (byte i = 1; i <= 20; i++) {
                Process process = new ProcessBuilder("true").start();
                source.memory().fill(i);
                target.memory().fill((byte) 0);
                assertThat(run(ends.client, write)).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(target.memory().toArray(ValueLayout.JAVA_BYTE)).containsOnly(i);
                assertThat(process.waitFor()).isZero();
            }
        }
    }

    @Test
    @Covers("ibv_alloc_null_mr")
    void aNullRegionSendsZeros() throws Exception {
        try (Ends ends = new Ends(); MemoryRegion none = nullRegion(ends.client.domain)) {
            ends.server.postReceive(1, 64);
            ends.server.fill(0, 64, 7);
            assertThat(run(ends.client, request().data(none, 1L << 40, 64))).isEqualTo(WorkCompletionStatus.SUCCESS);
            ends.server.success();
            assertThat(ends.server.bytes(0, 64)).containsOnly(0);
        }
    }

    private static MemoryRegion nullRegion(ProtectionDomain domain) throws RdmaException {
        try {
            return domain.allocateNullRegion();
        } catch (RdmaUnsupportedException e) {
            assertThat(e.function()).isEqualTo("ibv_alloc_null_mr");
            return Assumptions.abort("the device has no null regions");
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
        try (Arena arena = Arena.ofShared(); VerbsContext context = TrafficEnd.openDevice();
                ProtectionDomain domain = context.allocateProtectionDomain()) {
            MemorySegment memory = arena.allocate(4096, 4096);
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> domain.registerAt(memory, 0x10008))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL()));
        }
    }
}
