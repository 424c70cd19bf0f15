// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_mr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryAdvice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions that are not simply memory of the process: what C is called with, and what they can be used for. */
@WithFakeVerbs
class MemoryKindsTest {
    private FakeStack stack;
    private ProtectionDomain domain;
    private long pd;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        domain = stack.domain();
        pd = domain.handle().address();
        FakeVerbs.call("fake_serve_memory", stack.context().handle().address());
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    private static FakeVerbs.Call only(String function) {
        assertThat(FakeVerbs.calls(function)).hasSize(1);
        return FakeVerbs.calls(function).getFirst();
    }

    @Test
    @Covers({"ibv_reg_mr_iova", "ibv_reg_mr_iova2"})
    void aRegionUnderAnotherAddress() throws RdmaException {
        MemorySegment memory = stack.region().memory().asSlice(64, 128);
        long other = 0x8000_0000_0000_0040L;
        try (MemoryRegion region = domain.registerAt(memory, other, AccessFlag.LOCAL_WRITE)) {
            assertThat(only("ibv_reg_mr_iova").arguments())
                    .startsWith(pd, memory.address(), 128L, other, (long) Rdma.IBV_ACCESS_LOCAL_WRITE());
            assertThat(region.remoteAddress()).isEqualTo(other);
            assertThat(region.memory()).isSameAs(memory);
            SendRequest request = SendRequests.allocate(1, 1).get(0).data(region, 8, 16);
            stack.queuePair().postSend(request);
            assertThat(entry(only("post_send").data())).isEqualTo(other + 8);
            request.inline(true);
            assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(request))
                    .withMessageContaining("the processor cannot read inline data from");
        }
        domain.registerAt(memory, other, AccessFlag.RELAXED_ORDERING).close();
        assertThat(only("ibv_reg_mr_iova2").arguments())
                .startsWith(pd, memory.address(), 128L, other, (long) Rdma.IBV_ACCESS_RELAXED_ORDERING());
        assertThatIllegalArgumentException().isThrownBy(() -> domain.registerAt(MemorySegment.ofArray(new byte[8]), 0))
                .withMessageContaining("Java heap");
    }

    /** The address of the scatter list's entry behind the work request. */
    private static long entry(byte[] posted) {
        int list = posted.length - (int) ibv_sge.sizeof();
        return ByteBuffer.wrap(posted).order(ByteOrder.nativeOrder()).getLong(list);
    }

    @Test
    @Covers({"ibv_reg_mr_iova", "ibv_reg_mr_iova2"})
    void aZeroBasedRegionBeginsWithZero() throws RdmaException {
        try (MemoryRegion region = domain.allocate(100, AccessFlag.ZERO_BASED);
                MemoryRegion relaxed = domain.allocate(100, AccessFlag.ZERO_BASED, AccessFlag.RELAXED_ORDERING)) {
            assertThat(region.remoteAddress()).isZero();
            assertThat(relaxed.remoteAddress()).isZero();
            // newer kernels refuse the flag where the start says it already
            assertThat(only("ibv_reg_mr_iova").arguments())
                    .startsWith(pd, region.memory().address(), 100L, 0L, 0L);
            assertThat(only("ibv_reg_mr_iova2").arguments()).startsWith(pd, relaxed.memory().address(), 100L, 0L,
                    (long) Rdma.IBV_ACCESS_RELAXED_ORDERING());
        }
    }

    @Test
    void aRegionOfMoreThanFourGigabytesHasNoNarrowNumber() throws RdmaException {
        long huge = 5L << 32;
        MemorySegment memory = Memory.view(1 << 20, huge);
        try (MemoryRegion region = domain.register(memory)) {
            assertThat(only("ibv_reg_mr").arguments()).startsWith(pd, 1L << 20, huge);
            assertThat(region.length()).isEqualTo(huge);
            stack.queuePair().postSend(SendRequests.allocate(1, 1).get(0).data(region, huge - 16, 16));
            assertThat(entry(only("post_send").data())).isEqualTo((1 << 20) + huge - 16);
            assertThatThrownBy(() -> SendRequests.allocate(1, 1).get(0).data(region, huge - 15, 16))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    @Covers("ibv_reg_dmabuf_mr")
    void aDmaBufIsRegistered() throws RdmaException {
        long offset = 1L << 33;
        try (MemoryRegion region = domain.registerDmaBuf(17, offset, 3L << 32, 0x1000, AccessFlag.LOCAL_WRITE)) {
            assertThat(only("ibv_reg_dmabuf_mr").arguments()).startsWith(pd, offset, 3L << 32, 0x1000L, 17L,
                    (long) Rdma.IBV_ACCESS_LOCAL_WRITE());
            assertThat(region.remoteAddress()).isEqualTo(0x1000);
            assertThat(region.length()).isEqualTo(3L << 32);
            assertThatIllegalStateException().isThrownBy(region::memory)
                    .withMessageContaining("no memory that this process can access");
            SendRequest inline = SendRequests.allocate(1, 1).get(0).data(region, 0, 8).inline(true);
            assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(inline));
        }
        FakeVerbs.reset();
        assertThatIllegalArgumentException().isThrownBy(() -> domain.registerDmaBuf(-1, 0, 8, 0))
                .withMessageContaining("-1");
        assertThatIllegalArgumentException().isThrownBy(() -> domain.registerDmaBuf(1, -1, 8, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> domain.registerDmaBuf(1, 0, 0, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> domain.registerDmaBuf(1, 0, 8, 0, AccessFlag.REMOTE_WRITE));
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    @Covers("ibv_alloc_null_mr")
    void aNullRegionTakesAnyOffset() throws RdmaException {
        try (MemoryRegion region = domain.allocateNullRegion()) {
            assertThat(only("fake_alloc_null_mr").arguments()).startsWith(pd, 0L);
            assertThat(region.localKey()).isNegative();
            stack.queuePair().postSend(SendRequests.allocate(1, 1).get(0).data(region, 1L << 40, 16));
            assertThat(entry(only("post_send").data())).isEqualTo(1L << 40);
            assertThatIllegalStateException().isThrownBy(region::memory);
        }
        FakeVerbs.setExtendedOp(stack.context().handle(), "alloc_null_mr", 0);
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> domain.allocateNullRegion());
    }

    @ParameterizedTest
    @CsvSource({"PREFETCH,true", "PREFETCH_WRITE,false", "PREFETCH_NO_FAULT,true"})
    @Covers("ibv_advise_mr")
    void advice(MemoryAdvice advice, boolean flush) throws RdmaException {
        MemoryRegion region = stack.region();

        domain.advise(advice, flush, new MemoryRange(region, 16, 32), new MemoryRange(region, 4000, 96));

        FakeVerbs.Call call = only("fake_advise_mr");
        assertThat(call.arguments()).startsWith(pd, (long) advice.value(), flush ? 1L : 0L).element(4).isEqualTo(2L);
        ByteBuffer list = ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder());
        assertThat(list.getLong()).isEqualTo(region.memory().address() + 16);
        assertThat(list.getInt()).isEqualTo(32);
        assertThat(list.getInt()).isEqualTo(region.localKey());
        assertThat(list.getLong()).isEqualTo(region.memory().address() + 4000);
        FakeVerbs.fail("fake_advise_mr", Rdma.EFAULT());
        assertThatThrownBy(() -> domain.advise(advice, flush, new MemoryRange(region, 0, 1)))
                .hasMessageStartingWith("ibv_advise_mr: EFAULT");
        assertThatIllegalArgumentException().isThrownBy(() -> domain.advise(advice, flush))
                .withMessageContaining("at least one");
        assertThatThrownBy(() -> domain.advise(advice, flush, new MemoryRange(region, 4000, 97)))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    @Covers({"ibv_alloc_dm", "ibv_memcpy_to_dm", "ibv_memcpy_from_dm", "ibv_free_dm"})
    void deviceMemoryIsCopiedToAndFrom() throws RdmaException {
        try (Arena arena = Arena.ofConfined(); DeviceMemory memory = stack.context().allocateDeviceMemory(256, 6)) {
            FakeVerbs.Call call = only("fake_alloc_dm");
            assertThat(call.arguments()).startsWith(stack.context().handle().address());
            ByteBuffer attributes = ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder());
            assertThat(attributes.getLong()).isEqualTo(256);
            assertThat(attributes.getInt()).isEqualTo(6);
            assertThat(attributes.getInt()).isZero();
            long dm = memory.handle().address();

            memory.copyFrom(8, arena.allocateFrom(ValueLayout.JAVA_LONG, 1, 2, 3));
            long[] heap = new long[2];
            memory.copyTo(16, MemorySegment.ofArray(heap));

            assertThat(heap).containsExactly(2, 3);
            assertThat(only("copy_to").arguments()).startsWith(dm, 8L).element(3).isEqualTo(24L);
            assertThat(only("copy_from").arguments()).element(1).isEqualTo(dm);
            assertThat(only("copy_from").arguments()).element(2).isEqualTo(16L);
            assertThat(only("copy_from").arguments()).element(3).isEqualTo(16L);
            assertThat(memory.length()).isEqualTo(256);
            assertThat(memory.kernelHandle() >>> 28).isEqualTo(0xd);
            FakeVerbs.fail("copy_to", Rdma.EIO());
            assertThatThrownBy(() -> memory.copyFrom(0, MemorySegment.ofArray(heap)))
                    .hasMessageStartingWith("ibv_memcpy_to_dm: EIO");
            assertThatThrownBy(() -> memory.copyTo(2, MemorySegment.ofArray(heap)))
                    .hasMessageStartingWith("ibv_memcpy_from_dm: EFAULT");
        }
        assertThat(only("fake_free_dm").arguments().getFirst()).isNotZero();
    }

    @Test
    void whatDoesNotFitIntoDeviceMemoryIsRefusedBeforeAnyNativeCall() throws RdmaException {
        try (DeviceMemory memory = stack.context().allocateDeviceMemory(64, 0)) {
            FakeVerbs.reset();
            MemorySegment bytes = MemorySegment.ofArray(new byte[16]);
            for (long offset : new long[] {-1, 49, Long.MAX_VALUE}) {
                assertThatThrownBy(() -> memory.copyFrom(offset, bytes)).isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> memory.copyTo(offset, bytes)).isInstanceOf(IndexOutOfBoundsException.class);
            }
            assertThatThrownBy(() -> domain.register(memory, 60, 8, AccessFlag.ZERO_BASED))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatIllegalArgumentException().isThrownBy(() -> domain.register(memory, 0, 8))
                    .withMessageContaining("ZERO_BASED");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> domain.register(memory, 0, 0, AccessFlag.ZERO_BASED));
            try (FakeStack other = new FakeStack()) {
                FakeVerbs.reset();
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> other.domain().register(memory, 0, 8, AccessFlag.ZERO_BASED))
                        .withMessageContaining("another context");
                assertThat(FakeVerbs.calls()).isEmpty();
            }
        }
        assertThatIllegalArgumentException().isThrownBy(() -> stack.context().allocateDeviceMemory(0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> stack.context().allocateDeviceMemory(8, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> stack.context().allocateDeviceMemory(8, 64));
    }

    @Test
    @Covers("ibv_reg_dm_mr")
    void aRegionOfDeviceMemoryIsClosedBeforeIt() throws RdmaException {
        DeviceMemory memory = stack.context().allocateDeviceMemory(64, 0);
        MemoryRegion region = domain.register(memory, 16, 32, AccessFlag.ZERO_BASED, AccessFlag.LOCAL_WRITE);
        assertThat(only("fake_reg_dm_mr").arguments()).startsWith(pd, memory.handle().address(), 16L, 32L,
                (long) (Rdma.IBV_ACCESS_ZERO_BASED() | Rdma.IBV_ACCESS_LOCAL_WRITE()));
        assertThat(region.remoteAddress()).isZero();
        assertThatIllegalStateException().isThrownBy(memory::close).withMessageContaining("open children")
                .withMessageContaining(region.toString());

        region.close();
        memory.close();

        assertThat(FakeVerbs.functions()).containsSubsequence("ibv_dereg_mr", "fake_free_dm");
    }

    @Test
    void aDriverMayLackTheCopiesAndTheHandle() throws RdmaException {
        try (DeviceMemory memory = stack.context().allocateDeviceMemory(64, 0)) {
            FakeVerbs.call("fake_limit_dm", memory.handle().address());
            MemorySegment bytes = MemorySegment.ofArray(new byte[16]);
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> memory.copyFrom(0, bytes));
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> memory.copyTo(0, bytes));
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(memory::kernelHandle);
        }
    }

    @Test
    @Covers({"ibv_import_pd", "ibv_unimport_pd", "ibv_import_mr", "ibv_unimport_mr", "ibv_import_dm",
            "ibv_unimport_dm"})
    void whatIsImportedIsLetGoOfNotDestroyed() throws RdmaException {
        int handle = 0x8000_0007;
        long wide = Integer.toUnsignedLong(handle);
        ProtectionDomain imported = stack.context().importProtectionDomain(handle);
        MemoryRegion region = imported.importRegion(handle);
        DeviceMemory memory = stack.context().importDeviceMemory(handle);

        assertThat(only("ibv_import_pd").arguments()).startsWith(stack.context().handle().address(), wide);
        assertThat(only("ibv_import_mr").arguments()).startsWith(imported.handle().address(), wide);
        assertThat(only("ibv_import_dm").arguments()).startsWith(stack.context().handle().address(), wide);
        assertThat(imported.kernelHandle()).isEqualTo(handle);
        assertThat(region.kernelHandle()).isEqualTo(handle);
        assertThat(memory.kernelHandle()).isEqualTo(handle);
        assertThat(region.length()).isEqualTo(4096);
        assertThat(region.remoteKey()).isNegative();
        assertThatIllegalStateException().isThrownBy(region::memory);
        assertThatIllegalStateException().isThrownBy(imported::close).withMessageContaining(region.toString());

        region.close();
        memory.close();
        imported.close();

        assertThat(FakeVerbs.functions()).containsSubsequence("ibv_unimport_mr", "ibv_unimport_dm", "ibv_unimport_pd")
                .doesNotContain("ibv_dereg_mr", "fake_free_dm", "ibv_dealloc_pd");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_import_pd", "ibv_import_mr", "ibv_import_dm"})
    void aRefusedImportLeavesNothingBehind(String function) {
        FakeVerbs.fail(function, Rdma.EOPNOTSUPP());

        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> {
            switch (function) {
                case "ibv_import_pd" -> stack.context().importProtectionDomain(1);
                case "ibv_import_mr" -> domain.importRegion(1);
                default -> stack.context().importDeviceMemory(1);
            }
        }).withMessageStartingWith(function + " (handle 1): EOPNOTSUPP");
    }

    @Test
    void theKernelsNumberOfARegionIsReadFromIt() throws RdmaException {
        ibv_mr.handle(stack.region().handle(), -5);
        assertThat(stack.region().kernelHandle()).isEqualTo(-5);
    }
}
