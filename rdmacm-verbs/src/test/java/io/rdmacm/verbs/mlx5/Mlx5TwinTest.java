// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.Mlx5Twin;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each operation in Java and, in the same process and with the same memory, in C: the queues, the doorbell records and
 * the registers of the card have the same bytes then. The card does nothing meanwhile. Numbers start again between the
 * two, so that nothing has to be left out of the comparison.
 */
@WithFakeMlx5
class Mlx5TwinTest {
    private static final int MEMORY = 1 << 16;

    @BeforeEach
    void holdTheCard() {
        Mlx5Twin.hold(true);
    }

    @AfterEach
    void releaseTheCard() {
        Mlx5Twin.hold(false);
    }

    @ParameterizedTest
    @MethodSource("operations")
    @Covers({"mlx5dv_wr_set_dc_addr_stream", "mlx5dv_wr_set_mkey_layout_interleaved"})
    void theCardSeesTheSameFromJavaAndFromC(TwinOperation operation) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(MEMORY, MEMORY);
            List<String> java = inJava(operation, memory);

            assertThat(java).isNotEmpty().isEqualTo(inC(operation.name(), memory));
        }
    }

    @Test
    void theCardSeesTheQueueTheRecordAndTheRegister() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(MEMORY, MEMORY);
            List<String> send = inJava(operations().getFirst(), memory);

            assertThat(send).anyMatch(line -> line.startsWith("sends of queue pair"))
                    .anyMatch(line -> line.startsWith("doorbell record of queue pair"))
                    .anyMatch(line -> line.startsWith("registers of page"));
            // a bit in the entry is seen
            assertThat(send).isNotEqualTo(inC("send, fence", memory));
        }
    }

    private static List<String> inJava(TwinOperation operation, MemorySegment memory) throws Exception {
        Mlx5Twin.restart();
        fill(memory);
        try (TwinEnd end = new TwinEnd(operation.queues(), memory)) {
            operation.post(end);
            return Mlx5Twin.view();
        }
    }

    private static List<String> inC(String operation, MemorySegment memory) {
        Mlx5Twin.restart();
        fill(memory);
        return Mlx5Twin.run(operation, memory);
    }

    static List<TwinOperation> operations() {
        return TwinOperation.all();
    }

    @Test
    void everyOperationOfCIsOneOfJava() {
        assertThat(operations()).extracting(TwinOperation::name).doesNotHaveDuplicates()
                .containsExactlyInAnyOrderElementsOf(Mlx5Twin.operations());
    }

    private static void fill(MemorySegment memory) {
        for (int i = 0; i < MEMORY; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (7 * i + 1));
        }
    }
}
