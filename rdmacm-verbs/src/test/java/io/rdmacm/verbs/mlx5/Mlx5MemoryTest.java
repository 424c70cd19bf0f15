// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.LostMemory;
import io.rdmacm.verbs.testing.UseAfterClose;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Memory of the card, its operations, memory that commands name, and reserved numbers. */
@WithFakeMlx5
class Mlx5MemoryTest {
    private static final int BYTES = 8192;
    // numbers of requests to the kernel, from rdma/ib_user_ioctl_cmds.h and mlx5_user_ioctl_cmds.h
    private static final int DM_OBJECT = 14;
    private static final int DM_ALLOC = 0;
    private static final int DM_MAP_OPERATION = 1 << 12;
    // the order of FakeMlx5.lastMemory
    private static final int TYPE = 0;
    private static final int OPERATION = 1;
    private static final int LENGTH = 2;
    private static final int ACCESS = 3;
    private static final int PAGE_SIZES = 4;
    private static final int FILE = 5;

    @Test
    @Covers("mlx5dv_alloc_dm")
    void memoryForDataIsCopiedToAndFrom() throws Exception {
        try (Mlx5End one = new Mlx5End(); DeviceMemory memory = Mlx5DeviceMemory.allocate(one.context,
                Mlx5DeviceMemory.Type.DATA, BYTES, 2)) {
            one.fill(0, 64, 1);
            memory.copyFrom(4, one.memory().asSlice(0, 64));
            memory.copyTo(4, one.memory().asSlice(128, 64));

            assertThat(one.bytes(128, 64)).isEqualTo(one.bytes(0, 64));
            assertThat(FakeMlx5.lastMemory()[TYPE]).isZero();
            assertThat(FakeMlx5.lastMemory()[LENGTH]).isEqualTo(BYTES);
        }
    }

    @ParameterizedTest
    @CsvSource({"STEERING, 1", "HEADER_MODIFICATION, 2", "HEADER_MODIFICATION_PATTERN, 3"})
    @Covers("mlx5dv_alloc_dm")
    void otherMemoryIsNotCopied(Mlx5DeviceMemory.Type type, int kernelType) throws Exception {
        try (Mlx5End one = new Mlx5End();
                Mlx5DeviceMemory memory = Mlx5DeviceMemory.allocate(one.context, type, BYTES, 12)) {
            assertThat(memory.type()).isEqualTo(type);
            assertThat(FakeMlx5.lastMemory()[TYPE]).isEqualTo(kernelType);
            assertThatThrownBy(() -> memory.copyFrom(0, one.memory().asSlice(0, 4)))
                    .isInstanceOf(RdmaUnsupportedException.class);
        }
    }

    @Test
    @Covers("mlx5dv_alloc_dm")
    void memoryThatIsRefusedLeavesNothing() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            assertThatThrownBy(() -> Mlx5DeviceMemory.allocate(one.context, Mlx5DeviceMemory.Type.DATA, 1 << 20, 0))
                    .isInstanceOf(RdmaException.class).hasMessageContaining("EINVAL");
            assertThatThrownBy(() -> Mlx5DeviceMemory.allocate(one.context, Mlx5DeviceMemory.Type.DATA, 0, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            FakeMlx5.refuse(DM_OBJECT, DM_ALLOC, Rdma.ENOMEM());
            assertThatThrownBy(() -> Mlx5DeviceMemory.allocate(one.context, Mlx5DeviceMemory.Type.STEERING, 64, 0))
                    .isInstanceOf(RdmaException.class);
        }
    }

    @Test
    @Covers("mlx5dv_dm_map_op_addr")
    void anOperationIsAnotherViewOfTheMemory() throws Exception {
        try (Mlx5End one = new Mlx5End(); DeviceMemory memory = Mlx5DeviceMemory.allocate(one.context,
                Mlx5DeviceMemory.Type.DATA, BYTES, 2)) {
            DeviceMemoryOperation increment = DeviceMemoryOperation.map(memory, 5);

            assertThat(FakeMlx5.lastMemory()[OPERATION]).isEqualTo(5);
            // the memory begins 64 bytes behind the start of a page, and no more pages are mapped
            assertThat(increment.length()).isEqualTo(BYTES - 64);
            increment.write(BYTES - 68, 7);
            assertThat(increment.read(BYTES - 68)).isEqualTo(7);
            assertThatThrownBy(() -> increment.read(BYTES - 64)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> increment.write(2, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(memory::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("DeviceMemoryOperation");
            increment.close();
        }
    }

    @Test
    @Covers("mlx5dv_dm_map_op_addr")
    void anOperationThatTheCardDoesNotKnowIsRefused() throws Exception {
        try (Mlx5End one = new Mlx5End(); DeviceMemory memory = Mlx5DeviceMemory.allocate(one.context,
                Mlx5DeviceMemory.Type.DATA, 64, 0)) {
            assertThatThrownBy(() -> DeviceMemoryOperation.map(memory, 16))
                    .isInstanceOf(RdmaUnsupportedException.class);
            assertThatThrownBy(() -> DeviceMemoryOperation.map(memory, 256))
                    .isInstanceOf(IllegalArgumentException.class);
            FakeMlx5.refuse(DM_OBJECT, DM_MAP_OPERATION, Rdma.EPERM());
            assertThatThrownBy(() -> DeviceMemoryOperation.map(memory, 1)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("EPERM");
        }
    }

    @Test
    @Covers({"mlx5dv_devx_umem_reg_ex", "mlx5dv_devx_umem_dereg"})
    void memoryOfCommandsHasPagesOfGivenSizes() throws Exception {
        try (Mlx5End one = new Mlx5End(); Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BYTES, 4096);
            DevxUmem pages = one.own(DevxUmem.registerPages(one.context, memory, 4096 | 1 << 16,
                    AccessFlag.LOCAL_WRITE));
            long[] last = FakeMlx5.lastMemory();
            DevxUmem file = one.own(DevxUmem.registerDmaBuf(one.context, 5, 4096, BYTES, 4096,
                    AccessFlag.REMOTE_READ));
            long[] lastFile = FakeMlx5.lastMemory();

            assertThat(new long[] {last[LENGTH], last[ACCESS], last[PAGE_SIZES], last[FILE]})
                    .containsExactly(BYTES, AccessFlag.LOCAL_WRITE.bit(), 4096 | 1 << 16, -1);
            assertThat(new long[] {lastFile[LENGTH], lastFile[ACCESS], lastFile[PAGE_SIZES], lastFile[FILE]})
                    .containsExactly(BYTES, AccessFlag.REMOTE_READ.bit(), 4096, 5);
            assertThat(pages.id()).isNotZero().isNotEqualTo(file.id());
            assertThat(pages.memory()).isEqualTo(memory);
            assertThat(file.memory().byteSize()).isZero();
            assertThatThrownBy(() -> DevxUmem.registerPages(one.context, memory, 0))
                    .isInstanceOf(IllegalArgumentException.class).hasMessage("pages need a size");
            assertThatThrownBy(() -> DevxUmem.registerDmaBuf(one.context, -1, 0, 1, 4096))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void memoryOfCommandsThatIsLostStaysUntilTheDeviceCannotWriteItAnyMore() throws Exception {
        lost().assertKeptUntilDeregistered();
    }

    private static LostMemory lost() throws RdmaException {
        VerbsContext context = Mlx5Device.open(Device.list().getFirst());
        return LostMemory.of(DevxUmem.register(context, Arena.ofAuto().allocate(BYTES, 4096),
                AccessFlag.LOCAL_WRITE).memory(), context);
    }

    @Test
    @Covers({"mlx5dv_reserved_qpn_alloc", "mlx5dv_reserved_qpn_dealloc"})
    void reservedNumbersDiffer() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            // the card reserves four at a time
            List<Integer> numbers = Stream.of(1, 2, 3, 4).map(i -> reserve(one)).map(ReservedQueuePairNumber::number)
                    .toList();

            assertThat(numbers).doesNotHaveDuplicates();
            ReservedQueuePairNumber next = ReservedQueuePairNumber.reserve(one.context);
            assertThat(numbers).doesNotContain(next.number());
            assertThatThrownBy(one.context::close).isInstanceOf(IllegalStateException.class);
            next.close();
            next.close();
        }
    }

    private static ReservedQueuePairNumber reserve(Mlx5End end) {
        try {
            return end.own(ReservedQueuePairNumber.reserve(end.context));
        } catch (RdmaException e) {
            throw new AssertionError(e);
        }
    }

    @TestFactory
    Stream<DynamicTest> whatIsClosedIsNotUsed() throws Exception {
        try (Mlx5End one = new Mlx5End(); DeviceMemory memory = Mlx5DeviceMemory.allocate(one.context,
                Mlx5DeviceMemory.Type.DATA, 64, 0); Arena arena = Arena.ofConfined()) {
            DeviceMemoryOperation operation = DeviceMemoryOperation.map(memory, 1);
            DevxUmem registered = DevxUmem.registerPages(one.context, arena.allocate(64, 64), 4096);
            ReservedQueuePairNumber number = ReservedQueuePairNumber.reserve(one.context);
            operation.close();
            registered.close();
            number.close();
            return UseAfterClose.of(List.of(DeviceMemoryOperation.class, DevxUmem.class,
                    ReservedQueuePairNumber.class)).closed(operation).closed(registered).closed(number).tests();
        }
    }
}
