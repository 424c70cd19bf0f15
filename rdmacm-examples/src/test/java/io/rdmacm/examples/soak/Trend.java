// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.ArrayList;
import java.util.List;

/**
 * Whether memory grows: a straight line through what was measured after the warm-up, by least squares. The warm-up, in
 * which the JVM loads and compiles, is the first half.
 */
final class Trend {
    /** How much the line may rise from its beginning to its end: what the JVM and the allocator vary by themselves. */
    static final long NOISE = 8L << 20;

    /** With fewer points after the warm-up a line says nothing. */
    static final int LEAST = 4;

    private final List<Long> values = new ArrayList<>();

    /** Measured at equal distances. */
    void add(long value) {
        values.add(value);
    }

    /** Whether enough was measured. */
    boolean isKnown() {
        return settled().size() >= LEAST;
    }

    /** How much the line rises from its first point to its last. */
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

    /** Whether it grows by more than noise. */
    boolean grows() {
        return isKnown() && rise() > NOISE;
    }

    /** How many points are after the warm-up. */
    int points() {
        return settled().size();
    }

    private List<Long> settled() {
        return values.subList(values.size() / 2, values.size());
    }
}
