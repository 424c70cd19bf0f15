// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_recv_wr;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The setters write the bytes that a C program writes. */
@WithFakeVerbs
@SuppressWarnings("restricted")
class SendRequestTest {
    private static final long ID = 0xf123456789abcdefL;
    private static final long REMOTE = 0x8877665544332211L;
    private static final int KEY = 0x9abcdef0;
    private static final RemoteMemory MEMORY = new RemoteMemory(REMOTE, KEY, 8);
    private static final int IMMEDIATE = 0x81020384;
    private static final long COMPARE = 0xfedcba9876543210L;
    private static final long SWAP = 0x8000000000000001L;

    // struct oracle_send, see oracle.c
    private static final MemoryLayout ORACLE = MemoryLayout.structLayout(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
            MemoryLayout.paddingLayout(4));

    private FakeStack stack;
    private SendRequests block;
    private SendRequest request;

    /** What is set, and the numbers that C code is given for the same; the immediate or the key to invalidate. */
    record Row(SendOpcode opcode, UnaryOperator<SendRequest> setter, int immediateOrKey) {
        @Override
        public String toString() {
            return opcode.toString();
        }
    }

    static List<Row> opcodes() {
        return List.of(
                new Row(SendOpcode.SEND, SendRequest::send, 0),
                new Row(SendOpcode.SEND_WITH_IMM, r -> r.sendWithImmediate(IMMEDIATE), IMMEDIATE),
                new Row(SendOpcode.SEND_WITH_INV, r -> r.sendWithInvalidate(KEY), KEY),
                new Row(SendOpcode.RDMA_WRITE, r -> r.rdmaWrite(REMOTE, KEY), 0),
                new Row(SendOpcode.RDMA_WRITE_WITH_IMM, r -> r.rdmaWriteWithImmediate(REMOTE, KEY, IMMEDIATE),
                        IMMEDIATE),
                new Row(SendOpcode.RDMA_READ, r -> r.rdmaRead(REMOTE, KEY), 0),
                new Row(SendOpcode.ATOMIC_CMP_AND_SWP, r -> r.compareAndSwap(REMOTE, KEY, COMPARE, SWAP), 0),
                new Row(SendOpcode.ATOMIC_FETCH_AND_ADD, r -> r.fetchAndAdd(REMOTE, KEY, COMPARE), 0),
                new Row(SendOpcode.RDMA_WRITE, r -> r.rdmaWrite(MEMORY), 0),
                new Row(SendOpcode.RDMA_WRITE_WITH_IMM, r -> r.rdmaWriteWithImmediate(MEMORY, IMMEDIATE), IMMEDIATE),
                new Row(SendOpcode.RDMA_READ, r -> r.rdmaRead(MEMORY), 0),
                new Row(SendOpcode.ATOMIC_CMP_AND_SWP, r -> r.compareAndSwap(MEMORY, COMPARE, SWAP), 0),
                new Row(SendOpcode.ATOMIC_FETCH_AND_ADD, r -> r.fetchAndAdd(MEMORY, COMPARE), 0),
                new Row(SendOpcode.LOCAL_INV, r -> r.localInvalidate(KEY), KEY));
    }

    static List<Integer> flags() {
        return List.of(0, Rdma.IBV_SEND_SIGNALED(), Rdma.IBV_SEND_SOLICITED(), Rdma.IBV_SEND_FENCE(),
                Rdma.IBV_SEND_INLINE(), Rdma.IBV_SEND_SIGNALED() | Rdma.IBV_SEND_SOLICITED() | Rdma.IBV_SEND_FENCE()
                        | Rdma.IBV_SEND_INLINE());
    }

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        block = SendRequests.allocate(3, 4);
        request = block.get(1);
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    private MemorySegment struct(int index) {
        return block.memory().asSlice(index * ibv_send_wr.sizeof(), ibv_send_wr.sizeof());
    }

    /** The struct as C fills it. */
    private byte[] oracle(long id, int opcode, int flags, int entries, int immediateOrKey) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(ORACLE);
            long[] longs = {id, ibv_send_wr.sg_list(struct(1)).address()};
            int[] ints = {entries, opcode, flags, immediateOrKey};
            long[] remote = {REMOTE, COMPARE, SWAP};
            MemorySegment.copy(longs, 0, values, ValueLayout.JAVA_LONG, 0, 2);
            MemorySegment.copy(ints, 0, values, ValueLayout.JAVA_INT, 16, 4);
            MemorySegment.copy(remote, 0, values, ValueLayout.JAVA_LONG, 32, 3);
            values.set(ValueLayout.JAVA_INT, 56, KEY);
            MemorySegment expected = ibv_send_wr.allocate(arena);
            FakeVerbs.call("oracle_send", expected.address(), values.address());
            return expected.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private void assertSame(byte[] expected) {
        assertThat(HexFormat.of().formatHex(struct(1).toArray(ValueLayout.JAVA_BYTE)))
                .isEqualTo(HexFormat.of().formatHex(expected));
    }

    @Test
    void beginsInCAsAReceiveRequestDoes() {
        assertThat(List.of(ibv_send_wr.wr_id$offset(), ibv_send_wr.next$offset(), ibv_send_wr.sg_list$offset(),
                ibv_send_wr.num_sge$offset())).containsExactly(ibv_recv_wr.wr_id$offset(), ibv_recv_wr.next$offset(),
                ibv_recv_wr.sg_list$offset(), ibv_recv_wr.num_sge$offset());
    }

    @Test
    void theTableHasEveryOpcode() {
        // MemoryWindowTest compares the struct of BIND_MW, which needs a window, TsoTest that of TSO; the
        // others are for batches only
        assertThat(opcodes()).extracting(Row::opcode).hasSameElementsAs(EnumSet.complementOf(
                EnumSet.of(SendOpcode.BIND_MW, SendOpcode.TSO, SendOpcode.FLUSH, SendOpcode.ATOMIC_WRITE)));
    }

    @ParameterizedTest
    @MethodSource("opcodes")
    void everyOpcodeIsWrittenAsInC(Row row) {
        assertThat(row.setter().apply(request.id(ID))).isSameAs(request);

        assertSame(oracle(ID, row.opcode().value(), Rdma.IBV_SEND_SIGNALED(), 0, row.immediateOrKey()));
    }

    @ParameterizedTest
    @MethodSource("flags")
    void everyFlagIsWrittenAsInC(int flags) {
        request.signaled((flags & Rdma.IBV_SEND_SIGNALED()) != 0)
                .solicited((flags & Rdma.IBV_SEND_SOLICITED()) != 0)
                .fence((flags & Rdma.IBV_SEND_FENCE()) != 0)
                .inline((flags & Rdma.IBV_SEND_INLINE()) != 0);

        assertSame(oracle(0, SendOpcode.SEND.value(), flags, 0, 0));
        request.signaled(false).solicited(false).fence(false).inline(false);
        assertSame(oracle(0, SendOpcode.SEND.value(), 0, 0, 0));
    }

    @Test
    void aNewRequestIsASignaledSendOfNothing() {
        assertSame(oracle(0, SendOpcode.SEND.value(), Rdma.IBV_SEND_SIGNALED(), 0, 0));
        assertThat(block.capacity()).isEqualTo(3);
        assertThat(block.maxScatterGather()).isEqualTo(4);
    }

    @Test
    void requestsHaveListsOfTheirOwn() {
        List<Long> lists = Arrays.stream(new int[] {0, 1, 2})
                .mapToObj(i -> ibv_send_wr.sg_list(struct(i)).address()).toList();
        long afterStructs = block.memory().address() + 3 * ibv_send_wr.sizeof();

        assertThat(lists).containsExactly(afterStructs, afterStructs + 4 * ibv_sge.sizeof(),
                afterStructs + 8 * ibv_sge.sizeof());
        assertThat(block.memory().byteSize()).isEqualTo(3 * (ibv_send_wr.sizeof() + 4 * ibv_sge.sizeof()));
    }

    @Test
    void theScatterListIsWrittenAsInC() {
        request.data(0, stack.region(), 0, 4096).data(1, stack.region(), 4000, 96).data(2, stack.region(), 17, 0);

        assertSame(oracle(0, SendOpcode.SEND.value(), Rdma.IBV_SEND_SIGNALED(), 3, 0));
        assertEntry(0, 0, 4096);
        assertEntry(1, 4000, 96);
        assertEntry(2, 17, 0);
    }

    private void assertEntry(int index, long offset, int length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment expected = ibv_sge.allocate(arena);
            FakeVerbs.call("oracle_entry", expected.address(), stack.region().memory().address() + offset, length,
                    stack.region().localKey());
            MemorySegment entry = ibv_send_wr.sg_list(struct(1)).reinterpret(4 * ibv_sge.sizeof())
                    .asSlice(index * ibv_sge.sizeof(), ibv_sge.sizeof());
            assertThat(entry.mismatch(expected)).isEqualTo(-1);
        }
    }

    @Test
    void aRequestHasLessThanTwoGigabytes() throws RdmaException {
        MemorySegment memory = MemorySegment.ofAddress(1 << 20).reinterpret(1L << 33);
        try (MemoryRegion large = stack.domain().register(memory)) {
            request.data(large, 1, Integer.MAX_VALUE);
            byte[] before = block.memory().toArray(ValueLayout.JAVA_BYTE);
            assertThat(ibv_sge.length(ibv_send_wr.sg_list(struct(1)).reinterpret(ibv_sge.sizeof())))
                    .isEqualTo(Integer.MAX_VALUE);

            assertThatIllegalArgumentException().isThrownBy(() -> request.data(large, 0, 1L << 31))
                    .withMessageContaining("2147483648 bytes");
            assertThat(block.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
        }
    }

    @Test
    void theListEndsWithTheEntrySetLast() {
        request.data(0, stack.region(), 0, 1).data(1, stack.region(), 0, 1).data(2, stack.region(), 0, 1);
        assertThat(ibv_send_wr.num_sge(struct(1))).isEqualTo(3);
        request.data(1, stack.region(), 0, 2);
        assertThat(ibv_send_wr.num_sge(struct(1))).isEqualTo(2);
        request.data(stack.region(), 0, 2);
        assertThat(ibv_send_wr.num_sge(struct(1))).isEqualTo(1);
        request.noData();
        assertThat(ibv_send_wr.num_sge(struct(1))).isZero();
    }

    @Test
    void wrongEntriesAreRefusedAndChangeNothing() throws RdmaException {
        request.data(stack.region(), 0, 8);
        byte[] before = block.memory().toArray(ValueLayout.JAVA_BYTE);

        assertThatIllegalArgumentException().isThrownBy(() -> request.data(2, stack.region(), 0, 1))
                .withMessageContaining("gap");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> request.data(-1, stack.region(), 0, 1));
        for (long[] range : new long[][] {{4096, 1}, {-1, 1}, {0, 4097}, {0, -1}, {Long.MAX_VALUE, 1}}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> request.data(stack.region(), range[0], range[1]));
        }
        MemoryRegion closed = stack.domain().allocate(8);
        closed.close();
        assertThatIllegalStateException().isThrownBy(() -> request.data(closed, 0, 8));

        assertThat(block.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
        request.data(1, stack.region(), 0, 1).data(2, stack.region(), 0, 1).data(3, stack.region(), 0, 1);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> request.data(4, stack.region(), 0, 1));
    }

    @Test
    void aBlockSetsTheIdOfOneRequest() {
        byte[] before = block.memory().toArray(ValueLayout.JAVA_BYTE);
        block.id(1, ID);
        assertThat(ibv_send_wr.wr_id(struct(1))).isEqualTo(ID);

        block.id(1, 0);
        assertThat(block.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> block.id(3, 1));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> block.id(-1, 1));
    }

    @Test
    void aBlockNeedsRoom() {
        assertThatIllegalArgumentException().isThrownBy(() -> SendRequests.allocate(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> SendRequests.allocate(1, 0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> block.get(3));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> block.get(-1));
    }

    @Test
    void anAtomicOperationNeedsEightBytesOfThePeer() {
        RemoteMemory shorter = MEMORY.slice(1);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> request.compareAndSwap(shorter, COMPARE, SWAP));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> request.fetchAndAdd(shorter, 1));
        assertThat(request.opcode()).isEqualTo(SendOpcode.SEND);
    }
}
