// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

import io.rdmacm.bindings.mlx5.mlx5dv_dc_init_attr;
import io.rdmacm.bindings.mlx5.mlx5dv_mr_interleaved;
import io.rdmacm.bindings.mlx5.mlx5dv_qp_init_attr;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is checked, computed and written before the library is asked. */
@WithFakeVerbs
class Mlx5ValuesTest {
    private FakeStack stack;

    @BeforeEach
    void open() throws IOException {
        stack = new FakeStack();
    }

    @AfterEach
    void close() throws IOException {
        stack.close();
    }

    @Test
    void aMissingLibraryIsNamedWithItsPackage() {
        // the property io.rdmacm.libmlx5 names a library that is not there
        assertThatThrownBy(() -> Mlx5Device.isSupported(Device.list().getFirst()))
                .isInstanceOf(NativeLibraryException.class).hasMessageContaining("mlx5dv_is_supported")
                .hasMessageContaining("ibverbs-providers");
        assertThatThrownBy(() -> Mlx5Device.open(Device.list().getFirst()))
                .isInstanceOf(NativeLibraryException.class);
        assertThatThrownBy(() -> Mlx5Device.query(stack.context())).isInstanceOf(NativeLibraryException.class);
        assertThatThrownBy(() -> Mlx5Device.queryPort(stack.context(), 1))
                .isInstanceOf(NativeLibraryException.class);
        assertThatThrownBy(() -> Mlx5Device.clock(stack.context())).isInstanceOf(NativeLibraryException.class);
        assertThatThrownBy(() -> Mkey.create(stack.domain(), 4, MkeyFlag.INDIRECT))
                .isInstanceOf(NativeLibraryException.class);
        assertThatThrownBy(() -> Mlx5QueuePair.create(stack.domain(),
                Mlx5QueuePairAttributes.of(builder(QueuePairType.RC).build())))
                .isInstanceOf(NativeLibraryException.class);
        assertThatThrownBy(() -> DevxObject.create(stack.context(), new byte[16], 16))
                .isInstanceOf(NativeLibraryException.class);
        assertThatThrownBy(() -> DevxUar.allocate(stack.context(), true))
                .isInstanceOf(NativeLibraryException.class);
        assertThatThrownBy(() -> RawQueues.of(stack.queuePair())).isInstanceOf(NativeLibraryException.class);
    }

    @Test
    @Covers("mlx5dv_ts_to_ns")
    void theClockRunsForwardAndAroundItsEnd() {
        Mlx5Clock clock = new Mlx5Clock(1_000_000, 1000, 0, 2 << 10, 10, 0xffff);

        assertThat(clock.toNanoseconds(1000)).isEqualTo(1_000_000);
        assertThat(clock.toNanoseconds(1100)).isEqualTo(1_000_200);
        assertThat(clock.toNanoseconds(900)).isEqualTo(999_800);
        // past the end of its 16 bits
        assertThat(new Mlx5Clock(1_000_000, 0xfff0, 0, 2 << 10, 10, 0xffff).toNanoseconds(0x10))
                .isEqualTo(1_000_064);
        // the part of a nanosecond that was left over counts
        assertThat(new Mlx5Clock(0, 0, 1 << 9, 1 << 9, 10, -1L).toNanoseconds(1)).isEqualTo(1);
    }

    @Test
    void aQueuePairHasOnlyWhatItsTypeHas() {
        QueuePairInitAttributes rc = builder(QueuePairType.RC).build();
        QueuePairInitAttributes driver = builder(QueuePairType.DRIVER).build();

        assertThatThrownBy(() -> Mlx5QueuePairAttributes.of(driver)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Mlx5QueuePairAttributes.dci(rc)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a queue pair of dynamic connections is of type DRIVER, not RC");
        assertThatThrownBy(() -> Mlx5QueuePairAttributes.dct(driver, 1))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("shared receive queue");
        assertThatThrownBy(() -> Mlx5QueuePairAttributes.of(rc).streams(1, 1))
                .isInstanceOf(IllegalArgumentException.class).hasMessage("only initiators have streams");
        assertThatThrownBy(() -> Mlx5QueuePairAttributes.dci(driver).streams(0, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Mlx5QueuePairAttributes.dci(driver)
                .operations(Mlx5SendOperation.MR_LIST)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("this queue pair of type DRIVER can have [RAW_WQE, MEMCPY], not [MR_LIST]");
        assertThatThrownBy(() -> Mlx5QueuePairAttributes.of(QueuePairInitAttributes.builder()
                .completionQueue(stack.queue()).build()).operations(Mlx5SendOperation.RAW_WQE))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("needs send operations of verbs");
    }

    @Test
    @Covers("mlx5dv_create_qp")
    void theAttributesOfAQueuePairAreThoseOfC() {
        QueuePairInitAttributes driver = builder(QueuePairType.DRIVER).build();
        try (Arena arena = Arena.ofConfined()) {
            long initiator = Mlx5QueuePairAttributes.dci(driver).streams(3, 2)
                    .operations(Mlx5SendOperation.RAW_WQE, Mlx5SendOperation.MEMCPY)
                    .flags(Mlx5QueuePairFlag.DISABLE_SCATTER_TO_CQE).write(arena);

            assertThat(Memory.getLong(initiator + mlx5dv_qp_init_attr.comp_mask$offset())).isEqualTo(0b1111);
            assertThat(Memory.getInt(initiator + mlx5dv_qp_init_attr.create_flags$offset())).isEqualTo(1 << 3);
            assertThat(Memory.getLong(initiator + mlx5dv_qp_init_attr.send_ops_flags$offset())).isEqualTo(0b11000);
            long dc = initiator + mlx5dv_qp_init_attr.dc_init_attr$offset();
            assertThat(Memory.getInt(dc + mlx5dv_dc_init_attr.dc_type$offset())).isEqualTo(2);
            assertThat(Memory.getShort(dc + mlx5dv_dc_init_attr.dci_streams$offset())).isEqualTo((short) 0x0203);
            long plain = Mlx5QueuePairAttributes.of(builder(QueuePairType.RC).build()).write(arena);
            assertThat(Memory.getLong(plain + mlx5dv_qp_init_attr.comp_mask$offset())).isZero();
        }
    }

    @Test
    @Covers({"mlx5dv_wr_mr_interleaved", "mlx5dv_wr_mr_list"})
    void layoutsStayWithinTheirRegionsAndAreWrittenAsInC() {
        InterleavedLayout column = InterleavedLayout.of(8,
                new InterleavedLayout.Part(stack.region(), 16, 8, 56), new InterleavedLayout.Part(stack.region(), 0,
                        4, 0));

        assertThat(column.size()).isEqualTo(2);
        assertThat(column.entries()).isEqualTo(3);
        long start = stack.region().memory().address();
        assertThat(Memory.getLong(column.address() + mlx5dv_mr_interleaved.addr$offset())).isEqualTo(start + 16);
        assertThat(Memory.getInt(column.address() + mlx5dv_mr_interleaved.bytes_count$offset())).isEqualTo(8);
        assertThat(Memory.getInt(column.address() + mlx5dv_mr_interleaved.bytes_skip$offset())).isEqualTo(56);
        assertThat(Memory.getInt(column.address() + mlx5dv_mr_interleaved.lkey$offset()))
                .isEqualTo(stack.region().localKey());
        assertThat(Memory.getLong(column.address() + mlx5dv_mr_interleaved.sizeof())).isEqualTo(start);
        // 63 steps of 64 bytes and 8 bytes fit into 4096, one more does not
        assertThat(InterleavedLayout.of(64, new InterleavedLayout.Part(stack.region(), 0, 8, 56)).repetitions())
                .isEqualTo(64);
        assertThatThrownBy(() -> InterleavedLayout.of(65, new InterleavedLayout.Part(stack.region(), 0, 8, 56)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> new InterleavedLayout.Part(stack.region(), 0, 1, 0xffff))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ListLayout.of(new ListLayout.Part(stack.region(), 4090, 7)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(ListLayout::of).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void argumentsAreCheckedBeforeTheLibraryIsAsked() {
        assertThatThrownBy(() -> Mkey.create(stack.domain(), 1 << 16, MkeyFlag.INDIRECT))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Mkey.create(stack.domain(), 4)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a key needs at least one entry and one flag");
        assertThatThrownBy(() -> MkeyConfiguration.create().access(AccessFlag.MW_BIND))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("not [MW_BIND]");
        assertThatThrownBy(() -> Mlx5Device.queryPort(stack.context(), 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Mlx5Device.command(stack.context(), new byte[15], 16))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the command must have from 16 to 65536 bytes, not 15");
        assertThatThrownBy(() -> DevxObject.create(stack.context(), new byte[16], 1 << 17))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DevxUmem.register(stack.context(), MemorySegment.ofArray(new byte[8])))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(MkeyConfiguration.create().access(AccessFlag.LOCAL_WRITE).setters()).isEqualTo(1);
    }

    private QueuePairInitAttributes.Builder builder(QueuePairType type) {
        return QueuePairInitAttributes.builder().type(type).completionQueue(stack.queue())
                .sendOperations(Set.of(SendOperation.SEND));
    }
}
