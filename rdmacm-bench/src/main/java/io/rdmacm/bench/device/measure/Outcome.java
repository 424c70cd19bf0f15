// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.DataFormatException;

import org.HdrHistogram.Histogram;

/** The outcome of one measurement. */
public sealed interface Outcome {
    /** {@return a line that {@link #parse} reads} */
    String encode();

    /**
     * Reads an outcome that the client's process has sent.
     *
     * @param line the line
     * @throws IOException if it is no outcome
     */
    static Outcome parse(String line) throws IOException {
        String[] words = line.split(" ");
        try {
            return switch (words[0]) {
                case "latencies" -> new Latencies(Histogram.decodeFromCompressedByteBuffer(
                        ByteBuffer.wrap(Base64.getDecoder().decode(words[1])), 1));
                case "throughput" -> new Throughput(Double.parseDouble(words[1]));
                default -> throw new IOException(line);
            };
        } catch (DataFormatException | IllegalArgumentException e) {
            throw new IOException("the client sent no outcome: " + line, e);
        }
    }

    /**
     * Latencies.
     *
     * @param nanos in nanoseconds
     */
    record Latencies(Histogram nanos) implements Outcome {
        private static final long LONGEST = 1_000_000_000_000L;
        private static final int DIGITS = 3;

        /** {@return an empty histogram} */
        public static Histogram histogram() {
            return new Histogram(LONGEST, DIGITS);
        }

        /**
         * Returns the latencies between the start times of operations.
         *
         * @param times the start times in nanoseconds, and the end of the last operation
         * @param first the index of the first operation that counts
         * @param parts the divisor of each latency: 2 for round trips
         */
        public static Latencies between(long[] times, int first, int parts) {
            Histogram histogram = histogram();
            for (int i = first; i + 1 < times.length; i++) {
                histogram.recordValue((times[i + 1] - times[i]) / parts);
            }
            return new Latencies(histogram);
        }

        @Override
        public String encode() {
            ByteBuffer buffer = ByteBuffer.allocate(nanos.getNeededByteBufferCapacity());
            int length = nanos.encodeIntoCompressedByteBuffer(buffer);
            return "latencies " + Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
        }
    }

    /**
     * A throughput.
     *
     * @param messagesPerSecond operations per second
     */
    record Throughput(double messagesPerSecond) implements Outcome {
        private static final double NANOS_PER_SECOND = 1e9;

        /**
         * Returns the throughput of operations that took some time together.
         *
         * @param count how many operations
         * @param nanos the time in nanoseconds
         */
        public static Throughput of(int count, long nanos) {
            return new Throughput(count * NANOS_PER_SECOND / nanos);
        }

        @Override
        public String encode() {
            return "throughput " + messagesPerSecond;
        }
    }
}
