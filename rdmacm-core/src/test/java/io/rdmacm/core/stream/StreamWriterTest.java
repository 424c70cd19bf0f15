// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

/** Lengths that an int cannot hold, without queues and without so much memory: nothing is really copied or sent. */
class StreamWriterTest {
    private static final int PIECE = 1 << 30;
    private static final long LENGTH = 5L << 30;

    private final Recording writer = new Recording();

    /** A part of the data, as it would be copied. */
    private record Part(long from, int length) {
    }

    /** A peer that always has room for a piece. */
    private static final class Recording extends StreamWriter {
        private final List<Part> copied = new ArrayList<>();
        private final List<Part> posted = new ArrayList<>();

        @SuppressWarnings("NullAway") // What would use the core is replaced.
        Recording() {
            super(null);
        }

        @Override
        boolean begin() {
            return true;
        }

        @Override
        int next(long left) {
            assertThat(left).isBetween(0L, LENGTH);
            return (int) Math.min(left, PIECE);
        }

        @Override
        void copyIn(MemorySegment source, long from, int length) {
            assertThat(from + length).isLessThanOrEqualTo(source.byteSize());
            copied.add(new Part(from, length));
        }

        @Override
        void gather(ByteBuffer[] sources, int first, int skip, int length) {
            copied.add(new Part(skip, length));
        }

        @Override
        boolean post(int length, int total) {
            posted.add(new Part(total, length));
            return true;
        }
    }

    @Test
    @SuppressWarnings("restricted")
    void aCallWritesNoMoreOfASegmentThanItCanReturn() throws Exception {
        MemorySegment huge = MemorySegment.NULL.reinterpret(LENGTH);
        List<Part> parts = List.of(new Part(0, PIECE), new Part(PIECE, PIECE - 1));

        assertThat(writer.write(huge, 0)).isEqualTo(Integer.MAX_VALUE);
        assertThat(writer.copied).isEqualTo(parts);
        assertThat(writer.posted).isEqualTo(parts);
    }

    @Test
    @SuppressWarnings("restricted")
    void theRestOfASegmentBeginsBeyondWhatAnIntCanHold() throws Exception {
        MemorySegment huge = MemorySegment.NULL.reinterpret(LENGTH);

        assertThat(writer.write(huge, LENGTH - PIECE - 7)).isEqualTo(PIECE + 7);
        assertThat(writer.copied).containsExactly(new Part(LENGTH - PIECE - 7, PIECE), new Part(LENGTH - 7, 7));
        assertThat(writer.posted).containsExactly(new Part(0, PIECE), new Part(PIECE, 7));
    }

    @Test
    void buffersThatHaveMoreTogetherThanAnIntCanHold() throws Exception {
        ByteBuffer some = ByteBuffer.allocate(1 << 20);
        ByteBuffer[] buffers = new ByteBuffer[(int) (LENGTH / some.capacity())];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = some.duplicate();
        }

        assertThat(writer.write(buffers, 0, buffers.length)).isEqualTo(Integer.MAX_VALUE);
        assertThat(writer.copied).containsExactly(new Part(0, PIECE), new Part(PIECE, PIECE - 1));
        long left = 0;
        for (ByteBuffer buffer : buffers) {
            left += buffer.remaining();
        }
        assertThat(left).isEqualTo(LENGTH - Integer.MAX_VALUE);
    }
}
