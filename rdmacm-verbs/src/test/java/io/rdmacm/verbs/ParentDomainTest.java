// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_parent_domain_init_attr;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.life.LockGroup;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Thread and parent domains: what C gets, in which order they close, and allocators that misbehave. */
@WithFakeVerbs
class ParentDomainTest {
    private FakeStack stack;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_serve_memory", stack.context().handle().address());
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    private static ByteBuffer attributes() {
        return ByteBuffer.wrap(FakeVerbs.calls("fake_alloc_parent_domain").getLast().data())
                .order(ByteOrder.nativeOrder());
    }

    @Test
    @Covers({"ibv_alloc_td", "ibv_dealloc_td", "ibv_alloc_parent_domain", "ibv_dealloc_pd"})
    void theyCloseBeforeWhatTheyAreMadeOf() throws RdmaException {
        ThreadDomain thread = stack.context().allocateThreadDomain();
        ParentDomain parent = stack.domain().allocateParentDomain(ParentDomainAttributes.create().threadDomain(thread));
        MemoryRegion region = parent.allocate(64);

        assertThat(FakeVerbs.calls("fake_alloc_td").getFirst().data()).containsOnly(0);
        ByteBuffer attributes = attributes();
        assertThat(attributes.getLong((int) ibv_parent_domain_init_attr.pd$offset()))
                .isEqualTo(stack.domain().handle().address());
        assertThat(attributes.getLong((int) ibv_parent_domain_init_attr.td$offset()))
                .isEqualTo(thread.handle().address());
        assertThat(attributes.getInt((int) ibv_parent_domain_init_attr.comp_mask$offset())).isZero();
        assertThat(parent.protectionDomain()).isSameAs(stack.domain());
        assertThat(parent.attributes().threadDomain()).containsSame(thread);
        assertThat(parent.context()).isSameAs(stack.context());
        assertThat(FakeVerbs.calls("ibv_reg_mr").getLast().arguments().getFirst())
                .isEqualTo(parent.handle().address());

        assertThatIllegalStateException().isThrownBy(thread::close).withMessageContaining(parent.toString());
        assertThatIllegalStateException().isThrownBy(parent::close).withMessageContaining(region.toString());
        stack.queuePair().close();
        stack.region().close();
        assertThatIllegalStateException().isThrownBy(stack.domain()::close).withMessageContaining(parent.toString());
        region.close();
        parent.close();
        thread.close();
        assertThat(FakeVerbs.functions()).containsSubsequence("ibv_dealloc_pd", "fake_dealloc_td");
    }

    @Test
    void withoutAThreadDomainTheMemberIsNull() throws RdmaException {
        stack.domain().allocateParentDomain(ParentDomainAttributes.create()).close();

        ByteBuffer attributes = attributes();
        assertThat(attributes.getLong((int) ibv_parent_domain_init_attr.td$offset())).isZero();
        assertThat(attributes.getLong((int) ibv_parent_domain_init_attr.alloc$offset())).isZero();
    }

    @Test
    void whatTheDeviceLacksIsUnsupported() {
        FakeVerbs.setExtendedOp(stack.context().handle(), "alloc_td", 0);
        FakeVerbs.setExtendedOp(stack.context().handle(), "alloc_parent_domain", 0);

        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> stack.context().allocateThreadDomain());
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> stack.domain().allocateParentDomain(ParentDomainAttributes.create()));
    }

    @Test
    void wrongParentsAreRefused() throws RdmaException {
        try (FakeStack other = new FakeStack()) {
            FakeVerbs.call("fake_serve_memory", other.context().handle().address());
            try (ThreadDomain foreign = other.context().allocateThreadDomain();
                    ParentDomain parent = stack.domain().allocateParentDomain(ParentDomainAttributes.create())) {
                assertThatIllegalArgumentException().isThrownBy(() -> stack.domain()
                        .allocateParentDomain(ParentDomainAttributes.create().threadDomain(foreign)))
                        .withMessageContaining("another context");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> parent.allocateParentDomain(ParentDomainAttributes.create()));
            }
        }
    }

    @Test
    void aRegionOfTheDomainBelowWaitsForPostsInTheParent() throws Exception {
        try (ParentDomain parent = stack.domain().allocateParentDomain(ParentDomainAttributes.create());
                QueuePair pair = parent.createQueuePair(QueuePairInitAttributes.builder()
                        .completionQueue(stack.queue()).maxInlineData(8).build())) {
            MemoryRegion region = stack.domain().allocate(8);
            MemorySegment memory = region.memory();
            SendRequest request = SendRequests.allocate(1, 1).get(0).inline(true).data(region, 0, 8);
            FakeVerbs.hold("post_send");
            try (Background<Void> poster = Background.run(() -> pair.postSend(request))) {
                FakeVerbs.awaitHeld();
                try (Background<Void> closer = Background.run(region::close)) {
                    closer.awaitInside(LockGroup.class, "await");
                    assertThat(memory.scope().isAlive()).isTrue();
                    FakeVerbs.release();
                    closer.result();
                    poster.result();
                }
            }
        }
    }

    @Test
    void whatIsOfTheDomainBelowServesQueuePairsOfTheParent() throws Exception {
        ParentDomain parent = stack.domain().allocateParentDomain(ParentDomainAttributes.create());
        AddressHandle handle = stack.domain().createAddressHandle(AddressAttributes.builder().build());
        try (MemoryRegion region = stack.domain().allocate(8, AccessFlag.MW_BIND);
                MemoryWindow window = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2);
                MemoryWindow simple = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_1);
                QueuePair pair = parent.createQueuePair(QueuePairInitAttributes.builder()
                        .completionQueue(stack.queue()).build());
                QueuePair datagrams = parent.createQueuePair(QueuePairInitAttributes.builder()
                        .type(QueuePairType.UD).completionQueue(stack.queue()).build())) {
            SendRequest request = SendRequests.allocate(1, 1).get(0);
            MemoryWindowBinding binding = MemoryWindowBinding.of(region, 0, 8);
            FakeVerbs.reset();
            pair.postSend(request.bindMemoryWindow(window, 5, binding));
            simple.bind(pair, 1, binding);
            assertThat(FakeVerbs.functions()).containsExactly("post_send", "fake_bind_mw");

            request.send().datagram(handle, 5, 6);
            FakeVerbs.hold("post_send");
            try (Background<Void> poster = Background.run(() -> datagrams.postSend(request))) {
                FakeVerbs.awaitHeld();
                try (Background<Void> closer = Background.run(handle::close)) {
                    closer.awaitInside(LockGroup.class, "await");
                    FakeVerbs.release();
                    closer.result();
                    poster.result();
                }
            }
        }
        parent.close();
    }

    /** Gives what it is told to, and notes what it is asked. */
    private static final class Scripted implements ParentDomainAllocator {
        private final List<String> calls = new ArrayList<>();
        private Optional<MemorySegment> answer = Optional.empty();
        private boolean throwing;

        @Override
        public Optional<MemorySegment> allocate(long bytes, long alignment, long resourceType) {
            calls.add("allocate " + bytes + " " + alignment + " " + resourceType);
            if (throwing) {
                throw new IllegalStateException("no");
            }
            return answer;
        }

        @Override
        public void free(MemorySegment memory, long resourceType) {
            calls.add("free " + memory.byteSize() + " " + resourceType);
            if (throwing) {
                throw new IllegalStateException("no");
            }
        }
    }

    private static long allocate(ParentDomain parent, long bytes, long alignment) {
        return FakeVerbs.call("fake_parent_allocate", parent.handle().address(), bytes, alignment, 1L << 40);
    }

    @Test
    @Covers("ibv_alloc_parent_domain")
    void theAllocatorIsAskedByC() throws RdmaException {
        Scripted allocator = new Scripted();
        try (Arena arena = Arena.ofShared(); ParentDomain parent = stack.domain()
                .allocateParentDomain(ParentDomainAttributes.create().allocator(allocator))) {
            assertThat(attributes().getInt((int) ibv_parent_domain_init_attr.comp_mask$offset()))
                    .isEqualTo(Rdma.IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS());
            MemorySegment memory = arena.allocate(8192, 4096);

            assertThat(allocate(parent, 100, 64)).isEqualTo(Rdma.IBV_ALLOCATOR_USE_DEFAULT().address());
            allocator.answer = Optional.of(memory);
            assertThat(allocate(parent, 8192, 4096)).isEqualTo(memory.address());
            FakeVerbs.call("fake_parent_free", parent.handle().address(), memory.address(), 1L << 40);
            // not its own: not passed on
            FakeVerbs.call("fake_parent_free", parent.handle().address(), memory.address(), 1L << 40);

            assertThat(allocator.calls).containsExactly("allocate 100 64 1099511627776",
                    "allocate 8192 4096 1099511627776", "free 8192 1099511627776");
        }
    }

    @Test
    void anAllocatorThatMisbehavesGivesNoMemoryAndEndsNothing() throws RdmaException {
        Scripted allocator = new Scripted();
        try (Arena arena = Arena.ofShared(); ParentDomain parent = stack.domain()
                .allocateParentDomain(ParentDomainAttributes.create().allocator(allocator))) {
            MemorySegment memory = arena.allocate(8192, 4096);
            for (MemorySegment wrong : List.of(memory.asSlice(0, 99), memory.asSlice(8, 128), memory.asReadOnly(),
                    MemorySegment.ofArray(new byte[128]))) {
                allocator.answer = Optional.of(wrong);
                assertThat(allocate(parent, 100, 64)).describedAs("%s", wrong).isZero();
                assertThat(allocator.calls).last().isEqualTo("free " + wrong.byteSize() + " " + (1L << 40));
            }
            allocator.answer = null;
            assertThat(allocate(parent, 100, 64)).isZero();
            allocator.answer = Optional.of(memory);
            assertThat(allocate(parent, 100, 64)).isNotZero();
            allocator.throwing = true;
            assertThat(allocate(parent, 100, 64)).isZero();
            FakeVerbs.call("fake_parent_free", parent.handle().address(), memory.address(), 0);
            assertThat(allocator.calls).last().isEqualTo("free 8192 0");
        }
    }

    @Test
    void aFailedParentDomainLeavesNothingBehind() {
        FakeVerbs.fail("fake_alloc_parent_domain", Rdma.ENOMEM());
        assertThatThrownBy(() -> stack.domain()
                .allocateParentDomain(ParentDomainAttributes.create().allocator(new Scripted())))
                .hasMessageStartingWith("ibv_alloc_parent_domain: ENOMEM");
        FakeVerbs.fail("fake_alloc_td", Rdma.ENOMEM());
        assertThatThrownBy(() -> stack.context().allocateThreadDomain())
                .hasMessageStartingWith("ibv_alloc_td: ENOMEM");
    }
}
