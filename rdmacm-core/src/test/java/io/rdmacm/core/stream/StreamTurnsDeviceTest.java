// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several threads that write to one stream, or read from it. */
@RequiresRdma
class StreamTurnsDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(Streams::warmUp);

    // several times as much as there is room for
    private static final int BLOCK = 200_000;
    private static final int BLOCKS = 8;

    /** The ways to write and to wait. */
    enum Way {
        SEGMENT {
            @Override
            void write(RdmaStream stream, byte[] block) throws Exception {
                stream.write(MemorySegment.ofArray(block), Streams.TIMEOUT);
            }
        },
        BUFFER {
            @Override
            void write(RdmaStream stream, byte[] block) throws Exception {
                stream.write(ByteBuffer.wrap(block), Streams.TIMEOUT);
            }
        },
        BUFFERS {
            @Override
            void write(RdmaStream stream, byte[] block) throws Exception {
                ByteBuffer[] parts = {ByteBuffer.allocate(0), ByteBuffer.wrap(block, 0, 1000).slice(),
                    ByteBuffer.wrap(block, 1000, block.length - 1000).slice()};
                stream.write(parts, 0, parts.length, Streams.TIMEOUT);
                assertThat(parts[2].hasRemaining()).isFalse();
            }
        };

        abstract void write(RdmaStream stream, byte[] block) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void writersThatWaitDoNotTearEachOthersData(Way way) throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<Void> one = Background.run(() -> writeBlocks(way, pair.client(), 1));
                Background<Void> other = Background.run(() -> writeBlocks(way, pair.client(), 2))) {
            int[] blocks = new int[3];
            for (int i = 0; i < 2 * BLOCKS; i++) {
                byte[] block = Streams.read(pair.server(), BLOCK);
                byte[] whole = new byte[BLOCK];
                Arrays.fill(whole, block[0]);
                assertThat(Arrays.equals(block, whole)).isTrue();
                blocks[block[0]]++;
            }
            assertThat(blocks).containsExactly(0, BLOCKS, BLOCKS);
            one.result();
            other.result();
        }
    }

    private static void writeBlocks(Way way, RdmaStream stream, int writer) throws Exception {
        byte[] block = new byte[BLOCK];
        Arrays.fill(block, (byte) writer);
        for (int i = 0; i < BLOCKS; i++) {
            way.write(stream, block);
        }
    }

    @Test
    void aThreadThatDoesNotWaitWritesNothingInAnothersTurn() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<Void> writing = Background.run(
                        () -> pair.client().write(ByteBuffer.allocate(1_000_000), Streams.TIMEOUT))) {
            writing.awaitAsleep();
            assertThat(pair.client().write(ByteBuffer.wrap(new byte[] {1}))).isZero();
            assertThatThrownBy(() -> pair.client().write(ByteBuffer.wrap(new byte[] {1}), Duration.ZERO))
                    .isInstanceOf(RdmaTimeoutException.class).hasMessageContaining("another thread");
            try (Background<Void> next = Background.run(
                    () -> pair.client().write(ByteBuffer.wrap(new byte[] {2}), Streams.TIMEOUT))) {
                next.awaitAsleep();
                assertThat(Streams.read(pair.server(), 1_000_000)).containsOnly(0);
                assertThat(Streams.read(pair.server(), 1)).containsExactly(2);
                next.result();
            }
        }
    }

    @Test
    void aReaderWaitsForItsTurn() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<byte[]> first = Background.call(() -> Streams.read(pair.server(), 1))) {
            first.awaitAsleep();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isZero();
            assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1), Duration.ZERO))
                    .isInstanceOf(RdmaTimeoutException.class).hasMessageContaining("another thread");
            try (Background<Long> second = Background.call(() -> {
                ByteBuffer[] targets = {ByteBuffer.allocate(0), ByteBuffer.allocate(1)};
                return pair.server().read(targets, 0, 2, Streams.TIMEOUT);
            })) {
                second.awaitAsleep();
                pair.client().write(ByteBuffer.wrap(new byte[] {1}), Streams.TIMEOUT);
                assertThat(first.result()).containsExactly(1);
                pair.client().write(ByteBuffer.wrap(new byte[] {2}), Streams.TIMEOUT);
                assertThat(second.result()).isEqualTo(1);
            }
        }
    }

    @Test
    void thoseThatWaitForTheirTurnCanBeInterruptedAndAreWokenByAClose() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<Integer> first = Background.call(
                        () -> pair.server().read(ByteBuffer.allocate(1), Streams.TIMEOUT))) {
            first.awaitAsleep();
            try (Background<Integer> second = Background.call(
                    () -> pair.server().read(ByteBuffer.allocate(1), Streams.TIMEOUT));
                    Background<Integer> third = Background.virtual(
                            () -> pair.server().read(ByteBuffer.allocate(1), Streams.TIMEOUT))) {
                second.awaitAsleep();
                third.awaitAsleep();
                second.interrupt();
                assertThatThrownBy(second::result).isInstanceOf(InterruptedException.class);
                pair.server().close();
                assertThatThrownBy(first::result).isInstanceOf(RdmaClosedException.class);
                assertThatThrownBy(third::result).isInstanceOf(RdmaClosedException.class);
            }
        }
    }

    @Test
    void theEndOfTheOutputEndsAWriteOfAnotherThread() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            ByteBuffer data = ByteBuffer.allocate(1_000_000);
            try (Background<Void> writing = Background.run(() -> pair.client().write(data, Streams.TIMEOUT))) {
                writing.awaitAsleep();
                pair.client().shutdownOutput();
                assertThatThrownBy(writing::result).isInstanceOf(RdmaClosedException.class)
                        .hasMessageContaining("output");
            }
            assertThat(Streams.read(pair.server(), data.position())).hasSize(data.position());
            assertThat(pair.server().read(ByteBuffer.allocate(1), Streams.TIMEOUT)).isEqualTo(-1);
        }
    }

    @Test
    void aThreadThatOnlyWritesLearnsThatThePeerHasClosedTheStream() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            pair.server().write(ByteBuffer.allocate(1), Streams.TIMEOUT);
            pair.server().write(ByteBuffer.allocate(1), Streams.TIMEOUT);
            pair.client().close();
            assertThatThrownBy(() -> {
                // The device acknowledges a message before it reports it.
                pair.server().write(ByteBuffer.allocate(1), Streams.TIMEOUT);
                pair.server().write(ByteBuffer.allocate(1), Streams.TIMEOUT);
            }).isInstanceOf(DisconnectedException.class);
        }
    }

    @Test
    void readsAfterTheEndOfTheInputReturnNothingElse() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<Void> writing = Background.run(() -> pair.client().write(ByteBuffer.allocate(10_000_000),
                        Streams.TIMEOUT));
                Background<Void> polling = Background.run(() -> {
                    while (!writing.isDone()) {
                        pair.server().poll();
                    }
                })) {
            Streams.read(pair.server(), 1000);
            pair.server().shutdownInput();
            ByteBuffer target = ByteBuffer.allocate(1000);
            while (!writing.isDone()) {
                assertThat(pair.server().read(target.clear())).isEqualTo(-1);
                assertThat(target.position()).isZero();
            }
            writing.result();
            polling.result();
        }
    }
}
