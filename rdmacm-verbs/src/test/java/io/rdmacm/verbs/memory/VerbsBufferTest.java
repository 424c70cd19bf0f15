// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_mr_init_attr;
import io.rdmacm.bindings.ibv_parent_domain_init_attr;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ParentDomain;
import io.rdmacm.verbs.ParentDomainAttributes;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Buffers of the driver, and dma-bufs that are exported: what C gets, and whose they are. */
@WithFakeVerbs
class VerbsBufferTest {
    private FakeStack stack;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        domain = stack.domain();
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
    @Covers({"ibv_alloc_buf", "ibv_free_buf", "ibv_reg_buf_mr"})
    void aBufferIsClosedAfterItsRegionsAndBeforeItsDomain() throws RdmaException {
        VerbsBuffer buffer = VerbsBuffer.allocate(domain, 5000);
        assertThat(only("ibv_alloc_buf").arguments()).startsWith(domain.handle().address(), 5000L);
        MemorySegment memory = buffer.memory();
        assertThat(buffer.length()).isEqualTo(5000);
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).hasSize(5000).containsOnly(0);
        assertThat(buffer.protectionDomain()).isSameAs(domain);

        MemoryRegion region = buffer.register(904, 4096, AccessFlag.LOCAL_WRITE);

        assertThat(only("ibv_reg_buf_mr").arguments()).startsWith(domain.handle().address(),
                buffer.handle().address(), memory.address() + 904, 4096L, (long) Rdma.IBV_ACCESS_LOCAL_WRITE());
        assertThat(region.remoteAddress()).isEqualTo(memory.address() + 904);
        region.memory().set(ValueLayout.JAVA_BYTE, 4095, (byte) 7);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 4999)).isEqualTo((byte) 7);
        // it can be sent inline as other memory
        stack.queuePair().postSend(SendRequests.allocate(1, 1).get(0).data(region, 4080, 16).inline(true));
        assertThatIllegalStateException().isThrownBy(buffer::close).withMessageContaining(region.toString());
        assertThatIllegalStateException().isThrownBy(domain::close).withMessageContaining(buffer.toString());

        region.close();
        buffer.close();

        assertThat(FakeVerbs.functions()).containsSubsequence("ibv_dereg_mr", "ibv_free_buf");
        assertThatIllegalStateException().isThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0));
        assertThatIllegalStateException().isThrownBy(buffer::memory);
        assertThatIllegalStateException().isThrownBy(() -> buffer.register(0, 1));
    }

    @Test
    @Covers("ibv_reg_mr_ex")
    void aBufferIsRegisteredWithAllAttributes() throws RdmaException {
        try (VerbsBuffer buffer = VerbsBuffer.allocate(domain, 8192);
                MemoryRegion region = ExtendedRegistration.of(buffer, 4096, 100).register(domain)) {
            ByteBuffer struct = ByteBuffer.wrap(only("ibv_reg_mr_ex").data()).order(ByteOrder.nativeOrder());
            assertThat(struct.getLong((int) ibv_mr_init_attr.comp_mask$offset()))
                    .isEqualTo(Rdma.IBV_REG_MR_MASK_ADDR() | Rdma.IBV_REG_MR_MASK_BUF());
            assertThat(struct.getLong((int) ibv_mr_init_attr.buf$offset())).isEqualTo(buffer.handle().address());
            assertThat(struct.getLong((int) ibv_mr_init_attr.addr$offset()))
                    .isEqualTo(buffer.memory().address() + 4096);
            assertThatIllegalStateException().isThrownBy(buffer::close).withMessageContaining(region.toString());
        }
    }

    @Test
    void whatDoesNotFitIsRefusedBeforeAnyNativeCall() throws RdmaException {
        assertThatIllegalArgumentException().isThrownBy(() -> VerbsBuffer.allocate(domain, 0))
                .withMessageContaining("not 0");
        assertThat(FakeVerbs.calls()).isEmpty();
        ParentDomain parent = domain.allocateParentDomain(ParentDomainAttributes.create());
        try (parent; VerbsBuffer buffer = VerbsBuffer.allocate(domain, 64)) {
            assertThatThrownBy(() -> buffer.register(60, 5)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> buffer.register(-1, 5)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> ExtendedRegistration.of(buffer, 0, 65))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatIllegalArgumentException().isThrownBy(() -> buffer.register(0, 0));
            assertThatIllegalArgumentException().isThrownBy(() -> buffer.register(0, 1,
                    AccessFlag.REMOTE_WRITE));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ExtendedRegistration.of(buffer, 0, 1).register(parent))
                    .withMessageContaining("another protection domain");
        }
        assertThat(FakeVerbs.functions()).doesNotContain("ibv_reg_buf_mr", "ibv_reg_mr_ex");
    }

    @Test
    void aRefusedAllocationLeavesNothingBehind() {
        long open = Lifetime.openObjects();
        FakeVerbs.fail("ibv_alloc_buf", Rdma.ENOMEM());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> VerbsBuffer.allocate(domain, 64))
                .withMessageStartingWith("ibv_alloc_buf (64 bytes): ENOMEM");
        assertThat(Lifetime.openObjects()).isEqualTo(open);
    }

    @Test
    @Covers("ibv_alloc_parent_domain")
    void aParentDomainMayAllowBuffersThatAreNotProtected() throws RdmaException {
        ParentDomainAttributes attributes = ParentDomainAttributes.create().allowUnprotected(true);
        assertThat(attributes.allowsUnprotected()).isTrue();
        ParentDomain parent = domain.allocateParentDomain(attributes);
        try (parent; VerbsBuffer buffer = VerbsBuffer.allocate(parent, 64);
                MemoryRegion region = buffer.register(0, 64)) {
            ByteBuffer struct = ByteBuffer.wrap(only("fake_alloc_parent_domain").data())
                    .order(ByteOrder.nativeOrder());
            assertThat(struct.getInt((int) ibv_parent_domain_init_attr.comp_mask$offset())).isEqualTo(4);
            assertThat(only("ibv_alloc_buf").arguments()).startsWith(parent.handle().address(), 64L);
            assertThat(region.protectionDomain()).isSameAs(parent);
        }
    }

    private static Path descriptor(DmaBuf exported) {
        return Path.of("/proc/self/fd", Integer.toString(exported.fd()));
    }

    @Test
    @Covers({"ibv_export_buf_dmabuf_fd", "ibv_dm_export_dmabuf_fd"})
    void anExportedDescriptorIsTheCallersToClose() throws RdmaException {
        DmaBuf ofBuffer;
        DmaBuf ofMemory;
        try (VerbsBuffer buffer = VerbsBuffer.allocate(domain, 64);
                DeviceMemory memory = stack.context().allocateDeviceMemory(64, 0)) {
            ofBuffer = buffer.exportDmaBuf();
            assertThat(only("ibv_export_buf_dmabuf_fd").arguments()).startsWith(buffer.handle().address());
            ofMemory = DmaBuf.export(memory);
            assertThat(only("ibv_dm_export_dmabuf_fd").arguments()).startsWith(memory.handle().address());
        }
        // they outlive what they were exported from
        for (DmaBuf exported : new DmaBuf[] {ofBuffer, ofMemory}) {
            Path descriptor = descriptor(exported);
            assertThat(Files.exists(descriptor)).isTrue();
            assertThat(exported).hasToString("DmaBuf[fd " + exported.fd() + "]");
            assertThat(exported.isOpen()).isTrue();
            exported.close();
            assertThat(Files.exists(descriptor)).isFalse();
            exported.close();
            assertThatIllegalStateException().isThrownBy(exported::fd);
        }
    }

    @Test
    void aCloseThatEndsWithAnErrorIsRepeated() throws Exception {
        VerbsBuffer buffer = VerbsBuffer.allocate(domain, 64);
        FailingSteps.failNext(new StackOverflowError("for a test"), () -> assertThatThrownBy(buffer::close)
                .isInstanceOf(StackOverflowError.class));
        assertThat(buffer.memory().toArray(ValueLayout.JAVA_BYTE)).hasSize(64);
        buffer.close();
        assertThat(FakeVerbs.calls("ibv_free_buf")).hasSize(1);
    }

    @Test
    void aRefusedExportLeavesNothingBehind() throws RdmaException {
        try (VerbsBuffer buffer = VerbsBuffer.allocate(domain, 64);
                DeviceMemory memory = stack.context().allocateDeviceMemory(64, 0)) {
            long open = Lifetime.openObjects();
            FakeVerbs.fail("ibv_export_buf_dmabuf_fd", Rdma.ENODATA());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(buffer::exportDmaBuf)
                    .withMessageStartingWith("ibv_export_buf_dmabuf_fd: ENODATA");
            FakeVerbs.fail("ibv_dm_export_dmabuf_fd", Rdma.EOPNOTSUPP());
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> DmaBuf.export(memory))
                    .withMessageStartingWith("ibv_dm_export_dmabuf_fd: EOPNOTSUPP");
            assertThat(Lifetime.openObjects()).isEqualTo(open);
        }
    }
}
