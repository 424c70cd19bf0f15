// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.HandMadePair;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.SendOpcode;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A peer that goes for memory it was not given gets nothing and changes nothing: neither of the region, nor of what
 * lies around it. The region is in the middle of memory whose every byte is known.
 */
@RequiresRdma
class RemoteAccessDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behind();

    private static final int PAGE = 4096;
    private static final int AROUND = 4 * PAGE;
    private static final int LENGTH = 2 * PAGE;
    private static final AccessFlag[] ALL = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
        AccessFlag.REMOTE_ATOMIC, AccessFlag.MW_BIND};

    /** What the peer may do, where it goes for, and with what. */
    enum Attempt {
        WRITE_WITH_A_WRONG_KEY(0, 64, 1, SendOpcode.RDMA_WRITE, ALL),
        WRITE_WITH_A_KEY_OF_ANOTHER_INDEX(0, 64, 0x100, SendOpcode.RDMA_WRITE, ALL),
        WRITE_BEFORE_THE_BEGINNING(-PAGE, 64, 0, SendOpcode.RDMA_WRITE, ALL),
        WRITE_ACROSS_THE_BEGINNING(-1, 64, 0, SendOpcode.RDMA_WRITE, ALL),
        WRITE_ACROSS_THE_END(LENGTH - 63, 64, 0, SendOpcode.RDMA_WRITE, ALL),
        WRITE_OF_MANY_PACKETS_ACROSS_THE_END(PAGE, PAGE + 1, 0, SendOpcode.RDMA_WRITE, ALL),
        WRITE_LONGER_THAN_THE_REGION(0, LENGTH + 1, 0, SendOpcode.RDMA_WRITE, ALL),
        WRITE_AFTER_THE_END(LENGTH, 1, 0, SendOpcode.RDMA_WRITE, ALL),
        WRITE_AT_THE_END_OF_ALL_ADDRESSES(Long.MIN_VALUE, PAGE, 0, SendOpcode.RDMA_WRITE, ALL),
        WRITE_TO_A_REGION_TO_READ(0, 64, 0, SendOpcode.RDMA_WRITE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ),
        WRITE_TO_A_REGION_OF_ITS_OWNER(0, 64, 0, SendOpcode.RDMA_WRITE, AccessFlag.LOCAL_WRITE),
        READ_WITH_A_WRONG_KEY(0, 64, 1, SendOpcode.RDMA_READ, ALL),
        READ_ACROSS_THE_END(LENGTH - 63, 64, 0, SendOpcode.RDMA_READ, ALL),
        READ_OF_MANY_PACKETS_ACROSS_THE_END(PAGE, PAGE + 1, 0, SendOpcode.RDMA_READ, ALL),
        READ_OF_A_REGION_TO_WRITE(0, 64, 0, SendOpcode.RDMA_READ, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE),
        ADD_TO_A_REGION_WITHOUT_ATOMICS(0, 8, 0, SendOpcode.ATOMIC_FETCH_AND_ADD, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ),
        SWAP_AFTER_THE_END(LENGTH, 8, 0, SendOpcode.ATOMIC_CMP_AND_SWP, ALL);

        private final long offset;
        private final int length;
        private final int wrongness;
        private final SendOpcode opcode;
        private final AccessFlag[] access;

        Attempt(long offset, int length, int wrongness, SendOpcode opcode, AccessFlag... access) {
            this.offset = offset;
            this.length = length;
            this.wrongness = wrongness;
            this.opcode = opcode;
            this.access = access;
        }

        SendRequest request(long address, int key) {
            long remote = offset == Long.MIN_VALUE ? -length / 2 : address + offset;
            SendRequest request = SendRequests.allocate(1, 1).get(0).id(1);
            return switch (opcode) {
                case RDMA_WRITE -> request.rdmaWrite(remote, key ^ wrongness);
                case RDMA_READ -> request.rdmaRead(remote, key ^ wrongness);
                case ATOMIC_FETCH_AND_ADD -> request.fetchAndAdd(remote, key, 1);
                default -> request.compareAndSwap(remote, key, 0x2a2a2a2a2a2a2a2aL, 1);
            };
        }
    }

    /** The memory of the victim and that of the attacker, each filled with a value of its own. */
    private static MemorySegment filled(Arena arena, int value) {
        return arena.allocate(AROUND + LENGTH + AROUND, PAGE).fill((byte) value);
    }

    private static void assertRefused(String what, HandMadePair pair, SendRequest request, MemorySegment victim,
            MemorySegment attacker) throws Exception {
        Measured attempt = Measured.fromNow();
        pair.a().queuePair().postSend(request);
        WorkCompletion completion = pair.a().completion();
        attempt.print(what);
        assertThat(completion.status())
                .isIn(WorkCompletionStatus.REM_ACCESS_ERR, WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(pair.a().queuePair().state()).isEqualTo(QueuePairState.ERROR);
        assertThat(victim.toArray(ValueLayout.JAVA_BYTE)).containsOnly(42);
        assertThat(attacker.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
    }

    @ParameterizedTest
    @EnumSource
    @Covers({"ibv_post_send", "ibv_reg_mr"})
    void nothingIsReadOrChanged(Attempt attempt) throws Exception {
        try (Arena arena = Arena.ofShared(); HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            MemorySegment victim = filled(arena, 42);
            MemorySegment attacker = filled(arena, 7);
            MemoryRegion region = pair.own(pair.domain().register(victim.asSlice(AROUND, LENGTH), attempt.access));
            MemoryRegion own = pair.own(pair.domain().register(attacker, AccessFlag.LOCAL_WRITE));

            assertRefused(attempt.toString(), pair, attempt.request(region.remoteAddress(), region.remoteKey())
                    .data(own, AROUND, attempt.length), victim, attacker);
        }
    }

    @Test
    @Covers({"ibv_post_send", "ibv_alloc_pd"})
    void aRegionOfAnotherProtectionDomainIsOutOfReach() throws Exception {
        try (Arena arena = Arena.ofShared(); HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            MemorySegment victim = filled(arena, 42);
            MemorySegment attacker = filled(arena, 7);
            ProtectionDomain other = pair.own(pair.context().allocateProtectionDomain());
            MemoryRegion region = pair.own(other.register(victim, ALL));
            MemoryRegion own = pair.own(pair.domain().register(attacker, AccessFlag.LOCAL_WRITE));

            assertRefused("another protection domain", pair, SendRequests.allocate(1, 1).get(0)
                    .rdmaWrite(region.remoteAddress(), region.remoteKey()).data(own, 0, 64), victim, attacker);
        }
    }

    @Test
    @Covers({"ibv_post_send", "ibv_alloc_mw", "ibv_dealloc_mw"})
    void aRevokedWindowIsShut() throws Exception {
        try (Window window = new Window()) {
            SendRequest write = window.write(LENGTH - 64);
            run(window.pair.a(), write);
            assertThat(window.victim.asSlice(AROUND + LENGTH - 64, 64).toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
            window.victim.fill((byte) 42);
            run(window.pair.b(), SendRequests.allocate(1, 1).get(0).localInvalidate(window.key));

            assertRefused("revoked window", window.pair, write, window.victim, window.attacker);
        }
    }

    @Test
    @Covers({"ibv_post_send", "ibv_alloc_mw"})
    void aWindowIsNoWiderThanItWasMade() throws Exception {
        try (Window window = new Window()) {
            SendRequest write = window.write(LENGTH - 63);
            window.pair.a().queuePair().postSend(write);
            WorkCompletionStatus status = window.pair.a().completion().status();
            Assumptions.assumeFalse(status == WorkCompletionStatus.SUCCESS,
                    "this device holds a peer to the bounds of the region, not to those of the window");
            assertThat(status).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            assertThat(window.victim.toArray(ValueLayout.JAVA_BYTE)).containsOnly(42);
        }
    }

    @Test
    @Covers({"ibv_post_send", "ibv_alloc_mw"})
    void aWindowDoesNotReachBeyondItsRegion() throws Exception {
        try (Window window = new Window()) {
            assertRefused("window and beyond its region", window.pair, window.write(LENGTH + PAGE - 63), window.victim,
                    window.attacker);
        }
    }

    /** A window in the middle of a region, which is in the middle of the victim's memory. */
    private static final class Window implements AutoCloseable {
        final Arena arena = Arena.ofShared();
        final HandMadePair pair = HandMadePair.of(QueuePairType.RC).build();
        final MemorySegment victim = filled(arena, 42);
        final MemorySegment attacker = filled(arena, 7);
        final MemoryRegion own = pair.own(pair.domain().register(attacker, AccessFlag.LOCAL_WRITE));
        final MemoryWindowBinding granted;
        final int key;

        Window() throws Exception {
            MemoryRegion region = pair.own(pair.domain().register(victim.asSlice(AROUND - PAGE, LENGTH + 2 * PAGE),
                    AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND));
            MemoryWindow window = pair.own(pair.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2));
            key = MemoryWindow.incrementKey(window.remoteKey());
            granted = MemoryWindowBinding.of(region, PAGE, LENGTH, AccessFlag.REMOTE_WRITE);
            run(pair.b(), SendRequests.allocate(1, 1).get(0).bindMemoryWindow(window, key, granted));
        }

        /** Of 64 bytes, from an offset into the window. */
        SendRequest write(long offset) {
            return SendRequests.allocate(1, 1).get(0).id(1).data(own, 0, 64)
                    .rdmaWrite(granted.remoteAddress() + offset, key);
        }

        @Override
        public void close() throws RdmaException {
            pair.close();
            arena.close();
        }
    }

    private static void run(HandMadePair.Side side, SendRequest request) throws Exception {
        side.queuePair().postSend(request);
        assertThat(side.completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }
}
