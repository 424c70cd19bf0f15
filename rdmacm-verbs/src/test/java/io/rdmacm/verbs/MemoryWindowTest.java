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
import java.util.Arrays;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_context;
import io.rdmacm.bindings.ibv_context_ops;
import io.rdmacm.bindings.ibv_mw_bind;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.life.LockGroup;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.RemoteMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory windows: the bytes that C gets, which bindings are refused, and what may be closed when. */
@WithFakeVerbs
class MemoryWindowTest {
    private FakeStack stack;
    private MemoryRegion region;
    private MemoryWindow first;
    private MemoryWindow second;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_serve_memory", stack.context().handle().address());
        region = stack.domain().allocate(4096, AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
        first = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_1);
        second = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2);
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        first.close();
        second.close();
        region.close();
        stack.close();
    }

    private MemoryWindowBinding binding() {
        return MemoryWindowBinding.of(region, 16, 1000, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    }

    private static byte[] oracleBind(long id, int flags, MemoryRegion region, long start, long length, int access) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bind = ibv_mw_bind.allocate(arena);
            FakeVerbs.call("oracle_bind", bind.address(), id, flags, region.handle().address(), start, length, access);
            return Memory.bytes(bind.address(), (int) bind.byteSize());
        }
    }

    @ParameterizedTest
    @EnumSource
    @Covers({"ibv_alloc_mw", "ibv_dealloc_mw"})
    void aWindowIsAllocatedWithItsType(MemoryWindowType type) throws RdmaException {
        try (MemoryWindow window = stack.domain().allocateMemoryWindow(type)) {
            assertThat(FakeVerbs.calls("fake_alloc_mw").getFirst().arguments())
                    .startsWith(stack.domain().handle().address(), (long) type.value());
            assertThat(window.type()).isEqualTo(type);
            assertThat(window.protectionDomain()).isSameAs(stack.domain());
            assertThat(window.remoteKey() >>> 28).isEqualTo(0xa);
            assertThatIllegalStateException().isThrownBy(stack.domain()::close)
                    .withMessageContaining(window.toString());
        }
        assertThat(FakeVerbs.calls("fake_dealloc_mw")).hasSize(1);
        FakeVerbs.fail("fake_alloc_mw", Rdma.ENOMEM());
        assertThatThrownBy(() -> stack.domain().allocateMemoryWindow(type))
                .hasMessageStartingWith("ibv_alloc_mw (" + type + "): ENOMEM");
    }

    @Test
    @Covers("ibv_inc_rkey")
    void theNextKeyIsThatOfC() {
        for (int key : new int[] {0, 1, 0xfe, 0xff, 0x100, 0x1ff, -1, Integer.MIN_VALUE, 0x7fffffff, 0x12345678}) {
            assertThat(MemoryWindow.incrementKey(key)).describedAs("%x", key)
                    .isEqualTo((int) FakeVerbs.call("oracle_inc_rkey", Integer.toUnsignedLong(key)));
        }
    }

    @Test
    @Covers("ibv_bind_mw")
    void aWindowOfType1IsBoundAndUnbound() throws RdmaException {
        int key = first.remoteKey();
        first.bind(stack.queuePair(), 7, binding());

        FakeVerbs.Call call = FakeVerbs.calls("fake_bind_mw").getFirst();
        assertThat(call.arguments()).startsWith(stack.queuePair().handle().address(), first.handle().address());
        assertThat(call.data()).isEqualTo(oracleBind(7, Rdma.IBV_SEND_SIGNALED(), region,
                region.remoteAddress() + 16, 1000, Rdma.IBV_ACCESS_REMOTE_WRITE() | Rdma.IBV_ACCESS_REMOTE_READ()));
        assertThat(first.remoteKey()).isEqualTo(MemoryWindow.incrementKey(key));
        assertThat(binding().remoteAddress()).isEqualTo(region.remoteAddress() + 16);
        assertThatIllegalStateException().isThrownBy(region::close).withMessageContaining(first.toString());

        first.bind(stack.queuePair(), -1, binding(), false, true);
        assertThat(FakeVerbs.calls("fake_bind_mw").getLast().data()).isEqualTo(oracleBind(-1, Rdma.IBV_SEND_FENCE(),
                region, region.remoteAddress() + 16, 1000,
                Rdma.IBV_ACCESS_REMOTE_WRITE() | Rdma.IBV_ACCESS_REMOTE_READ()));

        first.unbind(stack.queuePair(), 9);
        assertThat(FakeVerbs.calls("fake_bind_mw").getLast().data())
                .isEqualTo(oracleBind(9, Rdma.IBV_SEND_SIGNALED(), region, 0, 0, 0));
        region.close();
    }

    @Test
    void aPeerIsGivenWhatIsBound() throws RdmaException {
        assertThatIllegalStateException().isThrownBy(first::remoteMemory).withMessageContaining("is not bound");
        first.bind(stack.queuePair(), 1, binding());
        RemoteMemory bound = new RemoteMemory(region.remoteAddress() + 16, first.remoteKey(), 1000);
        assertThat(first.remoteMemory()).isEqualTo(bound);
        FakeVerbs.fail("fake_bind_mw", Rdma.ENOMEM());
        assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> first.bind(stack.queuePair(), 2,
                MemoryWindowBinding.of(region, 0, 8)));
        assertThat(first.remoteMemory()).describedAs("the binding before").isEqualTo(bound);

        first.unbind(stack.queuePair(), 3);

        assertThatIllegalStateException().isThrownBy(first::remoteMemory).withMessageContaining("is not bound");
    }

    @Test
    void aBindingThatNoLongerFitsItsRegionLeavesTheWindowUnbound() throws RdmaException {
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion shrunk = stack.domain().register(arena.allocate(4096, 4096), AccessFlag.LOCAL_WRITE,
                    AccessFlag.MW_BIND);
            MemoryWindowBinding binding = MemoryWindowBinding.of(shrunk, 1024, 1024, AccessFlag.REMOTE_READ);
            shrunk.reregister(Reregistration.builder().memory(arena.allocate(512, 4096)).build());

            assertThatThrownBy(() -> first.bind(stack.queuePair(), 1, binding))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(FakeVerbs.calls("fake_bind_mw")).isEmpty();
            shrunk.close();
        }
    }

    @Test
    void onlyABoundWindowIsUnbound() {
        // drivers read the region of a bind, so there must be one
        assertThatIllegalStateException().isThrownBy(() -> first.unbind(stack.queuePair(), 1))
                .withMessageContaining("is not bound");
        assertThat(FakeVerbs.calls("fake_bind_mw")).isEmpty();
    }

    @Test
    void aZeroBasedWindowBeginsWithZero() throws RdmaException {
        MemoryWindowBinding binding = MemoryWindowBinding.of(region, 16, 8, AccessFlag.ZERO_BASED);
        first.bind(stack.queuePair(), 1, binding);

        assertThat(binding.remoteAddress()).isZero();
        assertThat(first.remoteMemory()).isEqualTo(new RemoteMemory(0, first.remoteKey(), 8));
        assertThat(FakeVerbs.calls("fake_bind_mw").getFirst().data()).isEqualTo(oracleBind(1, Rdma.IBV_SEND_SIGNALED(),
                region, region.remoteAddress() + 16, 8, Rdma.IBV_ACCESS_ZERO_BASED()));
    }

    @Test
    @Covers("ibv_bind_mw")
    void aRefusedBindChangesNothing() throws RdmaException {
        int key = first.remoteKey();
        FakeVerbs.fail("fake_bind_mw", Rdma.ENOMEM());

        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> first.bind(stack.queuePair(), 7, binding()))
                .withMessageStartingWith("ibv_bind_mw (request 0 on QueuePair[").withMessageContaining("ENOMEM");

        assertThat(first.remoteKey()).isEqualTo(key);
        region.close();
    }

    @Test
    void theRegionBoundLastIsKept() throws RdmaException {
        try (MemoryRegion other = stack.domain().allocate(64, AccessFlag.MW_BIND)) {
            first.bind(stack.queuePair(), 1, binding());
            first.bind(stack.queuePair(), 2, binding());
            first.bind(stack.queuePair(), 3, MemoryWindowBinding.of(other, 0, 64));
            region.close();
            assertThatIllegalStateException().isThrownBy(other::close).withMessageContaining(first.toString());
            first.close();
        }
    }

    @Test
    void bindingsThatCannotBeAreRefused() throws RdmaException {
        MemoryRegion plain = stack.region();
        assertThatIllegalArgumentException().isThrownBy(() -> MemoryWindowBinding.of(plain, 0, 8))
                .withMessageContaining("MW_BIND");
        for (long length : new long[] {0, -1}) {
            assertThatIllegalArgumentException().isThrownBy(() -> MemoryWindowBinding.of(region, 0, length))
                    .withMessageContaining("at least 1 byte, not " + length);
        }
        assertThatThrownBy(() -> MemoryWindowBinding.of(region, 4090, 7)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemoryWindowBinding.of(region, 0, 8, AccessFlag.LOCAL_WRITE))
                .withMessageContaining("LOCAL_WRITE");
        try (MemoryRegion readable = stack.domain().allocate(8, AccessFlag.MW_BIND)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> MemoryWindowBinding.of(readable, 0, 8, AccessFlag.REMOTE_ATOMIC))
                    .withMessageContaining("LOCAL_WRITE");
        }
        assertThat(FakeVerbs.calls("fake_bind_mw")).isEmpty();
    }

    @Test
    void typesAndDomainsMustFit() throws RdmaException {
        assertThatIllegalArgumentException().isThrownBy(() -> second.bind(stack.queuePair(), 1, binding()))
                .withMessageContaining("bindMemoryWindow");
        SendRequest request = SendRequests.allocate(1, 1).get(0);
        assertThatIllegalArgumentException().isThrownBy(() -> request.bindMemoryWindow(first, 1, binding()))
                .withMessageContaining("MemoryWindow.bind");
        try (ProtectionDomain domain = stack.context().allocateProtectionDomain();
                MemoryRegion foreign = domain.allocate(8, AccessFlag.MW_BIND);
                MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
                MemoryWindow window2 = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            MemoryWindowBinding elsewhere = MemoryWindowBinding.of(foreign, 0, 8);
            assertThatIllegalArgumentException().isThrownBy(() -> first.bind(stack.queuePair(), 1, elsewhere))
                    .withMessageContaining("another protection domain");
            assertThatIllegalArgumentException().isThrownBy(() -> request.bindMemoryWindow(second, 1, elsewhere));
            assertThatIllegalArgumentException().isThrownBy(() -> window.bind(stack.queuePair(), 1, elsewhere))
                    .withMessageContaining("another protection domain than the queue pair");
            request.bindMemoryWindow(window2, 1, elsewhere);
            assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(request))
                    .withMessageContaining("another protection domain than the queue pair");
        }
        assertThat(FakeVerbs.functions()).doesNotContain("fake_bind_mw", "post_send");
    }

    @Test
    @Covers("ibv_post_send")
    void aWindowOfType2IsBoundByAWorkRequest() throws RdmaException {
        int key = MemoryWindow.incrementKey(second.remoteKey());
        // what was there before is cleared: a driver refuses it
        SendRequest request = SendRequests.allocate(1, 1).get(0).id(11).sendWithImmediate(-1).data(region, 0, 8)
                .bindMemoryWindow(second, key, binding());

        stack.queuePair().postSend(request);

        byte[] posted = FakeVerbs.calls("post_send").getFirst().data();
        assertThat(posted).hasSize((int) ibv_send_wr.sizeof());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = ibv_send_wr.allocate(arena);
            MemorySegment bind = arena.allocateFrom(ValueLayout.JAVA_BYTE,
                    oracleBind(11, Rdma.IBV_SEND_SIGNALED(), region, region.remoteAddress() + 16, 1000,
                            Rdma.IBV_ACCESS_REMOTE_WRITE() | Rdma.IBV_ACCESS_REMOTE_READ()));
            long list = Memory.getLong(request.address() + ibv_send_wr.sg_list$offset());
            FakeVerbs.call("oracle_send_bind", wanted.address(), bind.address(), second.handle().address(),
                    Integer.toUnsignedLong(key), list);
            assertThat(posted).isEqualTo(Memory.bytes(wanted.address(), posted.length));
        }
        assertThat(second.remoteKey()).isEqualTo(key);
        assertThatIllegalStateException().isThrownBy(region::close).withMessageContaining(second.toString());
        second.close();
        region.close();
    }

    @Test
    void whatIsClosedBeforeThePostIsNotPosted() throws RdmaException {
        SendRequest request = SendRequests.allocate(1, 1).get(0).bindMemoryWindow(second, 1, binding());
        region.close();
        assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(request))
                .withMessageContaining("MemoryRegion is closed");
        second.close();
        assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(request))
                .withMessageContaining("MemoryWindow is closed");
        assertThat(FakeVerbs.calls("post_send")).isEmpty();

        stack.queuePair().postSend(request.send());
        assertThat(FakeVerbs.calls("post_send")).describedAs("no bind any more").hasSize(1);
    }

    @Test
    void aBlockWhoseInlineDataWasCheckedBeforeBindsAgain() throws RdmaException {
        SendRequests block = SendRequests.allocate(2, 1);
        block.get(0).bindMemoryWindow(second, 0x101, binding()).inline(true);
        block.get(1).bindMemoryWindow(second, 0x102, binding());
        stack.queuePair().postSend(block, 0, 2);
        assertThat(second.remoteKey()).isEqualTo(0x102);
        stack.queuePair().postSend(block, 0, 1);
        assertThat(second.remoteKey()).isEqualTo(0x101);
    }

    @Test
    void aRefusedBindLeavesTheRequestAsItWas() throws RdmaException {
        SendRequest request = SendRequests.allocate(1, 1).get(0).bindMemoryWindow(second, 1, binding());
        MemorySegment smaller = Arena.ofAuto().allocate(512, 64);
        try (MemoryRegion other = stack.domain().allocate(4096, AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
                MemoryWindow window = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            MemoryWindowBinding gone = MemoryWindowBinding.of(other, 0, 4096, AccessFlag.REMOTE_READ);
            other.reregister(Reregistration.builder().memory(smaller).build());
            assertThatThrownBy(() -> request.bindMemoryWindow(window, 2, gone))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        stack.queuePair().postSend(request);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment posted = arena.allocateFrom(ValueLayout.JAVA_BYTE,
                    FakeVerbs.calls("post_send").getFirst().data());
            MemorySegment bind = ibv_send_wr.bind_mw(posted);
            assertThat(ibv_send_wr.bind_mw.mw(bind).address()).describedAs("not the one that is closed")
                    .isEqualTo(second.handle().address());
            assertThat(ibv_send_wr.bind_mw.rkey(bind)).isEqualTo(1);
        }
    }

    @Test
    void aRefusedPostChangesNothing() throws RdmaException {
        int key = second.remoteKey();
        SendRequest request = SendRequests.allocate(1, 1).get(0).bindMemoryWindow(second, key + 1, binding());
        FakeVerbs.fail("post_send", Rdma.ENOMEM());

        assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> stack.queuePair().postSend(request));

        assertThat(second.remoteKey()).isEqualTo(key);
        region.close();
    }

    @Test
    void ofABlockOnlyWhatWasPostedIsBound() throws RdmaException {
        MemoryRegion third = stack.domain().allocate(64, AccessFlag.MW_BIND);
        try (MemoryRegion other = stack.domain().allocate(64, AccessFlag.MW_BIND)) {
            SendRequests block = SendRequests.allocate(4, 1);
            block.get(0).bindMemoryWindow(second, 0x101, binding());
            block.get(1).bindMemoryWindow(second, 0x102, MemoryWindowBinding.of(other, 0, 64));
            block.get(2).localInvalidate(0x103);
            block.get(3).bindMemoryWindow(second, 0x104, MemoryWindowBinding.of(third, 0, 64));
            FakeVerbs.fail("next_send", Rdma.ENOMEM(), 1);

            assertThatExceptionOfType(WorkRequestException.class)
                    .isThrownBy(() -> stack.queuePair().postSend(block, 0, 4))
                    .satisfies(e -> assertThat(e.failedIndex()).isEqualTo(2));

            assertThat(second.remoteKey()).isEqualTo(0x102);
            third.close();
            region.close();
            assertThatIllegalStateException().isThrownBy(other::close).withMessageContaining(second.toString());
            second.close();
        }
    }

    @Test
    void whenOneOfABlockIsRefusedNoneIsBound() throws RdmaException {
        int key = second.remoteKey();
        SendRequests block = SendRequests.allocate(2, 1);
        block.get(0).bindMemoryWindow(second, 0x101, binding());
        block.get(1).inline(true).data(stack.region(), 0, 65);

        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(block, 0, 2));

        assertThat(second.remoteKey()).isEqualTo(key);
        region.close();
    }

    @Test
    void aCloseWaitsForAPostOfTheWindow() throws Exception {
        SendRequest request = SendRequests.allocate(1, 1).get(0).bindMemoryWindow(second, 1, binding());
        FakeVerbs.hold("post_send");
        try (Background<Void> poster = Background.run(() -> stack.queuePair().postSend(request))) {
            FakeVerbs.awaitHeld();
            try (Background<Void> closer = Background.run(second::close)) {
                closer.awaitInside(LockGroup.class, "await");
                assertThat(FakeVerbs.calls("fake_dealloc_mw")).isEmpty();
                FakeVerbs.release();
                closer.result();
                poster.result();
            }
        }
        region.close();
    }

    @Test
    void aDriverWithoutWindowsHasNone() throws RdmaException {
        long alloc = stack.context().handle().address() + ibv_context.ops$offset()
                + ibv_context_ops.alloc_mw$offset();
        Memory.putLong(alloc, 0);

        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_1))
                .withMessageStartingWith("ibv_alloc_mw: EOPNOTSUPP");
        assertThat(Arrays.stream(MemoryWindowType.values()).map(MemoryWindowType::value)).containsExactly(1, 2);
    }
}
