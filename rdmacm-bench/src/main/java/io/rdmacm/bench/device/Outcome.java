// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import org.HdrHistogram.Histogram;

/** What one measurement gave. */
sealed interface Outcome {
    /**
     * Latencies.
     *
     * @param nanos in nanoseconds
     */
    record Latencies(Histogram nanos) implements Outcome {
        private static final long LONGEST = 1_000_000_000_000L;
        private static final int DIGITS = 3;

        /** {@return an empty histogram for them} */
        static Histogram histogram() {
            return new Histogram(LONGEST, DIGITS);
        }

        /**
         * Those between the times at which operations began.
         *
         * @param times in nanoseconds
         * @param first the first operation that counts
         * @param parts what each is divided by: 2 where it was a round trip
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
     * @param messagesPerSecond how many operations were done in a second
     */
    record Throughput(double messagesPerSecond) implements Outcome {
    }
}
