// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import io.rdmacm.verbs.mlx5.Wqe.AtomicPlace;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Entries have the bytes that C gives them. */
@WithFakeVerbs
class WqeTest {
    private static final HexFormat HEX = HexFormat.of();
    private static final int QUEUE_PAIR = 0xabcdef;
    private static final int REMOTE_KEY = 0x89abcdef;
    private static final long REMOTE_ADDRESS = 0x1122_3344_5566_7780L;
    private static final int OFFSET = 64;
    private static final int EXTENDED = 8;

    private FakeStack stack;
    private AtomicPlace place;

    @BeforeEach
    void open() throws IOException {
        stack = new FakeStack();
        place = new AtomicPlace(REMOTE_ADDRESS, REMOTE_KEY, stack.region(), OFFSET);
    }

    @AfterEach
    void close() throws IOException {
        stack.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 16, 32})
    void aMaskedCompareAndSwapIsThatOfC(int size, @TempDir Path directory) throws Exception {
        byte[] expected = operand(size, 1);
        byte[] compareMask = operand(size, 2);
        byte[] replacement = operand(size, 3);
        byte[] swapMask = operand(size, 4);

        Wqe entry = Wqe.maskedCompareAndSwap(QUEUE_PAIR, place, expected, compareMask, replacement,
                swapMask);

        assertThat(hex(entry)).isEqualTo(ofC(directory, 0x14, size, replacement, expected, swapMask, compareMask));
        assertThat(entry.bytes()).isEqualTo(48 + 4 * size);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 16, 32})
    void aMaskedFetchAndAddIsThatOfC(int size, @TempDir Path directory) throws Exception {
        byte[] addend = operand(size, 5);
        byte[] boundaries = operand(size, 6);

        Wqe entry = Wqe.maskedFetchAndAdd(QUEUE_PAIR, place, addend, boundaries);

        assertThat(hex(entry)).isEqualTo(ofC(directory, 0x15, size, addend, boundaries));
    }

    @Test
    void crossChannelEntriesNameTheQueueAndTheIndex() {
        assertThat(hex(Wqe.waitFor(QUEUE_PAIR, 0x123456, 7)))
                .isEqualTo("0000000fabcdef020000000800000000" + "00000000000000000000000700123456");
        assertThat(hex(Wqe.enableSends(QUEUE_PAIR, 0x123456, 7)))
                .isEqualTo("00000017abcdef020000000800000000" + "00000000000000000000000700123456");
    }

    @Test
    void operandsOfOtherSizesAreRefused() {
        assertThatThrownBy(() -> Wqe.maskedFetchAndAdd(QUEUE_PAIR, place, new byte[4], new byte[4]))
                .isInstanceOf(IllegalArgumentException.class).hasMessage("operands have 8, 16 or 32 bytes, not 4");
        assertThatThrownBy(() -> Wqe.maskedFetchAndAdd(QUEUE_PAIR, place, new byte[8], new byte[16]))
                .isInstanceOf(IllegalArgumentException.class).hasMessage("the operands differ in size: 8 and 16");
        AtomicPlace odd = new AtomicPlace(REMOTE_ADDRESS + 4, REMOTE_KEY, stack.region(), 0);
        assertThatThrownBy(() -> Wqe.maskedFetchAndAdd(QUEUE_PAIR, odd, new byte[8], new byte[8]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the remote address must be a multiple of 8");
        AtomicPlace beyond = new AtomicPlace(REMOTE_ADDRESS, REMOTE_KEY, stack.region(), 4092);
        assertThatThrownBy(() -> Wqe.maskedFetchAndAdd(QUEUE_PAIR, beyond, new byte[8], new byte[8]))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> Wqe.waitFor(1 << 24, 0, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anEntryHasTheSizeThatItsControlSegmentSays() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(48);
            assertThatThrownBy(() -> Wqe.of(memory)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("the control segment says 0 segments, the entry has 3");
            memory.set(ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 4, QUEUE_PAIR << 8 | 3);

            Wqe entry = Wqe.of(memory);
            memory.fill((byte) -1);

            assertThat(entry.bytes()).isEqualTo(48);
            assertThat(hex(entry)).startsWith("00000000abcdef0300");
            for (int bytes : List.of(0, 8, 24, 64 * 16)) {
                assertThatThrownBy(() -> Wqe.of(arena.allocate(bytes)))
                        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("segments of 16 bytes");
            }
        }
    }

    private static byte[] operand(int size, int seed) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) (31 * seed + 7 * i);
        }
        return bytes;
    }

    private static String hex(Wqe entry) {
        return HEX.formatHex(entry.view().toArray(ValueLayout.JAVA_BYTE));
    }

    private String ofC(Path directory, int opcode, int size, byte[]... operands) throws Exception {
        Path program = directory.resolve("entries");
        Path source = Path.of("src/test/c/mlx5/entries.c");
        Process compiler = new ProcessBuilder("gcc", "-std=gnu11", "-Wall", "-o", program.toString(),
                source.toString()).redirectErrorStream(true).start();
        String errors = new String(compiler.getInputStream().readAllBytes());
        assumeTrue(compiler.waitFor() == 0, "gcc cannot compile " + source + ": " + errors);
        int modifier = EXTENDED | Integer.numberOfTrailingZeros(size) - 2;
        List<String> command = new ArrayList<>(List.of(program.toString(), Integer.toString(opcode),
                Integer.toString(modifier), Integer.toString(QUEUE_PAIR), Long.toString(REMOTE_ADDRESS),
                Integer.toUnsignedString(REMOTE_KEY), Long.toString(stack.region().remoteAddress() + OFFSET),
                Integer.toUnsignedString(stack.region().localKey())));
        for (byte[] operand : operands) {
            command.add(HEX.formatHex(operand));
        }
        Process printer = new ProcessBuilder(command).start();
        String line = new String(printer.getInputStream().readAllBytes()).strip();
        assertThat(printer.waitFor()).isZero();
        return line;
    }
}
