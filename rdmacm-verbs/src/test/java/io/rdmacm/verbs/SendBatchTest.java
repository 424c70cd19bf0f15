// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp_ex;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.PlacementType;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SelectivityLevel;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Batches of send work requests: the calls of C in their order, and no call at all for what does not fit together. */
@WithFakeVerbs
@SuppressWarnings("restricted")
class SendBatchTest {
    private static final int KEY = 0x87654321;
    private static final long ADDRESS = 0x8899aabbccddeeffL;
    private static final RemoteMemory MEMORY = new RemoteMemory(ADDRESS, KEY, 8);
    private static final long VALUE = 0xfedcba9876543210L;
    private static final MemorySegment BYTES = MemorySegment.ofArray(new byte[] {1, -2, 3, -4, 5, -6, 7, -8});

    private FakeStack stack;
    private QueuePair pair;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_queue_pairs", stack.context().handle().address());
        pair = make(QueuePairType.RC, EnumSet.allOf(SendOperation.class));
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        pair.close();
        stack.close();
    }

    private QueuePair make(QueuePairType type, Set<SendOperation> operations) throws RdmaException {
        return stack.domain().createQueuePair(QueuePairInitAttributes.builder().type(type)
                .completionQueue(stack.queue()).maxSendScatterGather(3).maxInlineData(13).maxTsoHeader(8)
                .sendOperations(operations).build());
    }

    record Row(String function, SendOperation operation, UnaryOperator<SendBatch> call, List<Long> arguments) {
        @Override
        public String toString() {
            return function;
        }
    }

    private static Row row(String function, SendOperation operation, UnaryOperator<SendBatch> call,
            Number... arguments) {
        return new Row(function, operation, call, Arrays.stream(arguments).map(Number::longValue).toList());
    }

    private static long unsigned(int value) {
        return Integer.toUnsignedLong(value);
    }

    private static long network(int value) {
        return unsigned(NetworkOrder.toNetwork(value));
    }

    static List<Row> operations() {
        return List.of(
                row("wr_send", SendOperation.SEND, SendBatch::send),
                row("wr_send_imm", SendOperation.SEND_WITH_IMM, b -> b.sendWithImmediate(KEY), network(KEY)),
                row("wr_send_inv", SendOperation.SEND_WITH_INV, b -> b.sendWithInvalidate(KEY), unsigned(KEY)),
                row("wr_rdma_write", SendOperation.RDMA_WRITE, b -> b.rdmaWrite(ADDRESS, KEY), unsigned(KEY), ADDRESS),
                row("wr_rdma_write_imm", SendOperation.RDMA_WRITE_WITH_IMM,
                        b -> b.rdmaWriteWithImmediate(ADDRESS, KEY, 7), unsigned(KEY), ADDRESS, network(7)),
                row("wr_rdma_read", SendOperation.RDMA_READ, b -> b.rdmaRead(ADDRESS, KEY), unsigned(KEY), ADDRESS),
                row("wr_atomic_cmp_swp", SendOperation.ATOMIC_CMP_AND_SWP,
                        b -> b.compareAndSwap(ADDRESS, KEY, VALUE, ~VALUE), unsigned(KEY), ADDRESS, VALUE, ~VALUE),
                row("wr_atomic_fetch_add", SendOperation.ATOMIC_FETCH_AND_ADD,
                        b -> b.fetchAndAdd(ADDRESS, KEY, VALUE), unsigned(KEY), ADDRESS, VALUE),
                row("wr_atomic_write", SendOperation.ATOMIC_WRITE, b -> b.atomicWrite(ADDRESS, KEY, VALUE),
                        unsigned(KEY), ADDRESS),
                row("wr_flush", SendOperation.FLUSH,
                        b -> b.flush(ADDRESS, KEY, 0xffffffffL, PlacementType.PERSISTENT, SelectivityLevel.MR),
                        unsigned(KEY), ADDRESS, 0xffffffffL, 2, 1),
                row("wr_rdma_write", SendOperation.RDMA_WRITE, b -> b.rdmaWrite(MEMORY), unsigned(KEY), ADDRESS),
                row("wr_rdma_write_imm", SendOperation.RDMA_WRITE_WITH_IMM,
                        b -> b.rdmaWriteWithImmediate(MEMORY, 7), unsigned(KEY), ADDRESS, network(7)),
                row("wr_rdma_read", SendOperation.RDMA_READ, b -> b.rdmaRead(MEMORY), unsigned(KEY), ADDRESS),
                row("wr_atomic_cmp_swp", SendOperation.ATOMIC_CMP_AND_SWP,
                        b -> b.compareAndSwap(MEMORY, VALUE, ~VALUE), unsigned(KEY), ADDRESS, VALUE, ~VALUE),
                row("wr_atomic_fetch_add", SendOperation.ATOMIC_FETCH_AND_ADD,
                        b -> b.fetchAndAdd(MEMORY, VALUE), unsigned(KEY), ADDRESS, VALUE),
                row("wr_atomic_write", SendOperation.ATOMIC_WRITE, b -> b.atomicWrite(MEMORY, VALUE),
                        unsigned(KEY), ADDRESS),
                row("wr_flush", SendOperation.FLUSH,
                        b -> b.flush(MEMORY, PlacementType.PERSISTENT, SelectivityLevel.MR),
                        unsigned(KEY), ADDRESS, 8, 2, 1),
                row("wr_local_inv", SendOperation.LOCAL_INV, b -> b.localInvalidate(KEY), unsigned(KEY)),
                row("wr_send_tso", SendOperation.TSO, b -> b.tso(BYTES, 0xfffe)));
    }

    private FakeVerbs.Call only(String function) {
        List<FakeVerbs.Call> calls = FakeVerbs.calls(function);
        assertThat(calls).hasSize(1);
        return calls.getFirst();
    }

    @ParameterizedTest
    @MethodSource("operations")
    @Covers({"ibv_qp_to_qp_ex", "ibv_wr_start", "ibv_wr_complete", "ibv_wr_send", "ibv_wr_send_imm", "ibv_wr_send_inv",
            "ibv_wr_rdma_write", "ibv_wr_rdma_write_imm", "ibv_wr_rdma_read", "ibv_wr_atomic_cmp_swp",
            "ibv_wr_atomic_fetch_add", "ibv_wr_atomic_write", "ibv_wr_flush",
            "ibv_wr_local_inv", "ibv_wr_send_tso"})
    void anOperationReachesItsFunction(Row row) throws RdmaException {
        try (SendBatch batch = pair.startBatch()) {
            row.call().apply(batch);
            assertThat(FakeVerbs.functions()).containsExactly("wr_start", row.function());
            batch.complete();
        }
        boolean data = row.operation().takesData();
        assertThat(FakeVerbs.functions()).containsExactlyElementsOf(data
                ? List.of("wr_start", row.function(), "wr_set_sge_list", "wr_complete")
                : List.of("wr_start", row.function(), "wr_complete"));
        if (row.operation() != SendOperation.SEND && row.operation() != SendOperation.TSO) {
            List<Long> arguments = only(row.function()).arguments();
            assertThat(arguments.subList(1, 1 + row.arguments().size())).isEqualTo(row.arguments());
        }
        assertThat(only(row.function()).arguments().getFirst()).isEqualTo(pair.handle().address());
    }

    @Test
    @Covers("ibv_wr_flush")
    void aFlushIsCheckedBeforeItReachesTheDriver() throws RdmaException {
        try (SendBatch batch = pair.startBatch()) {
            for (long length : new long[] {-1, 1L << 32, Long.MIN_VALUE}) {
                assertThatIllegalArgumentException().isThrownBy(
                        () -> batch.flush(ADDRESS, KEY, length, PlacementType.GLOBAL, SelectivityLevel.RANGE))
                        .withMessageContaining("4294967295");
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> batch.flush(ADDRESS, KEY, 1, Set.of(), SelectivityLevel.RANGE))
                    .withMessageContaining("at least one placement");
            assertThatThrownBy(() -> batch.flush(ADDRESS, KEY, 1, PlacementType.GLOBAL, null))
                    .isInstanceOf(NullPointerException.class);
            batch.flush(ADDRESS, KEY, 1, EnumSet.allOf(PlacementType.class), SelectivityLevel.RANGE);
            assertThat(only("wr_flush").arguments().subList(1, 6)).containsExactly(unsigned(KEY), ADDRESS, 1L, 3L, 0L);
            assertThatIllegalStateException().isThrownBy(() -> batch.data(stack.region(), 0, 1))
                    .withMessageContaining("FLUSH takes no data");
        }
        try (QueuePair without = make(QueuePairType.RC, EnumSet.complementOf(EnumSet.of(SendOperation.FLUSH)));
                SendBatch batch = without.startBatch()) {
            FakeVerbs.reset();
            assertThatIllegalStateException().isThrownBy(
                    () -> batch.flush(ADDRESS, KEY, 1, PlacementType.GLOBAL, SelectivityLevel.RANGE))
                    .withMessageContaining("without FLUSH");
            assertThat(FakeVerbs.calls()).isEmpty();
        }
    }

    @Test
    void aValueAndHeadersAreCopied() throws RdmaException {
        try (SendBatch batch = pair.startBatch()) {
            batch.atomicWrite(ADDRESS, KEY, VALUE);
            batch.tso(BYTES, 0xfffe).data(stack.region(), 0, 100);
            batch.complete();
        }
        assertThat(ByteBuffer.wrap(only("wr_atomic_write").data()).order(ByteOrder.nativeOrder()).getLong())
                .isEqualTo(VALUE);
        assertThat(only("wr_send_tso").data()).isEqualTo(BYTES.toArray(ValueLayout.JAVA_BYTE));
        assertThat(only("wr_send_tso").arguments().subList(2, 4)).containsExactly(8L, 0xfffeL);
    }

    @Test
    void idAndFlagsAreOfTheRequestsBegunAfterThem() throws RdmaException {
        MemorySegment struct = pair.handle().reinterpret(ibv_qp_ex.sizeof());
        try (SendBatch batch = pair.startBatch()) {
            batch.id(VALUE).signaled(false).fence(true).solicited(true).ipChecksum(true).send();
            long flags = Rdma.IBV_SEND_FENCE() | Rdma.IBV_SEND_SOLICITED() | Rdma.IBV_SEND_IP_CSUM();
            assertThat(only("wr_send").arguments().subList(1, 3)).containsExactly(VALUE, flags);
            batch.id(5).fence(false);
            assertThat(FakeVerbs.functions()).endsWith("wr_send", "wr_set_sge_list");
            batch.send();
            batch.complete();
            assertThat(ibv_qp_ex.wr_id(struct)).isEqualTo(5);
            assertThat(ibv_qp_ex.wr_flags(struct)).isEqualTo((int) flags & ~Rdma.IBV_SEND_FENCE());
        }
        try (SendBatch batch = pair.startBatch()) {
            batch.inline(true).rdmaRead(1, 1);
            assertThat(ibv_qp_ex.wr_id(struct)).isZero();
            assertThat(ibv_qp_ex.wr_flags(struct)).isEqualTo(Rdma.IBV_SEND_SIGNALED());
        }
    }

    @Test
    void whatComesTooLateForItsRequestIsRefused() throws RdmaException {
        try (SendBatch batch = pair.startBatch()) {
            assertThatIllegalStateException().isThrownBy(() -> batch.send().id(1).data(stack.region(), 0, 1))
                    .withMessageContaining("after those for its id and flags");
            assertThatIllegalStateException().isThrownBy(() -> batch.send().inline(true).inlineData(BYTES, 0, 1))
                    .withMessageContaining("after those for its id and flags");
            assertThatIllegalStateException().isThrownBy(() -> batch.send().data(stack.region(), 0, 1))
                    .withMessageContaining("call inline(false) before");
            batch.inlineData(BYTES, 0, 1);
            assertThatIllegalStateException().isThrownBy(() -> batch.inlineData(BYTES, 0, 1))
                    .withMessageContaining("already has its data");
            assertThatIllegalStateException().isThrownBy(() -> batch.inline(false).send().inlineData(BYTES, 0, 1))
                    .withMessageContaining("call inline(true) before");
        }
        assertThat(FakeVerbs.functions()).containsExactly("wr_start", "wr_send", "wr_set_sge_list", "wr_send",
                "wr_set_sge_list", "wr_send", "wr_set_inline_data", "wr_send", "wr_abort");
    }

    @Test
    @Covers({"ibv_wr_set_sge", "ibv_wr_set_sge_list"})
    void partsOfRegionsAreSetOnceForEachRequest() throws RdmaException {
        MemoryRegion region = stack.region();
        try (SendBatch batch = pair.startBatch()) {
            batch.send().data(region, 16, 32);
            batch.send().data(ScatterGatherList.allocate(3).set(0, region, 16, 32).set(1, region, 64, 128));
            batch.complete();
        }
        assertThat(only("wr_set_sge").arguments().subList(1, 4)).containsExactly(unsigned(region.localKey()),
                region.remoteAddress() + 16, 32L);
        FakeVerbs.Call list = only("wr_set_sge_list");
        assertThat(list.arguments().get(1)).isEqualTo(2);
        ByteBuffer entries = ByteBuffer.wrap(list.data()).order(ByteOrder.nativeOrder());
        assertThat(entries.getLong(0)).isEqualTo(region.remoteAddress() + 16);
        assertThat(entries.getInt(8)).isEqualTo(32);
        assertThat(entries.getLong(16)).isEqualTo(region.remoteAddress() + 64);
        assertThat(entries.getInt(24)).isEqualTo(128);
        assertThat(entries.getInt(28)).isEqualTo(region.localKey());
    }

    @Test
    void anOperationWithItsDataMakesTheSameCalls() throws RdmaException {
        MemoryRegion region = stack.region();
        List<FakeVerbs.Call> apart = calls(batch -> {
            batch.id(1).send().data(region, 1, 2).id(2).rdmaWrite(ADDRESS, KEY).data(region, 3, 4);
            batch.inline(true).rdmaWrite(ADDRESS, KEY).inlineData(region, 5, 6).send().inlineData(region, 7, 8);
            batch.rdmaRead(ADDRESS, KEY).data(region, 9, 10);
        });
        List<FakeVerbs.Call> together = calls(batch -> {
            batch.id(1).send(region, 1, 2).id(2).rdmaWrite(ADDRESS, KEY, region, 3, 4);
            batch.inline(true).rdmaWrite(ADDRESS, KEY, region, 5, 6).send(region, 7, 8);
            batch.rdmaRead(ADDRESS, KEY, region, 9, 10);
        });
        RemoteMemory memory = new RemoteMemory(ADDRESS, KEY, 10);
        List<FakeVerbs.Call> checked = calls(batch -> {
            batch.id(1).send(region, 1, 2).id(2).rdmaWrite(memory, region, 3, 4);
            batch.inline(true).rdmaWrite(memory, region, 5, 6).send(region, 7, 8);
            batch.rdmaRead(memory, region, 9, 10);
        });

        assertThat(together).usingRecursiveComparison().isEqualTo(apart);
        assertThat(checked).usingRecursiveComparison().isEqualTo(apart);
        assertThat(together).hasSize(12);
    }

    private List<FakeVerbs.Call> calls(Consumer<SendBatch> program) throws RdmaException {
        FakeVerbs.reset();
        try (SendBatch batch = pair.startBatch()) {
            program.accept(batch);
            batch.complete();
        }
        return FakeVerbs.calls();
    }

    @Test
    void anOperationWhoseDataIsRefusedIsNotStarted() throws RdmaException {
        MemoryRegion closed = stack.domain().allocate(8, AccessFlag.LOCAL_WRITE);
        closed.close();
        MemoryRegion huge = stack.domain().register(MemorySegment.ofAddress(1 << 20).reinterpret(1L << 33));
        int large = pair.capabilities().maxInlineData() + 1;
        FakeVerbs.reset();
        try (SendBatch batch = pair.startBatch()) {
            for (boolean inline : new boolean[] {false, true}) {
                batch.inline(inline);
                assertThatThrownBy(() -> batch.send(stack.region(), stack.region().length(), 1))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> batch.rdmaRead(ADDRESS, KEY, stack.region(), -1, 1))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> batch.rdmaRead(MEMORY, stack.region(), 0, 9))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> batch.rdmaWrite(MEMORY, stack.region(), 0, 9))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatIllegalStateException().isThrownBy(() -> batch.rdmaWrite(ADDRESS, KEY, closed, 0, 1))
                        .withMessageContaining("closed");
            }
            assertThatIllegalArgumentException().isThrownBy(() -> batch.send(stack.region(), 0, large))
                    .withMessageContaining("allows " + (large - 1));
            assertThatIllegalArgumentException().isThrownBy(() -> batch.inline(false).send(huge, 0, 1L << 31))
                    .withMessageContaining("2147483648 bytes");
            assertThatIllegalStateException().isThrownBy(() -> batch.inlineData(BYTES, 0, 1))
                    .withMessageContaining("no request");
            batch.complete();
        }
        assertThat(FakeVerbs.functions()).containsExactly("wr_start", "wr_complete");
        assertThat(calls(batch -> batch.send(huge, 1, Integer.MAX_VALUE)))
                .filteredOn(call -> call.function().equals("wr_set_sge"))
                .singleElement().satisfies(call -> assertThat(call.arguments().get(3))
                        .isEqualTo((long) Integer.MAX_VALUE));
        huge.close();
    }

    @Test
    @Covers({"ibv_wr_set_inline_data", "ibv_wr_set_inline_data_list"})
    void inlineDataIsCopiedWhenItIsGiven() throws RdmaException {
        byte[] source = {1, 2, 3, 4};
        try (SendBatch batch = pair.startBatch()) {
            batch.inline(true).send().inlineData(MemorySegment.ofArray(source), 1, 3);
            source[1] = 9;
            stack.region().memory().copyFrom(BYTES);
            batch.rdmaWrite(ADDRESS, KEY).inlineData(ScatterGatherList.allocate(2).set(0, stack.region(), 0, 8)
                    .set(1, stack.region(), 4, 2));
            batch.complete();
        }
        assertThat(only("wr_send").arguments().get(2))
                .isEqualTo((long) Rdma.IBV_SEND_SIGNALED() | Rdma.IBV_SEND_INLINE());
        assertThat(only("wr_set_inline_data").data()).containsExactly(2, 3, 4);
        assertThat(only("wr_set_inline_data").arguments().get(2)).isEqualTo(3);
        assertThat(only("wr_set_inline_data_list").arguments().get(1)).isEqualTo(2);
        assertThat(only("wr_set_inline_data_list").data()).containsExactly(1, -2, 3, -4, 5, -6, 7, -8, 5, -6);
    }

    @Test
    void whatTheQueuePairDoesNotTakeIsRefusedAndTheBatchGoesOn() throws RdmaException {
        int inline = pair.capabilities().maxInlineData();
        MemorySegment large = MemorySegment.ofArray(new byte[inline + 1]);
        try (SendBatch batch = pair.startBatch()) {
            assertThatIllegalStateException().isThrownBy(() -> batch.data(stack.region(), 0, 1))
                    .withMessageContaining("no request");
            batch.inline(true).send();
            assertThatIllegalArgumentException().isThrownBy(() -> batch.inlineData(large, 0, inline + 1))
                    .withMessageContaining("allows " + inline);
            assertThatIllegalArgumentException().isThrownBy(() -> batch.inlineData(stack.region(), 0, inline + 1))
                    .withMessageContaining("allows " + inline);
            assertThatIllegalArgumentException().isThrownBy(() -> batch.inlineData(parts(2, inline / 2 + 1)))
                    .withMessageContaining("allows " + inline);
            assertThatIllegalArgumentException().isThrownBy(() -> batch.inlineData(parts(4, 1)))
                    .withMessageContaining("more than 3");
            assertThatThrownBy(() -> batch.inlineData(BYTES, 4, 5)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> batch.inlineData(stack.region(), stack.region().length(), 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatIllegalStateException().isThrownBy(() -> batch.inlineData(ofAClosedArena(), 0, 1));
            batch.inlineData(large, 0, inline);
            assertThatIllegalStateException().isThrownBy(() -> batch.inlineData(large, 0, 1))
                    .withMessageContaining("already has its data");
            assertThatIllegalStateException().isThrownBy(() -> batch.data(stack.region(), 0, 1))
                    .withMessageContaining("already has its data");
            batch.inline(false).send();
            assertThatIllegalArgumentException().isThrownBy(() -> batch.data(parts(4, 1)))
                    .withMessageContaining("allows 3");
            assertThatThrownBy(() -> batch.data(stack.region(), stack.region().length(), 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            batch.data(parts(3, 1));
            assertThatIllegalStateException().isThrownBy(() -> batch.data(stack.region(), 3, 1))
                    .withMessageContaining("already has its data");
            batch.inline(true).rdmaRead(ADDRESS, KEY);
            assertThatIllegalStateException().isThrownBy(() -> batch.inlineData(BYTES, 0, 1))
                    .withMessageContaining("takes no inline data");
            batch.localInvalidate(KEY);
            assertThatIllegalStateException().isThrownBy(() -> batch.data(stack.region(), 0, 1))
                    .withMessageContaining("takes no data");
            assertThatIllegalStateException().isThrownBy(() -> batch.remoteSharedReceiveQueue(1));
            assertThatIllegalArgumentException().isThrownBy(() -> batch.tso(large.asSlice(0, 9), 1))
                    .withMessageContaining("headers have 9");
            assertThatIllegalArgumentException().isThrownBy(() -> batch.tso(BYTES, 1 << 16));
            assertThatIllegalArgumentException().isThrownBy(() -> batch.tso(BYTES, 0));
            assertThatIllegalStateException().isThrownBy(() -> batch.tso(ofAClosedArena(), 1));
            batch.complete();
        }
        assertThat(FakeVerbs.functions()).containsExactly("wr_start", "wr_send", "wr_set_inline_data", "wr_send",
                "wr_set_sge_list", "wr_rdma_read", "wr_set_sge_list", "wr_local_inv", "wr_complete");
    }

    private ScatterGatherList parts(int count, int length) {
        ScatterGatherList parts = ScatterGatherList.allocate(count);
        for (int i = 0; i < count; i++) {
            parts.set(i, stack.region(), i, length);
        }
        return parts;
    }

    @Test
    void inlineDataIsOfAnOpenRegionOfTheDomainThatTheProcessorCanRead() throws RdmaException {
        MemoryRegion closed = stack.domain().allocate(8, AccessFlag.LOCAL_WRITE);
        ScatterGatherList list = ScatterGatherList.allocate(1).set(0, closed, 0, 8);
        closed.close();
        try (ProtectionDomain other = stack.context().allocateProtectionDomain();
                MemoryRegion foreign = other.allocate(8, AccessFlag.LOCAL_WRITE);
                SendBatch batch = pair.startBatch()) {
            batch.inline(true).send();
            assertThatIllegalStateException().isThrownBy(() -> batch.inlineData(closed, 0, 8))
                    .withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> batch.inlineData(list))
                    .withMessageContaining("closed memory region");
            assertThatIllegalArgumentException().isThrownBy(() -> batch.inlineData(foreign, 0, 8))
                    .withMessageContaining("another protection domain");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> batch.inlineData(ScatterGatherList.allocate(1).set(0, foreign, 0, 8)))
                    .withMessageContaining("another protection domain");
            batch.inlineData(stack.region(), 0, 8).complete();
        }
        assertThat(FakeVerbs.calls("wr_set_inline_data")).hasSize(1);
    }

    @Test
    void inlineDataOfMemoryThatTheRegionWasMovedAwayFromIsRefused() throws RdmaException {
        try (Arena arena = Arena.ofConfined();
                MemoryRegion region = stack.domain().allocate(8, AccessFlag.LOCAL_WRITE);
                SendBatch batch = pair.startBatch()) {
            ScatterGatherList list = ScatterGatherList.allocate(1).set(0, region, 0, 8);
            batch.inline(true).send(region, 0, 8).send();
            batch.inlineData(list);

            region.reregister(Reregistration.builder().memory(arena.allocate(8)).build());

            batch.send();
            assertThatIllegalStateException().isThrownBy(() -> batch.inlineData(list))
                    .withMessageContaining("the processor cannot read inline data from");
            batch.inlineData(region, 0, 8).complete();
        }
        assertThat(FakeVerbs.calls("wr_set_inline_data")).hasSize(2);
    }

    @Test
    void partsAreSetInOrder() {
        ScatterGatherList list = ScatterGatherList.allocate(2);
        assertThatIllegalArgumentException().isThrownBy(() -> list.set(1, stack.region(), 0, 1))
                .withMessageContaining("would leave a gap");
        list.set(0, stack.region(), 0, 1).set(1, stack.region(), 0, 1);
        assertThatThrownBy(() -> list.set(2, stack.region(), 0, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> list.set(-1, stack.region(), 0, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(list.size()).isEqualTo(2);
        assertThat(list.set(0, stack.region(), 0, 1).size()).isEqualTo(1);
        assertThat(list.clear().size()).isZero();
        assertThat(list.capacity()).isEqualTo(2);
        assertThatIllegalArgumentException().isThrownBy(() -> ScatterGatherList.allocate(0));
    }

    private static MemorySegment ofAClosedArena() {
        try (Arena arena = Arena.ofConfined()) {
            return arena.allocate(4);
        }
    }

    @Test
    @Covers("ibv_wr_bind_mw")
    void aWindowIsBoundWhenTheBatchIsCompletedOnly() throws RdmaException {
        FakeVerbs.call("fake_serve_memory", stack.context().handle().address());
        try (MemoryRegion region = stack.domain().allocate(64, AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
                MemoryWindow window = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            int before = window.remoteKey();
            MemoryWindowBinding binding = MemoryWindowBinding.of(region, 8, 16, AccessFlag.REMOTE_READ);
            FakeVerbs.reset();
            try (SendBatch batch = pair.startBatch()) {
                batch.bindMemoryWindow(window, KEY, binding);
                batch.localInvalidate(1);
                assertThatIllegalStateException().isThrownBy(region::close).withMessageContaining(window.toString());
            }
            assertThat(window.remoteKey()).isEqualTo(before);
            assertThat(FakeVerbs.functions()).containsExactly("wr_start", "wr_bind_mw", "wr_local_inv", "wr_abort");
            FakeVerbs.reset();
            try (SendBatch batch = pair.startBatch()) {
                batch.bindMemoryWindow(window, KEY, binding);
                batch.complete();
            }
            assertThat(window.remoteKey()).isEqualTo(KEY);
            FakeVerbs.Call call = only("wr_bind_mw");
            assertThat(call.arguments().subList(1, 3)).containsExactly(window.handle().address(), unsigned(KEY));
            ByteBuffer info = ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder());
            assertThat(info.getLong(0)).isEqualTo(region.handle().address());
            assertThat(info.getLong(8)).isEqualTo(region.remoteAddress() + 8);
            assertThat(info.getLong(16)).isEqualTo(16);
            assertThat(info.getInt(24)).isEqualTo(Rdma.IBV_ACCESS_REMOTE_READ());
        }
    }

    @Test
    @Covers("ibv_wr_set_ud_addr")
    void aDatagramNeedsAnOpenAddressHandleOfTheDomain() throws RdmaException {
        AddressHandle handle = stack.domain().createAddressHandle(AddressAttributes.builder().build());
        try (QueuePair datagrams = make(QueuePairType.UD, Set.of(SendOperation.SEND));
                ProtectionDomain other = stack.context().allocateProtectionDomain();
                AddressHandle foreign = other.createAddressHandle(AddressAttributes.builder().build());
                SendBatch batch = datagrams.startBatch()) {
            FakeVerbs.reset();
            batch.send();
            assertThatIllegalStateException().isThrownBy(batch::complete)
                    .withMessageContaining("needs a destination: call datagram()");
            assertThatIllegalStateException().isThrownBy(batch::send)
                    .withMessageContaining("needs a destination: call datagram()");
            assertThatIllegalArgumentException().isThrownBy(() -> batch.datagram(foreign, 1, 1));
            assertThatIllegalArgumentException().isThrownBy(() -> batch.datagram(handle, 1 << 24, 1));
            batch.datagram(handle, 0xabcdef, KEY);
            assertThatIllegalStateException().isThrownBy(() -> batch.datagram(handle, 1, 1))
                    .withMessageContaining("already has it");
            batch.send();
            assertThat(FakeVerbs.functions()).containsExactly("wr_send", "wr_set_ud_addr", "wr_set_sge_list",
                    "wr_send");
            assertThat(only("wr_set_ud_addr").arguments().subList(1, 4)).containsExactly(handle.handle().address(),
                    0xabcdefL, unsigned(KEY));
            handle.close();
            assertThatIllegalStateException().isThrownBy(() -> batch.datagram(handle, 1, 1))
                    .withMessageContaining("AddressHandle is closed");
            assertThatIllegalStateException().isThrownBy(batch::complete)
                    .withMessageContaining("needs a destination: call datagram()");
            assertThat(FakeVerbs.calls("wr_set_ud_addr")).hasSize(1);
            assertThatCode(batch::close).doesNotThrowAnyException();
            assertThat(FakeVerbs.calls("wr_abort")).hasSize(1);
            assertThatIllegalStateException().isThrownBy(() -> pair.startBatch().send().datagram(foreign, 1, 1))
                    .withMessageContaining("cannot send datagrams");
        }
    }

    @Test
    @Covers("ibv_wr_set_xrc_srqn")
    void anExtendedReliableConnectionNeedsTheQueueOfThePeer() throws RdmaException {
        try (QueuePair sender = make(QueuePairType.XRC_SEND, Set.of(SendOperation.SEND));
                SendBatch batch = sender.startBatch()) {
            batch.send();
            assertThatIllegalStateException().isThrownBy(batch::complete)
                    .withMessageContaining("needs a destination: call remoteSharedReceiveQueue()");
            batch.remoteSharedReceiveQueue(KEY).complete();
            assertThat(only("wr_set_xrc_srqn").arguments().get(1)).isEqualTo(unsigned(KEY));
        }
    }

    @Test
    @Covers("ibv_wr_abort")
    void aBatchIsCompletedOrAbortedAndThenClosed() throws RdmaException {
        SendBatch batch = pair.startBatch();
        batch.send();
        batch.close();
        batch.close();
        assertThat(FakeVerbs.functions()).containsExactly("wr_start", "wr_send", "wr_abort");
        assertThatIllegalStateException().isThrownBy(batch::send).withMessageContaining("the batch is closed");
        assertThatIllegalStateException().isThrownBy(batch::complete).withMessageContaining("the batch is closed");
        assertThatIllegalStateException().isThrownBy(() -> batch.id(1)).withMessageContaining("the batch is closed");
        FakeVerbs.reset();
        try (SendBatch again = pair.startBatch()) {
            assertThat(again).isSameAs(batch);
            again.complete();
        }
        assertThat(FakeVerbs.functions()).containsExactly("wr_start", "wr_complete");
    }

    @Test
    void aFailedCompletionIsReportedAndClosesTheBatch() throws RdmaException {
        FakeVerbs.result(Rdma.ENOMEM());
        SendBatch batch = pair.startBatch();
        batch.send();
        assertThatThrownBy(batch::complete).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_wr_complete").hasMessageContaining("ENOMEM");
        batch.close();
        assertThat(FakeVerbs.calls("wr_abort")).isEmpty();
        FakeVerbs.result(0);
        pair.startBatch().complete();
    }

    @Test
    void otherPostsAreRefusedWhileABatchIsOpen() throws Exception {
        SendRequest request = SendRequests.allocate(1, 1).get(0);
        try (SendBatch batch = pair.startBatch()) {
            assertThatIllegalStateException().isThrownBy(() -> pair.postSend(request))
                    .withMessageContaining("a batch of this queue pair is open");
            assertThatIllegalStateException().isThrownBy(pair::startBatch).withMessageContaining("is open");
            try (Background<SendBatch> other = Background.call(pair::startBatch)) {
                assertThatThrownBy(other::result).isInstanceOf(IllegalStateException.class);
            }
            // what closes waits for a call of C, never for a batch
            try (MemoryRegion region = stack.domain().allocate(8, AccessFlag.LOCAL_WRITE)) {
                batch.send().data(region, 0, 8);
            }
            batch.complete();
        }
        pair.postSend(request);
        assertThat(FakeVerbs.calls("post_send")).hasSize(1);
    }

    @Test
    void aCloseOfTheQueuePairEndsTheBatch() throws RdmaException {
        SendBatch batch = pair.startBatch();
        batch.send();
        pair.close();
        assertThat(FakeVerbs.functions()).containsExactly("wr_start", "wr_send", "wr_abort", "ibv_destroy_qp");
        assertThatIllegalStateException().isThrownBy(batch::complete).withMessageContaining("QueuePair is closed");
        assertThatIllegalStateException().isThrownBy(batch::send).withMessageContaining("QueuePair is closed");
        assertThatIllegalStateException().isThrownBy(() -> batch.id(1)).withMessageContaining("QueuePair is closed");
        batch.close();
    }

    @Test
    void aRefusedOperationDoesNotEndThePreviousRequest() throws RdmaException {
        try (QueuePair little = make(QueuePairType.RC, Set.of(SendOperation.SEND));
                SendBatch batch = little.startBatch()) {
            batch.send();
            assertThatIllegalStateException().isThrownBy(() -> batch.rdmaWrite(1, 1));
            batch.data(stack.region(), 0, 8).complete();
        }
        assertThat(FakeVerbs.functions()).containsSubsequence("wr_send", "wr_set_sge", "wr_complete")
                .doesNotContain("wr_set_sge_list");
    }

    @Test
    void aQueuePairWithoutTheOperationRefusesIt() throws RdmaException {
        assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().startBatch())
                .withMessageContaining("created without send operations");
        try (QueuePair little = make(QueuePairType.RC, Set.of(SendOperation.SEND));
                SendBatch batch = little.startBatch(); Arena arena = Arena.ofConfined()) {
            assertThatIllegalStateException().isThrownBy(() -> batch.rdmaWrite(1, 1))
                    .withMessage("the queue pair was created without RDMA_WRITE");
            batch.inline(true).send().inlineData(arena.allocate(4), 0, 4).complete();
        }
    }
}
