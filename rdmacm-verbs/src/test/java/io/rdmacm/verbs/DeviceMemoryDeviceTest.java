// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Memory on the device itself: used where there is some, refused where there is none. */
@RequiresRdma(connectedByHand = true)
class DeviceMemoryDeviceTest {
    private static final int SIZE = 256;
    private static final int THREADS = 5;

    private TrafficEnd[] ends;
    private VerbsContext context;
    private long most;

    @BeforeEach
    void open() throws RdmaException {
        ends = TrafficEnd.connected(new TrafficEnd.Builder());
        context = ends[0].context;
        most = context.queryDeviceEx().maxDeviceMemory();
    }

    @AfterEach
    void close() throws RdmaException {
        for (TrafficEnd end : ends) {
            end.close();
        }
    }

    private void require() {
        Assumptions.assumeTrue(most > 0, "the device has no device memory (max_dm_size 0)");
    }

    private DeviceMemory allocate() throws RdmaException {
        require();
        return context.allocateDeviceMemory(SIZE, 2);
    }

    private static MemorySegment bytes(Arena arena, int length, int value) {
        return arena.allocate(length, Long.BYTES).fill((byte) value);
    }

    @Test
    @Covers({"ibv_alloc_dm", "ibv_import_dm"})
    void aDeviceWithoutItRefuses() throws Exception {
        Assumptions.assumeTrue(most == 0, "the device has device memory");
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> context.allocateDeviceMemory(SIZE, 0))
                .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_alloc_dm"));
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> context.importDeviceMemory(1))
                .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_import_dm"));
    }

    @Test
    @DisplayName("DMTest.test_create_dm")
    @Covers("ibv_alloc_dm")
    void create() throws Exception {
        try (DeviceMemory memory = allocate()) {
            assertThat(memory.length()).isEqualTo(SIZE);
        }
    }

    @Test
    @DisplayName("DMTest.test_create_dm_bad_flow")
    @Covers("ibv_alloc_dm")
    void tooMuch() throws Exception {
        require();
        assertThatThrownBy(() -> context.allocateDeviceMemory(most + 1, 0)).isInstanceOf(RdmaException.class);
    }

    @Test
    @DisplayName("DMTest.test_destroy_dm")
    @Covers("ibv_free_dm")
    void destroy() throws Exception {
        DeviceMemory memory = allocate();
        memory.close();
        assertThat(memory.isOpen()).isFalse();
    }

    @Test
    @DisplayName("DMTest.test_destroy_dm_bad_flow")
    @Covers("ibv_free_dm")
    void destroyTwice() throws Exception {
        DeviceMemory memory = allocate();
        memory.close();
        memory.close();
        assertThat(memory.isOpen()).isFalse();
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> memory.copyFrom(0, bytes(arena, 8, 'a')));
        }
    }

    @Test
    @DisplayName("DMTest.test_dm_write")
    @Covers("ibv_memcpy_to_dm")
    void write() throws Exception {
        try (Arena arena = Arena.ofConfined(); DeviceMemory memory = allocate()) {
            memory.copyFrom(0, bytes(arena, SIZE, 'z'));
            memory.copyFrom(4, bytes(arena, 128, 'a'));
            MemorySegment all = arena.allocate(SIZE);
            memory.copyTo(0, all);
            assertThat(all.asSlice(0, 4).toArray(ValueLayout.JAVA_BYTE)).containsOnly('z');
            assertThat(all.asSlice(4, 128).toArray(ValueLayout.JAVA_BYTE)).containsOnly('a');
            assertThat(all.asSlice(132).toArray(ValueLayout.JAVA_BYTE)).containsOnly('z');
        }
    }

    @Test
    @DisplayName("DMTest.test_dm_write_bad_flow")
    @Covers("ibv_memcpy_to_dm")
    void writeToAnOddOffset() throws Exception {
        try (Arena arena = Arena.ofConfined(); DeviceMemory memory = allocate()) {
            assertThatThrownBy(() -> memory.copyFrom(1, bytes(arena, 128, 'a'))).isInstanceOf(RdmaException.class);
        }
    }

    @Test
    @DisplayName("DMTest.test_dm_read")
    @Covers("ibv_memcpy_from_dm")
    void read() throws Exception {
        try (Arena arena = Arena.ofConfined(); DeviceMemory memory = allocate()) {
            memory.copyFrom(4, bytes(arena, 128, 'a'));
            MemorySegment back = arena.allocate(128);
            memory.copyTo(4, back);
            assertThat(back.toArray(ValueLayout.JAVA_BYTE)).containsOnly('a');
        }
    }

    @Test
    @DisplayName("DMTest.test_multi_process_alloc_dm")
    @Covers("ibv_alloc_dm")
    void allocatedByManyAtOnce() throws Exception {
        require();
        // of one process: several contexts would not change what is shared, which is the device
        List<Background<DeviceMemory>> tasks = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            tasks.add(Background.call(() -> context.allocateDeviceMemory(most / 2 / THREADS & ~3L, 0)));
        }
        for (Background<DeviceMemory> task : tasks) {
            task.result().close();
            task.close();
        }
    }

    @Test
    @DisplayName("SharedDMTest.test_import_dm")
    @Covers({"ibv_import_device", "ibv_import_dm", "ibv_unimport_dm"})
    void imported() throws Exception {
        try (Arena arena = Arena.ofConfined(); DeviceMemory memory = allocate()) {
            VerbsContext other = importContext();
            try (other; DeviceMemory same = other.importDeviceMemory(memory.kernelHandle())) {
                memory.copyFrom(0, bytes(arena, 64, 'b'));
                MemorySegment back = arena.allocate(64);
                same.copyTo(0, back);
                assertThat(back.toArray(ValueLayout.JAVA_BYTE)).containsOnly('b');
            }
        }
    }

    private VerbsContext importContext() throws RdmaException {
        try {
            return Device.importDevice(context.commandFd());
        } catch (RdmaUnsupportedException e) {
            Assumptions.abort("the driver cannot import: " + e.getMessage());
            throw e;
        }
    }

    @Test
    @DisplayName("DeviceMemoryAPITest.test_create_dm_mr")
    @Covers("ibv_reg_dm_mr")
    void registered() throws Exception {
        try (DeviceMemory memory = allocate()) {
            for (int length : new int[] {4, SIZE / 2, SIZE}) {
                try (MemoryRegion region = ends[0].domain.register(memory, 0, length, AccessFlag.ZERO_BASED,
                        AccessFlag.LOCAL_WRITE)) {
                    assertThat(region.length()).isEqualTo(length);
                }
            }
        }
    }

    @Test
    @DisplayName("DeviceMemoryAPITest.test_dm_bad_access")
    @Covers({"ibv_memcpy_to_dm", "ibv_memcpy_from_dm"})
    void badAccess() throws Exception {
        try (Arena arena = Arena.ofConfined(); DeviceMemory memory = allocate()) {
            assertRefused(memory, 3, arena.allocate(4), RdmaException.class);
            assertRefused(memory, 4, arena.allocate(3), RdmaException.class);
            assertRefused(memory, SIZE + 4, arena.allocate(4), IndexOutOfBoundsException.class);
            assertRefused(memory, 0, arena.allocate(SIZE + 4), IndexOutOfBoundsException.class);
        }
    }

    private static void assertRefused(DeviceMemory memory, long offset, MemorySegment host,
            Class<? extends Exception> failure) {
        assertThatThrownBy(() -> memory.copyTo(offset, host)).isInstanceOf(failure);
        assertThatThrownBy(() -> memory.copyFrom(offset, host)).isInstanceOf(failure);
    }

    @Test
    @DisplayName("DeviceMemoryAPITest.test_dm_bad_registration")
    @Covers("ibv_reg_dm_mr")
    void badRegistration() throws Exception {
        try (DeviceMemory memory = allocate()) {
            assertThatThrownBy(() -> ends[0].domain.register(memory, 0, SIZE + 4, AccessFlag.ZERO_BASED))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    private void assertTraffic(boolean write) throws Exception {
        require();
        try (Arena arena = Arena.ofConfined();
                DeviceMemory source = ends[0].context.allocateDeviceMemory(SIZE, 2);
                DeviceMemory target = ends[1].context.allocateDeviceMemory(SIZE, 2);
                MemoryRegion from = ends[0].domain.register(source, 0, SIZE, AccessFlag.ZERO_BASED,
                        AccessFlag.LOCAL_WRITE);
                MemoryRegion to = ends[1].domain.register(target, 0, SIZE, AccessFlag.ZERO_BASED,
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            source.copyFrom(0, bytes(arena, SIZE, 'c'));
            ends[1].pair.postReceive(ends[1].receive.data(to, 0, SIZE));
            SendRequest request = ends[0].send.data(from, 0, SIZE);
            ends[0].pair.postSend(write ? request.rdmaWriteWithImmediate(to.remoteAddress(), to.remoteKey(), 1)
                    : request.send());
            ends[0].success();
            ends[1].success();
            MemorySegment back = arena.allocate(SIZE);
            target.copyTo(0, back);
            assertThat(back.toArray(ValueLayout.JAVA_BYTE)).containsOnly('c');
        }
    }

    @Test
    @DisplayName("DeviceMemoryTest.test_dm_traffic")
    @Covers("ibv_reg_dm_mr")
    void messages() throws Exception {
        assertTraffic(false);
    }

    @Test
    @DisplayName("DeviceMemoryTest.test_dm_remote_traffic")
    @Covers("ibv_reg_dm_mr")
    void writes() throws Exception {
        assertTraffic(true);
    }
}
