// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_recv_wr;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendFlag;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the driver gets when work is posted, and what the program is told when it refuses. */
@WithFakeVerbs
class PostTest {
    private final SendRequests sends = SendRequests.allocate(5, 4);
    private final ReceiveRequests receives = ReceiveRequests.allocate(5, 4);
    private FakeStack stack;
    private long pair;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        pair = stack.queuePair().handle().address();
        for (int i = 0; i < 5; i++) {
            sends.get(i).id(100 + i).data(stack.region(), 8 * i, 8);
            receives.get(i).id(200 + i).data(stack.region(), 8 * i, 8);
        }
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    /** The ids of the requests that the driver saw, in its order. */
    private static List<Long> ids() {
        List<Long> ids = new ArrayList<>();
        for (FakeVerbs.Call call : FakeVerbs.calls()) {
            if (call.data().length > 0) {
                ids.add(MemorySegment.ofArray(call.data()).get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
            }
        }
        return ids;
    }

    @Test
    void oneSendIsPassedAsItIs() throws RdmaException {
        stack.queuePair().postSend(sends.get(2));

        FakeVerbs.Call call = FakeVerbs.calls().getFirst();
        assertThat(FakeVerbs.functions()).containsExactly("post_send");
        assertThat(call.arguments()).startsWith(pair, sends.get(2).address());
        MemorySegment struct = sends.memory().asSlice(2 * ibv_send_wr.sizeof(), ibv_send_wr.sizeof());
        assertThat(call.data()).startsWith(struct.toArray(ValueLayout.JAVA_BYTE))
                .hasSize((int) (ibv_send_wr.sizeof() + ibv_sge.sizeof()));
    }

    @Test
    void oneReceiveIsPassedAsItIs() throws RdmaException {
        stack.queuePair().postReceive(receives.get(4));

        FakeVerbs.Call call = FakeVerbs.calls().getFirst();
        assertThat(FakeVerbs.functions()).containsExactly("post_recv");
        assertThat(call.arguments()).startsWith(pair, receives.get(4).address());
        MemorySegment struct = receives.memory().asSlice(4 * ibv_recv_wr.sizeof(), ibv_recv_wr.sizeof());
        assertThat(call.data()).startsWith(struct.toArray(ValueLayout.JAVA_BYTE))
                .hasSize((int) (ibv_recv_wr.sizeof() + ibv_sge.sizeof()));
    }

    @Test
    void aBatchIsOneCallWithAChain() throws RdmaException {
        stack.queuePair().postSend(sends, 1, 3);
        assertThat(FakeVerbs.functions()).containsExactly("post_send", "next_send", "next_send");
        assertThat(ids()).containsExactly(101L, 102L, 103L);

        FakeVerbs.reset();
        stack.queuePair().postReceive(receives, 0, 5);
        assertThat(FakeVerbs.calls("post_recv")).hasSize(1);
        assertThat(ids()).containsExactly(200L, 201L, 202L, 203L, 204L);
    }

    @Test
    void aChainLeavesNoLinkBehind() throws RdmaException {
        stack.queuePair().postSend(sends, 0, 5);
        stack.queuePair().postReceive(receives, 0, 5);
        FakeVerbs.reset();

        stack.queuePair().postSend(sends.get(0));
        stack.queuePair().postReceive(receives.get(3));
        stack.queuePair().postSend(sends, 2, 2);
        stack.queuePair().postReceive(receives, 4, 1);

        assertThat(ids()).containsExactly(100L, 203L, 102L, 103L, 204L);
    }

    @Test
    void aBlockWhoseSizeIsNoNumberIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SendRequests.allocate(Integer.MAX_VALUE, Integer.MAX_VALUE))
                .withMessageContaining("2147483647 requests with 2147483647 scatter/gather entries");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ReceiveRequests.allocate(Integer.MAX_VALUE, Integer.MAX_VALUE))
                .withMessageContaining("2147483647 requests with 2147483647 scatter/gather entries");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TagOperations.allocate(Integer.MAX_VALUE, Integer.MAX_VALUE))
                .withMessageContaining("2147483647 requests with 2147483647 scatter/gather entries");
    }

    @Test
    void partsOfABlockArePostedInAnyOrder() throws RdmaException {
        SendRequests block = SendRequests.allocate(4, 1);
        ReceiveRequests room = ReceiveRequests.allocate(4, 1);
        for (int i = 0; i < 4; i++) {
            block.get(i).id(i);
            room.get(i).id(10 + i);
        }

        for (int round = 0; round < 2; round++) {
            FakeVerbs.reset();
            stack.queuePair().postSend(block, 0, 4);
            stack.queuePair().postSend(block, 0, 4);
            stack.queuePair().postSend(block.get(1));
            stack.queuePair().postSend(block, 0, 4);
            stack.queuePair().postSend(block, 1, 2);
            stack.queuePair().postSend(block, 0, 3);
            assertThat(ids()).containsExactly(0L, 1L, 2L, 3L, 0L, 1L, 2L, 3L, 1L, 0L, 1L, 2L, 3L, 1L, 2L, 0L, 1L, 2L);

            FakeVerbs.reset();
            stack.queuePair().postReceive(room, 0, 4);
            stack.queuePair().postReceive(room, 0, 4);
            stack.queuePair().postReceive(room.get(0));
            stack.queuePair().postReceive(room, 0, 4);
            stack.queuePair().postReceive(room, 2, 2);
            assertThat(ids()).containsExactly(10L, 11L, 12L, 13L, 10L, 11L, 12L, 13L, 10L, 10L, 11L, 12L, 13L, 12L,
                    13L);
        }
    }

    @Test
    void aRequestThatBecomesInlineIsLookedAtFromThenOn() throws RdmaException {
        SendRequests block = SendRequests.allocate(2, 1);
        SendRequest second = block.get(1).data(stack.region(), 0, 65);
        stack.queuePair().postSend(second);
        stack.queuePair().postSend(block, 0, 2);
        String message = "the inline data has 65 bytes; the queue pair allows 64";

        second.inline(true);
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(second)).withMessage(message);
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(block, 0, 2))
                .withMessage(message);
        second.inline(false);
        stack.queuePair().postSend(block, 0, 2);

        SendRequest other = SendRequests.allocate(1, 1).get(0).data(stack.region(), 0, 65);
        stack.queuePair().postSend(other);
        other.flags(EnumSet.of(SendFlag.INLINE));
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(other)).withMessage(message);
    }

    @Test
    void aRefusedRequestIsNamedByItsIndex() {
        // the third of the chain, which begins with the second of the block
        FakeVerbs.fail("next_send", Rdma.ENOMEM(), 1);
        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> stack.queuePair().postSend(sends, 1, 4))
                .withMessageStartingWith("ibv_post_send (request 3 on " + stack.queuePair() + "): ENOMEM")
                .satisfies(e -> assertThat(e.failedIndex()).isEqualTo(3))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.ENOMEM()));
        assertThat(ids()).containsExactly(101L, 102L);

        FakeVerbs.reset();
        FakeVerbs.fail("next_recv", Rdma.EINVAL(), 3);
        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> stack.queuePair().postReceive(receives, 0, 5))
                .withMessageStartingWith("ibv_post_recv (request 4 on ")
                .satisfies(e -> assertThat(e.failedIndex()).isEqualTo(4));
        assertThat(ids()).containsExactly(200L, 201L, 202L, 203L);
    }

    @Test
    void aSingleRequestIsRefusedToo() throws RdmaException {
        FakeVerbs.fail("post_send", Rdma.ENOMEM());
        FakeVerbs.fail("post_recv", Rdma.ENOMEM());

        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> stack.queuePair().postSend(sends.get(0)));
        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> stack.queuePair().postReceive(receives.get(0)));

        stack.queuePair().postSend(sends.get(0));
        stack.queuePair().postReceive(receives.get(0));
    }

    /** As libmthca does, which leaves errno alone: what else it refuses so, was checked before. */
    @Test
    void aDriverThatReturnsMinusOneHasAFullQueue() throws RdmaException {
        FakeVerbs.fail("post_send", -1);
        FakeVerbs.fail("post_recv", -1);

        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> stack.queuePair().postSend(sends.get(0)))
                .withMessageContainingAll("ENOMEM", "is the send queue full?");
        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> stack.queuePair().postReceive(receives.get(0)))
                .withMessageContainingAll("ENOMEM", "is the receive queue full?");
    }

    @Test
    void aNegativeNumberIsThatOfTheError() {
        FakeVerbs.fail("post_send", -Rdma.EINVAL());

        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> stack.queuePair().postSend(sends.get(0)))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL()));
    }

    @ParameterizedTest
    @EnumSource(names = {"NULL", "UNTOUCHED"})
    void aRequestThatTheDriverDoesNotNameIsTheFirst(FakeVerbs.BadRequest how) {
        // leaves behind the addresses of requests
        FakeVerbs.fail("next_send", Rdma.ENOMEM(), 2);
        FakeVerbs.fail("next_recv", Rdma.ENOMEM(), 2);
        refusedAt(4, () -> stack.queuePair().postSend(sends, 1, 4));
        refusedAt(3, () -> stack.queuePair().postReceive(receives, 0, 5));
        FakeVerbs.fail("post_send", Rdma.ENOMEM());
        FakeVerbs.fail("post_recv", Rdma.ENOMEM());
        refusedAt(0, () -> stack.queuePair().postSend(sends.get(3)));
        refusedAt(0, () -> stack.queuePair().postReceive(receives.get(3)));

        FakeVerbs.badRequests(how);
        FakeVerbs.fail("post_send", Rdma.EINVAL());
        FakeVerbs.fail("post_recv", Rdma.EINVAL());
        refusedAt(1, () -> stack.queuePair().postSend(sends, 1, 4));
        refusedAt(2, () -> stack.queuePair().postReceive(receives, 2, 3));
    }

    private static void refusedAt(int index, ThrowingCallable post) {
        assertThatExceptionOfType(WorkRequestException.class).isThrownBy(post)
                .withMessageContaining("(request " + index + " on ")
                .satisfies(e -> assertThat(e.failedIndex()).isEqualTo(index));
    }

    @Test
    void tooManyEntriesAreRefusedBeforeAnythingIsPosted() throws RdmaException {
        // the queue pair takes 3
        for (int i = 1; i < 4; i++) {
            sends.get(4).data(i, stack.region(), 0, 1);
            receives.get(4).data(i, stack.region(), 0, 1);
        }
        String message = "the work request has 4 scatter/gather entries; the queue pair allows 3";

        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(sends.get(4)))
                .withMessage(message);
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(sends, 0, 5))
                .withMessage(message);
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postReceive(receives.get(4)))
                .withMessage(message);
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postReceive(receives, 3, 2))
                .withMessage(message);

        assertThat(FakeVerbs.calls()).isEmpty();
        sends.get(4).data(2, stack.region(), 0, 1);
        stack.queuePair().postSend(sends.get(4));
    }

    @Test
    void rangesOutsideTheBlockAreRefused() {
        for (int[] range : new int[][] {{0, 6}, {5, 1}, {-1, 1}, {4, 2}, {1, Integer.MAX_VALUE}}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> stack.queuePair().postSend(sends, range[0], range[1]));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> stack.queuePair().postReceive(receives, range[0], range[1]));
        }
        for (int count : new int[] {0, -1}) {
            assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(sends, 0, count));
            assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postReceive(receives, 0, count));
        }
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    void inlineDataIsReadByThePost() throws RdmaException {
        byte[] text = "taken along by the post".getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(text, 0, stack.region().memory(), ValueLayout.JAVA_BYTE, 10, text.length);

        stack.queuePair().postSend(sends.get(0).inline(true).data(0, stack.region(), 10, 5)
                .data(1, stack.region(), 15, text.length - 5));

        byte[] data = FakeVerbs.calls().getFirst().data();
        ByteArrayOutputStream taken = new ByteArrayOutputStream();
        int start = (int) (ibv_send_wr.sizeof() + 2 * ibv_sge.sizeof());
        taken.write(data, start, data.length - start);
        assertThat(taken.toByteArray()).isEqualTo(text);
    }

    @Test
    void inlineDataThatIsTooLongIsRefused() throws RdmaException {
        SendRequest request = sends.get(0).inline(true).data(0, stack.region(), 0, 60).data(1, stack.region(), 0, 5);

        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(request))
                .withMessage("the inline data has 65 bytes; the queue pair allows 64");
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(sends, 0, 2));

        assertThat(FakeVerbs.calls()).isEmpty();
        stack.queuePair().postSend(request.inline(false));
        stack.queuePair().postSend(request.inline(true).data(1, stack.region(), 0, 4));
    }

    /** Drivers add lengths up with 32 bits, and copy what is longer over what comes after the request. */
    @Test
    @SuppressWarnings("restricted")
    void inlineDataWhoseLengthExceeds32BitsIsRefused() throws RdmaException {
        MemorySegment most = MemorySegment.ofAddress(1 << 20).reinterpret(Integer.MAX_VALUE);
        try (MemoryRegion region = stack.domain().register(most)) {
            SendRequest request = sends.get(0).inline(true).data(0, region, 0, Integer.MAX_VALUE)
                    .data(1, region, 0, Integer.MAX_VALUE).data(2, region, 0, 12);
            FakeVerbs.reset();

            assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(request))
                    .withMessageContaining("the inline data has 4294967306 bytes");

            assertThat(FakeVerbs.calls()).isEmpty();
        }
    }

    @Test
    void inlineDataOfAClosedRegionIsRefused() throws RdmaException {
        MemoryRegion region = stack.domain().allocate(8);
        SendRequest request = sends.get(1).inline(true).data(region, 0, 8);
        stack.queuePair().postSend(request);
        region.close();
        FakeVerbs.reset();

        assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(request))
                .withMessageContaining("entry 0 of the scatter/gather list"
                        + " names a closed memory region: MemoryRegion[8");
        assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(sends, 0, 3));

        assertThat(FakeVerbs.calls()).isEmpty();
        // not inline, the device looks after it: the completion will tell
        stack.queuePair().postSend(request.inline(false));
    }

    @Test
    void inlineDataOfMemoryThatTheRegionWasMovedAwayFromIsRefused() throws RdmaException {
        try (Arena arena = Arena.ofConfined(); MemoryRegion region = stack.domain().allocate(8)) {
            SendRequest request = sends.get(0).inline(true).data(region, 0, 8);
            stack.queuePair().postSend(request);

            region.reregister(Reregistration.builder().memory(arena.allocate(8)).build());
            FakeVerbs.reset();

            assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(request))
                    .withMessageContaining("the processor cannot read inline data from");
            assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(sends, 0, 1));
            assertThat(FakeVerbs.calls("post_send")).isEmpty();
            stack.queuePair().postSend(request.data(region, 0, 8));
        }
    }

    @Test
    void inlineDataOfMemoryOfTheProgramIsRefusedOnceItIsFreed() throws RdmaException {
        Arena arena = Arena.ofConfined();
        try (MemoryRegion region = stack.domain().register(arena.allocate(8))) {
            SendRequest request = sends.get(0).inline(true).data(region, 0, 8);
            stack.queuePair().postSend(request);
            arena.close();

            assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(request))
                    .withMessageContaining("the processor cannot read inline data from");
            assertThat(FakeVerbs.calls("post_send")).hasSize(1);
        }
    }

    @Test
    void inlineDataIsCheckedForEachQueuePair() throws RdmaException {
        SendRequest request = sends.get(0).inline(true).data(stack.region(), 0, 48);
        stack.queuePair().postSend(request);
        try (QueuePair smaller = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .completionQueue(stack.queue()).maxInlineData(32).build())) {
            assertThatIllegalArgumentException().isThrownBy(() -> smaller.postSend(request))
                    .withMessage("the inline data has 48 bytes; the queue pair allows 32");
            assertThatIllegalArgumentException().isThrownBy(() -> smaller.postSend(sends, 0, 1))
                    .withMessage("the inline data has 48 bytes; the queue pair allows 32");
            stack.queuePair().postSend(request.data(0, stack.region(), 0, 8).data(1, stack.region(), 8, 8));
            assertThatIllegalArgumentException().isThrownBy(() -> smaller.postSend(sends, 0, 1))
                    .withMessage("the work request has 2 scatter/gather entries; the queue pair allows 1");
            smaller.postSend(request.noData());
            smaller.postSend(request.data(0, stack.region(), 0, 8));
        }
        try (ProtectionDomain other = stack.context().allocateProtectionDomain();
                QueuePair foreign = other.createQueuePair(QueuePairInitAttributes.builder()
                        .completionQueue(stack.queue()).maxInlineData(64).build())) {
            assertThatIllegalArgumentException().isThrownBy(() -> foreign.postSend(request))
                    .withMessageContaining("another protection domain than the queue pair");
            stack.queuePair().postSend(request);
            assertThatIllegalArgumentException().isThrownBy(() -> foreign.postSend(sends, 0, 1))
                    .withMessageContaining("another protection domain than the queue pair");
        }
    }

    @Test
    void aReceiveIntoMemoryThatTheDeviceMayNotWriteIsRefused() throws RdmaException {
        try (MemoryRegion readOnly = stack.domain().allocate(8, AccessFlag.REMOTE_READ)) {
            ReceiveRequest request = receives.get(0);

            assertThatIllegalArgumentException().isThrownBy(() -> request.data(readOnly, 0, 8))
                    .withMessageContaining("without LOCAL_WRITE: MemoryRegion[8 bytes");
            assertThatIllegalArgumentException().isThrownBy(() -> request.data(0, readOnly, 0, 8));
        }
    }

    @Test
    void inlineDataOfAClosedArenaIsRefused() throws RdmaException {
        Arena arena = Arena.ofShared();
        try (MemoryRegion region = stack.domain().register(arena.allocate(8))) {
            SendRequest request = sends.get(1).inline(true).data(region, 0, 8);
            arena.close();

            assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(request));
        }
        assertThat(FakeVerbs.calls("post_send")).isEmpty();
    }
}
