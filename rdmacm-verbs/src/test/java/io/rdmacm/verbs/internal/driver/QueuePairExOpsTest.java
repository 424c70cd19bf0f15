// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_data_buf;
import io.rdmacm.bindings.ibv_mw_bind_info;
import io.rdmacm.bindings.ibv_qp_ex;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each function of ibv_qp_ex is called by its own pointer, with its arguments in their places. */
@WithFakeVerbs
class QueuePairExOpsTest {
    private static final NativeFunction QP_TO_QP_EX = NativeFunction.of("ibv_qp_to_qp_ex");

    // Numbers that use the highest bit of their types.
    private static final int KEY = 0x87654321;
    private static final int NUMBER = 0xcafebabe;
    private static final long ADDRESS = 0x8899aabbccddeeffL;
    private static final long VALUE = 0xfedcba9876543210L;
    private static final int SHORT = 0xfffe;

    private static final MemorySegment BYTES = Arena.global().allocateFrom(ValueLayout.JAVA_BYTE,
            new byte[] {1, -2, 3, -4, 5, -6, 7, -8, 9, -10});
    private static final MemorySegment BIND_INFO = ibv_mw_bind_info.allocate(Arena.global()).fill((byte) 0x5a);
    private static final MemorySegment LIST = ibv_sge.allocateArray(3, Arena.global()).fill((byte) 0xa5);
    private static final MemorySegment BUFFERS = buffers();

    private FakeStack stack;
    private long address;

    /** One call: by which member it has to go, with what behind the queue pair, and the data that pointers lead to. */
    record Row(String member, Consumer<QueuePairExOps> call, List<Long> arguments, byte[] data) {
        @Override
        public String toString() {
            return member;
        }
    }

    private static Row row(String member, Consumer<QueuePairExOps> call, long... arguments) {
        return row(member, call, new byte[0], arguments);
    }

    private static Row row(String member, Consumer<QueuePairExOps> call, byte[] data, long... arguments) {
        return new Row(member, call, Arrays.stream(arguments).boxed().toList(), data);
    }

    static List<Row> table() {
        long key = Integer.toUnsignedLong(KEY);
        long number = Integer.toUnsignedLong(NUMBER);
        long bytes = BYTES.address();
        return List.of(
                row("wr_start", QueuePairExOps::start),
                row("wr_complete", q -> assertThat(q.complete()).isEqualTo(NUMBER)),
                row("wr_abort", QueuePairExOps::abort),
                row("wr_send", q -> {
                    q.next(VALUE, KEY);
                    q.send();
                }, VALUE, key),
                row("wr_send_imm", q -> q.sendImm(NUMBER), number),
                row("wr_send_inv", q -> q.sendInv(KEY), key),
                row("wr_send_tso", q -> q.sendTso(bytes, 4, SHORT), new byte[] {1, -2, 3, -4}, bytes, 4, SHORT),
                row("wr_rdma_read", q -> q.rdmaRead(KEY, ADDRESS), key, ADDRESS),
                row("wr_rdma_write", q -> q.rdmaWrite(KEY, ADDRESS), key, ADDRESS),
                row("wr_rdma_write_imm", q -> q.rdmaWriteImm(KEY, ADDRESS, NUMBER), key, ADDRESS, number),
                row("wr_atomic_cmp_swp", q -> q.atomicCmpSwp(KEY, ADDRESS, VALUE, ~VALUE), key, ADDRESS, VALUE, ~VALUE),
                row("wr_atomic_fetch_add", q -> q.atomicFetchAdd(KEY, ADDRESS, VALUE), key, ADDRESS, VALUE),
                row("wr_atomic_write", q -> q.atomicWrite(KEY, ADDRESS, bytes), new byte[] {1, -2, 3, -4, 5, -6, 7, -8},
                        key, ADDRESS, bytes),
                row("wr_flush", q -> q.flush(KEY, ADDRESS, VALUE, 0x103, 0x201), key, ADDRESS, VALUE, 3, 1),
                row("wr_bind_mw", q -> q.bindMw(ADDRESS, KEY, BIND_INFO.address()),
                        BIND_INFO.toArray(ValueLayout.JAVA_BYTE), ADDRESS, key, BIND_INFO.address()),
                row("wr_local_inv", q -> q.localInv(KEY), key),
                row("wr_set_ud_addr", q -> q.setUdAddr(ADDRESS, NUMBER, KEY), ADDRESS, number, key),
                row("wr_set_xrc_srqn", q -> q.setXrcSrqn(NUMBER), number),
                row("wr_set_inline_data", q -> q.setInlineData(bytes, 5), new byte[] {1, -2, 3, -4, 5}, bytes, 5),
                row("wr_set_inline_data_list", q -> q.setInlineDataList(2, BUFFERS.address()),
                        new byte[] {1, -2, 3, 7, -8}, 2, BUFFERS.address()),
                row("wr_set_sge", q -> q.setSge(KEY, ADDRESS, NUMBER), key, ADDRESS, number),
                row("wr_set_sge_list", q -> q.setSgeList(3, LIST.address()), LIST.toArray(ValueLayout.JAVA_BYTE), 3,
                        LIST.address()));
    }

    private static MemorySegment buffers() {
        MemorySegment buffers = ibv_data_buf.allocateArray(2, Arena.global());
        ibv_data_buf.addr(buffers, BYTES);
        ibv_data_buf.length(buffers, 3);
        MemorySegment second = ibv_data_buf.asSlice(buffers, 1);
        ibv_data_buf.addr(second, BYTES.asSlice(6));
        ibv_data_buf.length(second, 2);
        return buffers;
    }

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        address = QP_TO_QP_EX.callLong(stack.queuePair().handle().address());
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    @Test
    void theTableHasEveryFunctionOfTheStruct() {
        Stream<String> members = ibv_qp_ex.layout().memberLayouts().stream().map(MemoryLayout::name)
                .flatMap(name -> name.stream())
                .filter(name -> name.startsWith("wr_") && !name.matches("wr_id|wr_flags"));

        assertThat(table().stream().map(Row::member).distinct())
                .containsExactlyInAnyOrderElementsOf(members.toList());
    }

    @ParameterizedTest
    @MethodSource("table")
    void reachesTheFunction(Row row) {
        reachesTheFunction(row, new QueuePairExOps(address, true));
        reachesTheFunction(row, new QueuePairExOps(address, false));
    }

    private void reachesTheFunction(Row row, QueuePairExOps ops) {
        FakeVerbs.reset();
        FakeVerbs.result(NUMBER);

        row.call().accept(ops);
        row.call().accept(ops);

        List<Long> arguments = new ArrayList<>(List.of(address));
        arguments.addAll(row.arguments());
        assertThat(FakeVerbs.functions()).containsExactly(row.member(), row.member());
        for (FakeVerbs.Call call : FakeVerbs.calls()) {
            assertThat(call.arguments()).startsWith(arguments.toArray(Long[]::new));
            assertThat(call.arguments().subList(arguments.size(), call.arguments().size())).containsOnly(0L);
            assertThat(call.data()).isEqualTo(row.data());
        }
    }

    /** As libmlx5 does when a queue pair becomes ready to send. */
    @Test
    void theDriverMayChangeWhatCompletes() {
        QueuePairExOps ops = new QueuePairExOps(address, true);
        ops.complete();
        Memory.putLong(address + ibv_qp_ex.wr_complete$offset(),
                Memory.getLong(address + ibv_qp_ex.wr_abort$offset()));
        ops.complete();
        assertThat(FakeVerbs.functions()).containsExactly("wr_complete", "wr_abort");
    }

    @Test
    void aRequestThatIsBegunAndDiscardedHasNoFlags() {
        QueuePairExOps ops = new QueuePairExOps(address, true);
        ops.next(7, Rdma.IBV_SEND_FENCE());
        ops.beginOne();
        assertThat(FakeVerbs.functions()).containsExactly("wr_start", "wr_send", "wr_abort");
        assertThat(Memory.getLong(address + ibv_qp_ex.wr_id$offset())).isZero();
        assertThat(Memory.getInt(address + ibv_qp_ex.wr_flags$offset())).isZero();
    }

    @Test
    void noRequestIsBegunWhereNoneCanBe() {
        Memory.putLong(address + ibv_qp_ex.wr_send$offset(), 0);
        new QueuePairExOps(address, true).beginOne();
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("table")
    void aNullPointerIsRefusedAndNotCalled(Row row) {
        try (Arena arena = Arena.ofConfined()) {
            QueuePairExOps without = new QueuePairExOps(ibv_qp_ex.allocate(arena).address(), true);

            assertThatIllegalArgumentException().isThrownBy(() -> row.call().accept(without));
        }
        assertThat(FakeVerbs.calls()).isEmpty();
    }
}
