// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.ArrayList;
import java.util.List;

/**
 * Tells whether memory grows: fits a straight line to the samples after the warm-up, by least squares. The warm-up, in
 * which the JVM loads and compiles classes, is the first half.
 */
final class Trend {
    /** How many bytes the line may rise in all: the JVM and the C allocator vary by this much on their own. */
    static final long NOISE = 8L << 20;

    /** The minimum number of samples after the warm-up; with fewer the line says nothing. */
    static final int MIN_POINTS = 4;

    private final List<Long> values = new ArrayList<>();

    /** Adds a sample. Samples are taken at equal distances in time. */
    void add(long value) {
        values.add(value);
    }

    /** Returns whether there are enough samples. */
    boolean isKnown() {
        return settled().size() >= MIN_POINTS;
    }

    /** Returns how many bytes the line rises from its first point to its last. */
    long rise() {
        List<Long> points = settled();
        int count = points.size();
        double middle = (count - 1) / 2.0;
        double mean = points.stream().mapToLong(Long::longValue).average().orElse(0);
        double products = 0;
        double squares = 0;
        for (int i = 0; i < count; i++) {
            products += (i - middle) * (points.get(i) - mean);
            squares += (i - middle) * (i - middle);
        }
        return squares == 0 ? 0 : Math.round(products / squares * (count - 1));
    }

    /** Returns whether the line rises by more than noise. */
    boolean grows() {
        return isKnown() && rise() > NOISE;
    }

    /** Returns how many samples were taken after the warm-up. */
    int points() {
        return settled().size();
    }

    private List<Long> settled() {
        return values.subList(values.size() / 2, values.size());
    }
}
