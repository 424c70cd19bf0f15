// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_sge;
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

/** All memory as one region, and its parts: what C is called with, and what ends when. */
@WithFakeVerbs
class ImplicitMemoryRegionTest {
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

    /** The call that the C program made, and that Java made after it. */
    private void assertCalledAsInC(boolean relaxed, AccessFlag... access) throws RdmaException {
        FakeVerbs.reset();
        long oracle = FakeVerbs.call("oracle_register_all", domain.handle().address(), relaxed ? 1 : 0);
        FakeVerbs.Call expected = FakeVerbs.calls().getFirst();
        FakeVerbs.call("ibv_dereg_mr", oracle);
        FakeVerbs.reset();
        domain.registerAllMemory(access).close();
        FakeVerbs.Call call = FakeVerbs.calls().getFirst();
        assertThat(call.function()).isEqualTo(expected.function());
        assertThat(call.arguments()).isEqualTo(expected.arguments());
        assertThat(FakeVerbs.functions()).containsExactly(expected.function(), "ibv_dereg_mr");
    }

    @Test
    @Covers({"ibv_reg_mr", "ibv_dereg_mr"})
    void allMemoryIsRegisteredAsInC() throws RdmaException {
        assertCalledAsInC(false, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
        assertCalledAsInC(false, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND);
    }

    @Test
    @Covers("ibv_reg_mr_iova2")
    void theFlagThatOldKernelsIgnoreTakesTheNewerFunction() throws RdmaException {
        assertCalledAsInC(true, AccessFlag.RELAXED_ORDERING);
    }

    @Test
    void aPartIsARegionWithTheKeysOfTheWhole() throws RdmaException {
        try (Arena arena = Arena.ofShared(); ImplicitMemoryRegion all = domain.registerAllMemory()) {
            MemorySegment memory = arena.allocate(64);
            assertThat(all.access()).isEqualTo(Set.of(AccessFlag.ON_DEMAND));
            assertThat(all.protectionDomain()).isSameAs(domain);
            assertThat(all.localKey()).isNegative().isNotEqualTo(all.remoteKey());
            FakeVerbs.reset();
            try (MemoryRegion part = all.part(memory)) {
                assertThat(FakeVerbs.calls()).isEmpty();
                assertThat(part.memory()).isSameAs(memory);
                assertThat(part.length()).isEqualTo(64);
                assertThat(part.remoteAddress()).isEqualTo(memory.address());
                assertThat(part.localKey()).isEqualTo(all.localKey());
                assertThat(part.remoteKey()).isEqualTo(all.remoteKey());

                SendRequest request = SendRequests.allocate(1, 1).get(0).inline(true).data(part, 8, 16);
                stack.queuePair().postSend(request);
                assertEntry(memory.address() + 8, 16, all.localKey());
                assertThatThrownBy(() -> request.data(part, 49, 16)).isInstanceOf(IndexOutOfBoundsException.class);
                assertThatIllegalStateException().isThrownBy(() -> part.reregister(
                        Reregistration.builder().access(AccessFlag.LOCAL_WRITE).build()))
                        .withMessageContaining("part of an implicit region");
            }
            assertThat(FakeVerbs.functions()).containsExactly("post_send");
        }
    }

    /** The first entry of the scatter list that was posted: it and its inline data are last. */
    private static void assertEntry(long address, int length, int key) {
        byte[] posted = FakeVerbs.calls("post_send").getFirst().data();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = arena.allocate(ibv_sge.layout()).copyFrom(MemorySegment.ofArray(posted)
                    .asSlice(posted.length - length - ibv_sge.sizeof(), ibv_sge.sizeof()));
            assertThat(ibv_sge.addr(entry)).isEqualTo(address);
            assertThat(ibv_sge.length(entry)).isEqualTo(length);
            assertThat(ibv_sge.lkey(entry)).isEqualTo(key);
        }
    }

    @Test
    void partsCloseBeforeTheWhole() throws RdmaException {
        ImplicitMemoryRegion all = domain.registerAllMemory();
        MemoryRegion part = all.part(stack.region().memory());

        assertThatIllegalStateException().isThrownBy(all::close).withMessageContaining(part.toString());
        part.close();
        all.close();
        assertThat(FakeVerbs.functions()).containsExactly("ibv_reg_mr", "ibv_dereg_mr");
    }

    @Test
    void theDomainWaitsForTheWhole() throws RdmaException {
        try (ProtectionDomain other = stack.context().allocateProtectionDomain()) {
            ImplicitMemoryRegion all = other.registerAllMemory();
            assertThatIllegalStateException().isThrownBy(other::close).withMessageContaining(all.toString());
            all.close();
        }
    }

    @Test
    void memoryThatIsNoneIsRefused() throws RdmaException {
        Arena arena = Arena.ofConfined();
        MemorySegment gone = arena.allocate(8);
        arena.close();
        MemorySegment memory = stack.region().memory();
        try (ImplicitMemoryRegion all = domain.registerAllMemory(AccessFlag.LOCAL_WRITE)) {
            assertRefused(all, MemorySegment.ofArray(new byte[8]), "Java heap");
            assertRefused(all, MemorySegment.NULL, "at least 1 byte");
            assertRefused(all, gone, "arena of the segment is closed");
            assertRefused(all, memory.asReadOnly(), "read-only");
        }
        try (ImplicitMemoryRegion all = domain.registerAllMemory()) {
            all.part(memory.asReadOnly()).close();
        }
    }

    private static void assertRefused(ImplicitMemoryRegion all, MemorySegment memory, String reason) {
        assertThatIllegalArgumentException().isThrownBy(() -> all.part(memory)).withMessageContaining(reason);
    }

    @Test
    void accessThatAllMemoryCannotHaveIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> domain.registerAllMemory(AccessFlag.ZERO_BASED));
        assertThatIllegalArgumentException().isThrownBy(() -> domain.registerAllMemory(AccessFlag.HUGETLB));
        assertThatIllegalArgumentException().isThrownBy(() -> domain.registerAllMemory(AccessFlag.REMOTE_WRITE))
                .withMessageContaining("LOCAL_WRITE");
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    void whatTheDeviceSaysThatItLacksIsUnsupported() {
        // this device tells of no on-demand paging
        failNextRegistration(Rdma.EINVAL());
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> domain.registerAllMemory())
                .withMessageStartingWith("ibv_reg_mr (all memory, on demand, but the device has no implicit")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL()));
        failNextRegistration(Rdma.EINVAL());
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> domain.allocate(8, AccessFlag.ON_DEMAND))
                .withMessageContaining("8 bytes, but the device has no on-demand paging");
        failNextRegistration(Rdma.ENOMEM());
        assertPlain(() -> domain.registerAllMemory(), "ENOMEM");
        failNextRegistration(Rdma.EINVAL());
        assertPlain(() -> domain.allocate(8), "EINVAL");

        // this one tells of the implicit kind only
        FakeVerbs.call("fake_serve_queries", stack.context().handle().address());
        failNextRegistration(Rdma.EINVAL());
        assertPlain(() -> domain.registerAllMemory(), "EINVAL");
    }

    private static void failNextRegistration(int error) {
        FakeVerbs.fail("ibv_reg_mr", error);
    }

    private interface Registrar {
        void register() throws RdmaException;
    }

    private static void assertPlain(Registrar registrar, String errno) {
        assertThatThrownBy(registrar::register).isExactlyInstanceOf(RdmaException.class).hasMessageContaining(errno);
    }
}
