// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.function.Consumer;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.internal.life.LockGroup;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.Lost;
import io.rdmacm.verbs.testing.LostMemory;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What may be registered, with which flags, and whose the memory is. */
@WithFakeVerbs
class MemoryRegionTest {
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

    private void assertRefused(MemorySegment memory, String reason, AccessFlag... access) {
        assertThatIllegalArgumentException().isThrownBy(() -> domain.register(memory, access))
                .withMessageContaining(reason);
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    void memoryOfTheHeapIsRefused() {
        assertRefused(MemorySegment.ofArray(new byte[8]), "Java heap");
        assertRefused(MemorySegment.ofBuffer(ByteBuffer.allocate(8)), "Java heap");
    }

    @Test
    void noMemoryIsRefused() {
        assertRefused(MemorySegment.NULL, "at least 1 byte");
        assertRefused(stack.region().memory().asSlice(8, 0), "at least 1 byte");
        assertThatNullPointerException().isThrownBy(() -> domain.register((MemorySegment) null));
        for (long length : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> domain.allocate(length))
                    .withMessageContaining("at least 1 byte");
        }
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    void memoryOfAClosedArenaIsRefused() {
        Arena arena = Arena.ofConfined();
        MemorySegment memory = arena.allocate(8);
        arena.close();
        assertRefused(memory, "arena of the segment is closed");
    }

    @Test
    void readOnlyMemoryMayOnlyBeRead() throws RdmaException {
        MemorySegment memory = stack.region().memory().asReadOnly();
        assertRefused(memory, "read-only", AccessFlag.LOCAL_WRITE);
        assertRefused(memory, "read-only", AccessFlag.MW_BIND);
        domain.register(memory).close();
        domain.register(memory, AccessFlag.REMOTE_READ).close();
    }

    @Test
    void remoteWritesNeedLocalWrites() throws RdmaException {
        MemorySegment memory = stack.region().memory();
        assertRefused(memory, "LOCAL_WRITE", AccessFlag.REMOTE_WRITE);
        assertRefused(memory, "LOCAL_WRITE", AccessFlag.REMOTE_ATOMIC, AccessFlag.REMOTE_READ);
        assertThatIllegalArgumentException().isThrownBy(() -> domain.allocate(8, AccessFlag.REMOTE_WRITE));
        assertThat(FakeVerbs.calls()).isEmpty();

        domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC).close();
        assertThat(FakeVerbs.calls("ibv_reg_mr").getFirst().arguments().get(3)).isEqualTo(
                Rdma.IBV_ACCESS_LOCAL_WRITE() | Rdma.IBV_ACCESS_REMOTE_WRITE() | Rdma.IBV_ACCESS_REMOTE_ATOMIC());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "ZERO_BASED")
    void everyFlagIsPassedToTheRightFunction(AccessFlag flag) throws RdmaException {
        MemorySegment memory = stack.region().memory().asSlice(16, 100);
        AccessFlag[] access = {AccessFlag.LOCAL_WRITE, flag};
        long bits = Rdma.IBV_ACCESS_LOCAL_WRITE() | flag.bit();
        try (MemoryRegion region = domain.register(memory, access)) {
            long address = memory.address();
            long pd = domain.handle().address();
            if ((flag.bit() & Rdma.IBV_ACCESS_OPTIONAL_RANGE()) == 0) {
                assertThat(FakeVerbs.functions()).containsExactly("ibv_reg_mr");
                assertThat(FakeVerbs.calls().getFirst().arguments()).startsWith(pd, address, 100L, bits);
            } else {
                assertThat(FakeVerbs.functions()).containsExactly("ibv_reg_mr_iova2");
                assertThat(FakeVerbs.calls().getFirst().arguments()).startsWith(pd, address, 100L, address, bits);
            }
            assertThat(region.access()).containsExactlyInAnyOrderElementsOf(
                    Arrays.stream(access).distinct().toList());
        }
    }

    @Test
    void theFlagThatOldKernelsIgnoreIsAmongThoseTested() {
        assertThat(AccessFlag.RELAXED_ORDERING.bit() & Rdma.IBV_ACCESS_OPTIONAL_RANGE()).isNotZero();
    }

    @Test
    void aRegionKnowsItsMemoryAndKeys() throws RdmaException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(100);
            try (MemoryRegion region = domain.register(memory)) {
                assertThat(region.memory()).isSameAs(memory);
                assertThat(region.length()).isEqualTo(100);
                assertThat(region.remoteAddress()).isEqualTo(memory.address());
                assertThat(region.protectionDomain()).isSameAs(domain);
                assertThat(region.access()).isEmpty();
                assertThat(region.localKey()).isNegative().isNotEqualTo(region.remoteKey());
                assertThat(region.remoteKey() >>> 28).isEqualTo(0xc);
            }
            assertThat(memory.scope().isAlive()).describedAs("the memory is the caller's").isTrue();
        }
    }

    @Test
    void allocatedMemoryIsZeroedOnAPageAndEndsWithTheRegion() throws RdmaException {
        MemoryRegion region = domain.allocate(5000);
        MemorySegment memory = region.memory();
        assertThat(memory.byteSize()).isEqualTo(5000);
        assertThat(memory.address() % 4096).isZero();
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);

        region.close();

        assertThatIllegalStateException().isThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void allocatedMemoryIsFreedWhenItCannotBeRegistered() {
        FakeVerbs.fail("ibv_reg_mr", Rdma.ENOMEM());
        assertThatThrownBy(() -> domain.allocate(5000)).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_reg_mr (5000 bytes): ENOMEM").hasMessageContaining("ulimit -l");
    }

    @Test
    void memoryIsThereUntilTheDeviceHasLetGoOfIt() throws RdmaException {
        MemoryRegion region = domain.allocate(8);
        MemorySegment memory = region.memory();
        FakeVerbs.fail("ibv_dereg_mr", Rdma.EBUSY());

        assertThatThrownBy(region::close).isInstanceOf(RdmaException.class);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isZero();

        region.close();
        assertThat(memory.scope().isAlive()).isFalse();
        assertThat(FakeVerbs.calls("ibv_dereg_mr")).hasSize(2);
    }

    @Test
    void memoryThatTheJdkIsUsingKeepsTheRegionUntilItIsClosedAgain() throws Exception {
        MemoryRegion region = domain.allocate(8);
        FakeVerbs.fail("ibv_query_qp", Rdma.EIO());
        FakeVerbs.hold("ibv_query_qp");
        // As long as the call lasts, the JDK does not let the arena of its argument close.
        try (Background<Integer> user = Background.call(() -> FakeVerbs.passMemory("ibv_query_qp", region.memory()))) {
            FakeVerbs.awaitHeld();
            assertThatIllegalStateException().isThrownBy(region::close).withMessageContaining("acquired");
            // the struct is freed: only the rest of the close is left
            assertThat(region.isOpen()).isFalse();
            assertThatIllegalStateException().isThrownBy(region::kernelHandle).withMessageContaining("is closed");
            assertThatIllegalStateException().isThrownBy(() -> region.reregister(Reregistration.builder()
                    .access(AccessFlag.LOCAL_WRITE).build())).withMessageContaining("is closed");
            FakeVerbs.release();
            assertThat(user.result()).isEqualTo(Rdma.EIO());
        }
        region.close();
        assertThat(FakeVerbs.calls("ibv_dereg_mr")).hasSize(1);
    }

    @Test
    void memoryOfALostRegionStaysUntilTheDeviceCannotWriteItAnyMore() throws RdmaException {
        LostMemory.of(to -> to.register(Arena.ofAuto().allocate(72), AccessFlag.LOCAL_WRITE))
                .assertKeptUntilDeregistered();
    }

    @Test
    void memoryOfALostReregistrationStaysToo() throws RdmaException {
        LostMemory.of(to -> {
            MemoryRegion region = to.register(Arena.ofAuto().allocate(72), AccessFlag.LOCAL_WRITE);
            Lost before = new Lost(region.memory());
            region.reregister(Reregistration.builder().memory(Arena.ofAuto().allocate(80)).build());
            before.awaitCollected();
            return region;
        }).assertKeptUntilDeregistered();
    }

    @Test
    void aReregistrationThatCouldNotWaitForPostsKeepsTheMemoryBefore() throws Exception {
        try (MemoryRegion region = domain.register(Arena.ofAuto().allocate(72), AccessFlag.LOCAL_WRITE)) {
            Lost before = new Lost(region.memory());
            FailingSteps.failNext(new OutOfMemoryError("for a test"), () -> assertThatThrownBy(
                    () -> region.reregister(Reregistration.builder().memory(Arena.ofAuto().allocate(80)).build()))
                    .isInstanceOf(OutOfMemoryError.class));

            assertThat(before.isKept()).describedAs("a post may still read it").isTrue();
            assertThatIllegalStateException().isThrownBy(region::localKey);
        }
    }

    @Test
    void inlineDataOfAMappedFileIsRefused(@TempDir Path folder) throws Exception {
        // a driver that copies it would end the JVM if the file was truncated
        try (FileChannel file = FileChannel.open(folder.resolve("data"), StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE); Arena arena = Arena.ofConfined();
                MemoryRegion region = domain.register(file.map(FileChannel.MapMode.READ_WRITE, 0, 8, arena))) {
            SendRequest request = SendRequests.allocate(1, 1).get(0).inline(true).data(region, 0, 8);
            assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(request))
                    .withMessageContaining("may truncate the file");
            stack.queuePair().postSend(request.inline(false));
            assertNotInline(batch -> batch.send(region, 0, 8));
            assertNotInline(batch -> batch.send().inlineData(region, 0, 8));
            assertNotInline(batch -> batch.send().inlineData(ScatterGatherList.allocate(1).set(0, region, 0, 8)));
        }
    }

    private void assertNotInline(Consumer<SendBatch> send) throws RdmaException {
        FakeVerbs.call("fake_equip_queue_pairs", stack.context().handle().address());
        try (QueuePair pair = domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(stack.queue())
                .maxInlineData(8).sendOperations(EnumSet.of(SendOperation.SEND)).build());
                SendBatch batch = pair.startBatch()) {
            assertThatIllegalStateException().isThrownBy(() -> send.accept(batch.inline(true)))
                    .withMessageContaining("may truncate the file");
        }
    }

    @Test
    void inlineDataOfAnotherDomainIsRefused() throws Exception {
        // its close would not wait for the post, and the memory could go while a driver reads it
        try (ProtectionDomain other = stack.context().allocateProtectionDomain();
                MemoryRegion region = other.allocate(8)) {
            SendRequest request = SendRequests.allocate(1, 1).get(0).inline(true).data(region, 0, 8);
            assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(request))
                    .withMessageContaining("another protection domain than the queue pair");
            stack.queuePair().postSend(request.inline(false));
        }
    }

    @Test
    void aCloseWaitsForAPostThatReadsInlineData() throws Exception {
        MemoryRegion region = domain.allocate(8);
        MemorySegment memory = region.memory();
        SendRequest request = SendRequests.allocate(1, 1).get(0).inline(true).data(region, 0, 8);
        FakeVerbs.hold("post_send");
        try (Background<Void> poster = Background.run(() -> stack.queuePair().postSend(request))) {
            FakeVerbs.awaitHeld();
            try (Background<Void> closer = Background.run(region::close)) {
                closer.awaitInside(LockGroup.class, "await");
                assertThat(memory.scope().isAlive()).isTrue();
                assertThat(FakeVerbs.calls("ibv_dereg_mr")).isEmpty();
                FakeVerbs.release();
                closer.result();
                poster.result();
            }
        }
        assertThat(memory.scope().isAlive()).isFalse();
    }
}
