// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_dmah_init_attr;
import io.rdmacm.bindings.ibv_mr_init_attr;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Regions with all attributes, and DMA handles: what C gets, and in which order they close. */
@WithFakeVerbs
class ExtendedRegistrationTest {
    private FakeStack stack;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        domain = stack.domain();
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

    /** The struct as a C program fills it in; the numbers in the order of its members. */
    private static byte[] attributes(long... numbers) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(ibv_mr_init_attr.layout());
            FakeVerbs.call("oracle_mr_init_attr", struct.address(),
                    arena.allocateFrom(ValueLayout.JAVA_LONG, numbers).address());
            return struct.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    @Test
    @Covers("ibv_reg_mr_ex")
    void memoryIsRegistered() throws RdmaException {
        MemorySegment memory = stack.region().memory().asSlice(64, 128);
        int access = Rdma.IBV_ACCESS_LOCAL_WRITE() | Rdma.IBV_ACCESS_FLUSH_GLOBAL();
        try (MemoryRegion region = ExtendedRegistration.of(memory).register(domain, AccessFlag.LOCAL_WRITE,
                AccessFlag.FLUSH_GLOBAL)) {
            assertThat(only("ibv_reg_mr_ex").arguments()).startsWith(domain.handle().address());
            assertThat(only("ibv_reg_mr_ex").data())
                    .isEqualTo(attributes(128, access, 2, 0, memory.address(), 0, 0, 0, 0));
            assertThat(region.memory()).isSameAs(memory);
            assertThat(region.remoteAddress()).isEqualTo(memory.address());
            assertThat(region.length()).isEqualTo(128);
            assertThat(region.access()).containsExactlyInAnyOrder(AccessFlag.LOCAL_WRITE, AccessFlag.FLUSH_GLOBAL);
        }
        assertThat(FakeVerbs.functions()).endsWith("ibv_dereg_mr");
    }

    @Test
    @Covers("ibv_reg_mr_ex")
    void theAddressInWorkRequestsMayBeAnother() throws RdmaException {
        MemorySegment memory = stack.region().memory();
        long other = 0x8000_0000_0000_0040L;
        try (MemoryRegion region = ExtendedRegistration.of(memory).deviceAddress(other).register(domain)) {
            assertThat(only("ibv_reg_mr_ex").data())
                    .isEqualTo(attributes(4096, 0, 3, other, memory.address(), 0, 0, 0, 0));
            assertThat(region.remoteAddress()).isEqualTo(other);
        }
        FakeVerbs.reset();
        try (MemoryRegion region = ExtendedRegistration.of(memory).register(domain, AccessFlag.ZERO_BASED)) {
            assertThat(only("ibv_reg_mr_ex").data())
                    .isEqualTo(attributes(4096, 0, 3, 0, memory.address(), 0, 0, 0, 0));
            assertThat(region.remoteAddress()).isZero();
        }
    }

    @Test
    @Covers("ibv_reg_mr_ex")
    void aDmaBufIsRegistered() throws RdmaException {
        long offset = 1L << 33;
        try (MemoryRegion region = ExtendedRegistration.ofDmaBuf(17, offset, 3L << 32, 0x1000).register(domain,
                AccessFlag.LOCAL_WRITE)) {
            assertThat(only("ibv_reg_mr_ex").data()).isEqualTo(attributes(3L << 32, Rdma.IBV_ACCESS_LOCAL_WRITE(),
                    1 | 4 | 8, 0x1000, 0, 17, offset, 0, 0));
            assertThat(region.remoteAddress()).isEqualTo(0x1000);
            assertThat(region.length()).isEqualTo(3L << 32);
            assertThatIllegalStateException().isThrownBy(region::memory);
        }
    }

    @Test
    @Covers({"ibv_alloc_dmah", "ibv_dealloc_dmah", "ibv_reg_mr_ex"})
    void aRegionClosesBeforeItsDmaHandle() throws RdmaException {
        DmaHandle handle = DmaHandle.allocate(stack.context(), DmaHandleAttributes.builder().cpu(70000)
                .processingHint(0xfe).memoryType(TphMemoryType.PM).build());
        FakeVerbs.Call call = only("ibv_alloc_dmah");
        assertThat(call.arguments()).startsWith(stack.context().handle().address());
        ByteBuffer struct = ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder());
        assertThat(struct.getInt((int) ibv_dmah_init_attr.comp_mask$offset())).isEqualTo(7);
        assertThat(struct.getInt((int) ibv_dmah_init_attr.cpu_id$offset())).isEqualTo(70000);
        assertThat(struct.get((int) ibv_dmah_init_attr.ph$offset())).isEqualTo((byte) 0xfe);
        assertThat(struct.get((int) ibv_dmah_init_attr.tph_mem_type$offset())).isEqualTo((byte) 1);
        assertThat(handle.context()).isSameAs(stack.context());
        assertThat(handle.attributes().memoryType()).contains(TphMemoryType.PM);
        MemorySegment memory = stack.region().memory();

        MemoryRegion region = ExtendedRegistration.of(memory).dmaHandle(handle).register(domain);

        assertThat(only("ibv_reg_mr_ex").data()).isEqualTo(attributes(4096, 0, 2 | 16, 0, memory.address(), 0, 0,
                handle.handle().address(), 0));
        assertThatIllegalStateException().isThrownBy(handle::close).withMessageContaining(region.toString());
        assertThatIllegalStateException().isThrownBy(stack.context()::close).withMessageContaining(handle.toString());
        region.close();
        handle.close();
        assertThat(FakeVerbs.functions()).containsSubsequence("ibv_dereg_mr", "ibv_dealloc_dmah");
        ExtendedRegistration late = ExtendedRegistration.of(memory).dmaHandle(handle);
        assertThatIllegalStateException().isThrownBy(() -> late.register(domain));
    }

    @Test
    void onlyWhatIsSetOfADmaHandleCounts() throws RdmaException {
        DmaHandle.allocate(stack.context(), DmaHandleAttributes.defaults()).close();
        assertThat(only("ibv_alloc_dmah").data()).containsOnly(0);
        FakeVerbs.reset();
        DmaHandle.allocate(stack.context(), DmaHandleAttributes.builder().memoryType(TphMemoryType.VM).build()).close();
        assertThat(only("ibv_alloc_dmah").data()[0]).isEqualTo((byte) 4);
        FakeVerbs.reset();
        assertThatIllegalArgumentException().isThrownBy(() -> DmaHandleAttributes.builder().cpu(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> DmaHandleAttributes.builder().processingHint(256));
        FakeVerbs.fail("ibv_alloc_dmah", Rdma.EOPNOTSUPP());
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> DmaHandle.allocate(stack.context(), DmaHandleAttributes.defaults()))
                .withMessageStartingWith("ibv_alloc_dmah: EOPNOTSUPP");
    }

    @Test
    void aFailedDeallocationLeavesTheHandleOpen() throws RdmaException {
        DmaHandle handle = DmaHandle.allocate(stack.context(), DmaHandleAttributes.defaults());
        FakeVerbs.fail("ibv_dealloc_dmah", Rdma.EBUSY());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(handle::close)
                .withMessageStartingWith("ibv_dealloc_dmah: EBUSY");
        assertThat(handle.isOpen()).isTrue();
        handle.close();
    }

    @Test
    void whatCannotBeRegisteredIsRefusedBeforeAnyNativeCall() throws RdmaException {
        MemorySegment memory = stack.region().memory();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExtendedRegistration.of(MemorySegment.ofArray(new byte[8])).register(domain))
                .withMessageContaining("Java heap");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExtendedRegistration.of(memory.asSlice(0, 0)).register(domain))
                .withMessageContaining("empty");
        assertThatIllegalArgumentException().isThrownBy(
                () -> ExtendedRegistration.of(memory.asReadOnly()).register(domain, AccessFlag.LOCAL_WRITE));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExtendedRegistration.of(memory).register(domain, AccessFlag.REMOTE_WRITE))
                .withMessageContaining("LOCAL_WRITE");
        assertThatIllegalArgumentException().isThrownBy(() -> ExtendedRegistration.ofDmaBuf(-1, 0, 1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> ExtendedRegistration.ofDmaBuf(1, -1, 1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> ExtendedRegistration.ofDmaBuf(1, 0, 0, 0));
        assertThat(FakeVerbs.calls()).isEmpty();
        try (FakeStack other = new FakeStack();
                DmaHandle handle = DmaHandle.allocate(other.context(), DmaHandleAttributes.defaults())) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ExtendedRegistration.of(memory).dmaHandle(handle).register(domain))
                    .withMessageContaining("another context");
        }
        assertThat(FakeVerbs.calls("ibv_reg_mr_ex")).isEmpty();
    }

    @Test
    void aRefusedRegistrationLeavesNothingBehind() throws RdmaException {
        ExtendedRegistration attributes = ExtendedRegistration.of(stack.region().memory())
                .deviceAddress(0x40);
        try (DmaHandle handle = DmaHandle.allocate(stack.context(), DmaHandleAttributes.defaults())) {
            FakeVerbs.fail("ibv_reg_mr_ex", Rdma.EOPNOTSUPP());
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> attributes.dmaHandle(handle).register(domain))
                    .withMessageStartingWith("ibv_reg_mr_ex (4096 bytes at 0x40): EOPNOTSUPP");
        }
    }
}
