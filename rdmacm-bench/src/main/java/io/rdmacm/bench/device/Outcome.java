// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import org.HdrHistogram.Histogram;

/** The outcome of one measurement. */
sealed interface Outcome {
    /**
     * Latencies.
     *
     * @param nanos in nanoseconds
     */
    record Latencies(Histogram nanos) implements Outcome {
        private static final long LONGEST = 1_000_000_000_000L;
        private static final int DIGITS = 3;

        /** {@return an empty histogram} */
        static Histogram histogram() {
            return new Histogram(LONGEST, DIGITS);
        }

        /**
         * Returns the latencies between the start times of operations.
         *
         * @param times the start times in nanoseconds, and the end of the last operation
         * @param first the index of the first operation that counts
         * @param parts the divisor of each latency: 2 for round trips
         */
        static Latencies between(long[] times, int first, int parts) {
            Histogram histogram = histogram();
            for (int i = first; i + 1 < times.length; i++) {
                histogram.recordValue((times[i + 1] - times[i]) / parts);
            }
            return new Latencies(histogram);
        }
    }

    /**
     * A throughput.
     *
     * @param messagesPerSecond operations per second
     */
    record Throughput(double messagesPerSecond) implements Outcome {
    }
}
