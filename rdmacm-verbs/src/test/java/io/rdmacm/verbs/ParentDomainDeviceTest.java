// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.MappedMemory;
import io.rdmacm.verbs.testing.MessageTraffic;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The peer's cases of parent domains, under their names: messages between queue pairs that are made in them. */
@RequiresRdma
class ParentDomainDeviceTest {
    private static final int LENGTH = 1000;

    private static void traffic(TrafficEnd.Builder builder, ParentDomainAttributes attributes) throws Exception {
        MessageTraffic.connected(builder.parentDomain(attributes),
                (one, other) -> MessageTraffic.pingPong(one, other, LENGTH, false));
    }

    /** Notes what it gave and got back. */
    private abstract static class Allocator implements ParentDomainAllocator {
        private final List<MemorySegment> given = new ArrayList<>();
        private final List<MemorySegment> freed = new ArrayList<>();

        abstract MemorySegment make(long bytes, long alignment);

        @Override
        public Optional<MemorySegment> allocate(long bytes, long alignment, long resourceType) {
            given.add(make(bytes, Math.max(1, alignment)));
            return Optional.of(given.getLast());
        }

        @Override
        public void free(MemorySegment memory, long resourceType) {
            freed.add(memory);
        }

        /** Traffic with it. */
        void run(TrafficEnd.Builder builder) throws Exception {
            traffic(builder, ParentDomainAttributes.create().allocator(this));
            assertThat(given).isNotEmpty();
            assertThat(freed).containsExactlyInAnyOrderElementsOf(given);
        }
    }

    private static void aligned(TrafficEnd.Builder builder) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            new Allocator() {
                @Override
                MemorySegment make(long bytes, long alignment) {
                    return arena.allocate(bytes, alignment);
                }
            }.run(builder);
        }
    }

    @Test
    @DisplayName("ParentDomainTrafficTest.test_without_allocators_rc_traffic")
    @Covers("ibv_alloc_parent_domain")
    void withoutAllocators() throws Exception {
        traffic(new TrafficEnd.Builder(), ParentDomainAttributes.create());
    }

    @Test
    @DisplayName("ParentDomainTrafficTest.test_default_allocators_rc_traffic")
    @Covers("ibv_alloc_parent_domain")
    void theDefaultAllocators() throws Exception {
        traffic(new TrafficEnd.Builder(), ParentDomainAttributes.create().allocator(new ParentDomainAllocator() {
            @Override
            public Optional<MemorySegment> allocate(long bytes, long alignment, long resourceType) {
                return Optional.empty();
            }

            @Override
            public void free(MemorySegment memory, long resourceType) {
                throw new AssertionError("was given nothing");
            }
        }));
    }

    @Test
    @DisplayName("ParentDomainTrafficTest.test_mem_align_rc_traffic")
    @Covers("ibv_alloc_parent_domain")
    void anAllocator() throws Exception {
        aligned(new TrafficEnd.Builder());
    }

    @Test
    @DisplayName("ParentDomainTrafficTest.test_mem_align_ud_traffic")
    @Covers("ibv_alloc_parent_domain")
    void anAllocatorForDatagrams() throws Exception {
        aligned(new TrafficEnd.Builder().type(QueuePairType.UD));
    }

    @Test
    @DisplayName("ParentDomainTrafficTest.test_mem_align_srq_excq_rc_traffic")
    @Covers({"ibv_alloc_parent_domain", "ibv_create_srq", "ibv_create_cq_ex"})
    void anAllocatorForAllQueues() throws Exception {
        aligned(new TrafficEnd.Builder().extendedQueue(true).sharedReceiveQueue((end, usual) -> { }));
    }

    @Test
    @DisplayName("ParentDomainTrafficTest.test_huge_page_traffic")
    @Covers("ibv_alloc_parent_domain")
    void hugePages() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment pages = MappedMemory.hugePages(arena, 2 * MappedMemory.HUGE_PAGE);
            new Allocator() {
                private long used;

                @Override
                MemorySegment make(long bytes, long alignment) {
                    long start = (used + alignment - 1) / alignment * alignment;
                    used = start + bytes;
                    return pages.asSlice(start, bytes);
                }
            }.run(new TrafficEnd.Builder());
        }
    }
}
