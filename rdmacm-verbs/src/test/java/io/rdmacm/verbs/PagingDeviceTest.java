// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.OdpCapability;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.MappedMemory;
import io.rdmacm.verbs.testing.MemoryTraffic;
import io.rdmacm.verbs.testing.MessageTraffic;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryAdvice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The peer's cases of on-demand paging, under their names; XrcDeviceTest has the one of extended reliable connections.
 * Used where the device has it, refused elsewhere.
 */
@RequiresRdma
class PagingDeviceTest {
    private static final AccessFlag[] LOCAL = {AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND};
    private static final AccessFlag[] REMOTE = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
        AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC, AccessFlag.ON_DEMAND};

    private VerbsContext context;
    private DeviceAttributesEx.OnDemandPaging paging;

    @BeforeEach
    void open() throws RdmaException {
        context = TrafficEnd.openDevice();
        paging = context.queryDeviceEx().onDemandPaging();
    }

    @AfterEach
    void close() throws RdmaException {
        context.close();
    }

    private static void requirePaging(boolean supported, Set<OdpCapability> has, OdpCapability... needed) {
        Assumptions.assumeTrue(supported, "the device has no on-demand paging");
        Assumptions.assumeTrue(has.containsAll(Arrays.asList(needed)),
                "no on-demand paging for " + Arrays.toString(needed) + ", only for " + has);
    }

    private void requireReliable(OdpCapability... needed) {
        requirePaging(paging.supported(), paging.rc(), needed);
    }

    @Test
    @Covers("ibv_advise_mr")
    void whatTheDeviceLacksIsUnsupported() throws Exception {
        Assumptions.assumeFalse(paging.supported(), "the device has on-demand paging");
        try (ProtectionDomain domain = context.allocateProtectionDomain(); MemoryRegion region = domain.allocate(8)) {
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> domain
                    .advise(MemoryAdvice.PREFETCH, true, new MemoryRange(region, 0, 8)))
                    .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_advise_mr"));
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> domain.allocate(8, AccessFlag.ON_DEMAND))
                    .withMessageContaining("the device has no on-demand paging");
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> domain.registerAllMemory(AccessFlag.LOCAL_WRITE))
                    .withMessageContaining("the device has no implicit on-demand paging");
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> domain.registerAllMemory(AccessFlag.RELAXED_ORDERING));
        }
    }

    /** Makes a region of an end. */
    @FunctionalInterface
    private interface RegionMaker {
        MemoryRegion make(TrafficEnd end) throws RdmaException;
    }

    private static final RegionMaker ALLOCATED = end -> end.domain.allocate(MemoryTraffic.ROOM, LOCAL);

    /** Messages to and fro, after advice if there is any. */
    private void assertMessages(RegionMaker maker, MemoryAdvice advice, boolean flush) throws Exception {
        requireReliable(OdpCapability.SEND, OdpCapability.RECV);
        MessageTraffic.connected(new TrafficEnd.Builder(), (one, other) -> {
            MemoryRegion[] regions = {one.own(maker.make(one)), other.own(maker.make(other))};
            for (MemoryRegion region : regions) {
                if (advice != null) {
                    region.protectionDomain().advise(advice, flush,
                            new MemoryRange(region, 0, Math.toIntExact(region.length())));
                }
            }
            MemoryTraffic.pingPong(one, MemoryTraffic.Place.of(regions[0]), other,
                    MemoryTraffic.Place.of(regions[1]));
        });
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_traffic")
    @Covers("ibv_reg_mr")
    void paged() throws Exception {
        assertMessages(ALLOCATED, null, false);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_sync_prefetch_rc_traffic")
    @Covers("ibv_advise_mr")
    void fetchedBefore() throws Exception {
        assertMessages(ALLOCATED, MemoryAdvice.PREFETCH, true);
        assertMessages(ALLOCATED, MemoryAdvice.PREFETCH_WRITE, true);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_async_prefetch_rc_traffic")
    @Covers("ibv_advise_mr")
    void fetchedMeanwhile() throws Exception {
        assertMessages(ALLOCATED, MemoryAdvice.PREFETCH, false);
        assertMessages(ALLOCATED, MemoryAdvice.PREFETCH_WRITE, false);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_prefetch_sync_no_page_fault_rc_traffic")
    @Covers("ibv_advise_mr")
    void toldBefore() throws Exception {
        assertMessages(ALLOCATED, MemoryAdvice.PREFETCH_NO_FAULT, true);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_prefetch_async_no_page_fault_rc_traffic")
    @Covers("ibv_advise_mr")
    void toldMeanwhile() throws Exception {
        assertMessages(ALLOCATED, MemoryAdvice.PREFETCH_NO_FAULT, false);
    }

    /** The same through parts of regions of all memory. */
    private void assertImplicitMessages(MemoryAdvice advice, boolean flush) throws Exception {
        requireReliable(OdpCapability.SEND, OdpCapability.RECV);
        Assumptions.assumeTrue(paging.implicit(), "the device has no implicit on-demand paging");
        assertMessages(end -> {
            ImplicitMemoryRegion all = end.own(end.domain.registerAllMemory(LOCAL));
            return all.part(Arena.ofAuto().allocate(MemoryTraffic.ROOM, Long.BYTES));
        }, advice, flush);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_implicit_rc_traffic")
    @Covers("ibv_reg_mr")
    void allMemory() throws Exception {
        assertImplicitMessages(null, false);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_implicit_sync_prefetch_rc_traffic")
    @Covers("ibv_advise_mr")
    void allMemoryFetchedBefore() throws Exception {
        assertImplicitMessages(MemoryAdvice.PREFETCH_WRITE, true);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_implicit_async_prefetch_rc_traffic")
    @Covers("ibv_advise_mr")
    void allMemoryFetchedMeanwhile() throws Exception {
        assertImplicitMessages(MemoryAdvice.PREFETCH_WRITE, false);
    }

    /** Messages through huge pages, of which some bytes or all are registered. */
    private void assertHugePages(long registered) throws Exception {
        requireReliable(OdpCapability.SEND, OdpCapability.RECV);
        EnumSet<AccessFlag> access = EnumSet.of(AccessFlag.HUGETLB, LOCAL);
        try (Arena arena = Arena.ofShared()) {
            assertMessages(end -> {
                MemorySegment pages = MappedMemory.hugePages(arena, MappedMemory.HUGE_PAGE);
                return end.domain.register(pages.asSlice(0, registered), access.toArray(AccessFlag[]::new));
            }, null, false);
        } catch (RdmaUnsupportedException e) {
            // SoftRoCE of Linux 7.2, which pages others
            Assumptions.abort("the device pages no huge pages: " + e.getMessage());
        }
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_huge_traffic")
    @Covers("ibv_reg_mr")
    void hugePages() throws Exception {
        assertHugePages(MappedMemory.HUGE_PAGE);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_huge_user_addr_traffic")
    @Covers("ibv_reg_mr")
    void aPartOfHugePages() throws Exception {
        assertHugePages(MemoryTraffic.ROOM);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_srq_traffic")
    @Covers("ibv_post_srq_recv")
    void sharedReceiveQueue() throws Exception {
        requireReliable(OdpCapability.SEND, OdpCapability.SRQ_RECV);
        MessageTraffic.connected(new TrafficEnd.Builder().sharedReceiveQueue((end, usual) -> { }), (one, other) -> {
            MemoryTraffic.Place place = MemoryTraffic.Place.of(one.own(ALLOCATED.make(one)));
            MemoryTraffic.Place otherPlace = MemoryTraffic.Place.of(other.own(ALLOCATED.make(other)));
            MemoryTraffic.pingPong(one, place, other, otherPlace);
            // a second pair takes its receives from the same queues
            QueuePair pair = one.createPair();
            QueuePair otherPair = other.createPair();
            one.connect(pair, otherPair, other.gid, LOCAL[0]);
            other.connect(otherPair, pair, one.gid, LOCAL[0]);
            MemoryTraffic.messages(one.requester(pair), place, other, otherPlace);
            MemoryTraffic.messages(other.requester(otherPair), otherPlace, one, place);
        });
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_ud_traffic")
    @Covers("ibv_reg_mr")
    void datagrams() throws Exception {
        requirePaging(paging.supported(), paging.ud(), OdpCapability.SEND);
        MessageTraffic.connected(new TrafficEnd.Builder().type(QueuePairType.UD),
                (one, other) -> MemoryTraffic.messages(one.requester(),
                        MemoryTraffic.Place.of(one.own(ALLOCATED.make(one))), other,
                        MemoryTraffic.Place.of(other.region)));
    }

    private void assertRemote(OdpCapability needed, MemoryTraffic.Remote traffic) throws Exception {
        requireReliable(needed);
        MessageTraffic.connected(new TrafficEnd.Builder(), (one, other) -> {
            MemoryRegion local = one.own(one.domain.allocate(MemoryTraffic.ROOM, REMOTE));
            MemoryRegion remote = other.own(other.domain.allocate(MemoryTraffic.ROOM, REMOTE));
            traffic.run(one.requester(), MemoryTraffic.Place.of(local), MemoryTraffic.Place.of(remote));
        });
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_rdma_write")
    @Covers("ibv_reg_mr")
    void pagedWrites() throws Exception {
        assertRemote(OdpCapability.WRITE, MemoryTraffic::writes);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_rdma_read")
    @Covers("ibv_reg_mr")
    void pagedReads() throws Exception {
        assertRemote(OdpCapability.READ, MemoryTraffic::reads);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_atomic_cmp_and_swp")
    @Covers("ibv_reg_mr")
    void pagedCompareAndSwaps() throws Exception {
        assertRemote(OdpCapability.ATOMIC, MemoryTraffic::compareAndSwaps);
    }

    @Test
    @DisplayName("OdpTestCase.test_odp_rc_atomic_fetch_and_add")
    @Covers("ibv_reg_mr")
    void pagedFetchAndAdds() throws Exception {
        assertRemote(OdpCapability.ATOMIC, MemoryTraffic::fetchAndAdds);
    }

    /** SoftRoCE of Linux 7.2 moves data from and to the start of the page, whatever the address within it. */
    @Test
    @Covers("ibv_reg_mr")
    void anAddressWithinAPage() throws Exception {
        requireReliable(OdpCapability.READ);
        MessageTraffic.connected(new TrafficEnd.Builder(), (one, other) -> {
            MemoryRegion local = one.own(one.domain.allocate(MemoryTraffic.ROOM, REMOTE));
            MemoryRegion remote = other.own(other.domain.allocate(MemoryTraffic.ROOM, REMOTE));
            remote.memory().set(ValueLayout.JAVA_LONG, 0, 1);
            remote.memory().set(ValueLayout.JAVA_LONG, 8, 2);
            one.requester().perform(request -> request.rdmaRead(remote.remoteAddress() + 8, remote.remoteKey())
                    .data(local, 16, 8));
            long first = local.memory().get(ValueLayout.JAVA_LONG, 0);
            Assumptions.assumeTrue(first == 0, "this device ignores the address within a page of paged memory");
            assertThat(local.memory().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(2);
        });
    }
}
