// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

import io.rdmacm.bindings.ibv_cq_ex;
import io.rdmacm.bindings.ibv_poll_cq_attr;
import io.rdmacm.bindings.ibv_wc_tm_info;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each function of ibv_cq_ex is called by its own pointer, and its result is read in its own width. */
@WithFakeVerbs
@SuppressWarnings("restricted")
class CompletionQueueExOpsTest {
    private static final MemorySegment ATTRIBUTES = ibv_poll_cq_attr.allocate(Arena.global());
    private static final MemorySegment TAG = ibv_wc_tm_info.allocate(Arena.global());

    // The driver fills the whole register.
    private static final long[] REGISTERS = {0, 1, -1, 0x0123456789abcdefL, 0xfedcba9876543210L, 0x7f80ff00L};

    private FakeStack stack;
    private MemorySegment handle;
    private CompletionQueueExOps ops;

    /** One call: by which member it has to go, and what it must make of the register of the result. */
    record Row(String member, ToLongFunction<CompletionQueueExOps> call, LongFunction<Long> expected) {
        @Override
        public String toString() {
            return member;
        }
    }

    static List<Row> table() {
        LongFunction<Long> nothing = register -> 0L;
        LongFunction<Long> uint8 = register -> register & 0xff;
        LongFunction<Long> uint16 = register -> register & 0xffff;
        LongFunction<Long> int32 = register -> (long) (int) register;
        LongFunction<Long> uint64 = register -> register;
        return List.of(
                new Row("start_poll", q -> q.startPoll(ATTRIBUTES.address()), int32),
                new Row("next_poll", CompletionQueueExOps::nextPoll, int32),
                new Row("end_poll", q -> {
                    q.endPoll();
                    return 0;
                }, nothing),
                new Row("read_opcode", CompletionQueueExOps::readOpcode, int32),
                new Row("read_vendor_err", CompletionQueueExOps::readVendorErr, int32),
                new Row("read_byte_len", CompletionQueueExOps::readByteLen, int32),
                new Row("read_imm_data", CompletionQueueExOps::readImmData, int32),
                new Row("read_imm_data", CompletionQueueExOps::readInvalidatedRkey, int32),
                new Row("read_qp_num", CompletionQueueExOps::readQpNum, int32),
                new Row("read_src_qp", CompletionQueueExOps::readSrcQp, int32),
                new Row("read_wc_flags", CompletionQueueExOps::readWcFlags, int32),
                new Row("read_slid", CompletionQueueExOps::readSlid, int32),
                new Row("read_sl", CompletionQueueExOps::readSl, uint8),
                new Row("read_dlid_path_bits", CompletionQueueExOps::readDlidPathBits, uint8),
                new Row("read_completion_ts", CompletionQueueExOps::readCompletionTs, uint64),
                new Row("read_cvlan", CompletionQueueExOps::readCvlan, uint16),
                new Row("read_flow_tag", CompletionQueueExOps::readFlowTag, int32),
                new Row("read_tm_info", q -> {
                    q.readTmInfo(TAG.address());
                    return ibv_wc_tm_info.tag(TAG);
                }, uint64),
                new Row("read_completion_wallclock_ns", CompletionQueueExOps::readCompletionWallclockNs, uint64));
    }

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        handle = stack.queue().handle().reinterpret(ibv_cq_ex.sizeof());
        ops = new CompletionQueueExOps(handle.address(), false);
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    @Test
    void theTableHasEveryFunctionOfTheStruct() {
        Stream<String> members = ibv_cq_ex.layout().memberLayouts().stream().map(MemoryLayout::name)
                .flatMap(name -> name.stream()).filter(name -> name.matches("(start|next|end)_poll|read_.*"));

        assertThat(table().stream().map(Row::member).distinct())
                .containsExactlyInAnyOrderElementsOf(members.toList());
    }

    @ParameterizedTest
    @MethodSource("table")
    void reachesTheFunction(Row row) {
        for (long register : REGISTERS) {
            FakeVerbs.reset();
            FakeVerbs.result(register);

            long result = row.call().applyAsLong(ops);

            assertThat(result).isEqualTo(row.expected().apply(register));
            assertThat(FakeVerbs.functions()).containsExactly(row.member());
            assertThat(FakeVerbs.calls().getFirst().arguments()).startsWith(handle.address());
        }
    }

    @Test
    void startPollPassesItsAttributes() {
        ibv_poll_cq_attr.comp_mask(ATTRIBUTES, 0x80000001);

        ops.startPoll(ATTRIBUTES.address());

        FakeVerbs.Call call = FakeVerbs.calls().getFirst();
        assertThat(call.arguments()).startsWith(handle.address(), ATTRIBUTES.address());
        assertThat(MemorySegment.ofArray(call.data()).mismatch(ATTRIBUTES)).isEqualTo(-1);
    }

    @Test
    void statusAndIdAreMembers() {
        ibv_cq_ex.status(handle, 12);
        ibv_cq_ex.wr_id(handle, 0x8000000000000001L);

        assertThat(ops.status()).isEqualTo(12);
        assertThat(ops.id()).isEqualTo(0x8000000000000001L);
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("table")
    void aNullPointerIsRefusedAndNotCalled(Row row) {
        try (Arena arena = Arena.ofConfined()) {
            CompletionQueueExOps without = new CompletionQueueExOps(ibv_cq_ex.allocate(arena).address(), false);

            assertThatIllegalArgumentException().isThrownBy(() -> row.call().applyAsLong(without));
        }
        assertThat(FakeVerbs.calls()).isEmpty();
    }
}
