// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Tells whether memory grows: divides the samples after the warm-up into a few parts, and fits a straight line to the
 * lowest of each, by least squares. The warm-up, in which the JVM loads and compiles classes, is the first half. The
 * lowest, because tens of megabytes come and go, some of them with the compilers of the JVM.
 */
final class Trend {
    /** How many bytes the line may rise in all: the JVM and the C allocator vary by this much on their own. */
    static final long NOISE = 8L << 20;

    /** The number of parts, so the minimum number of samples after the warm-up. */
    static final int PARTS = 4;

    private final List<Long> values = new ArrayList<>();

    /** Adds a sample. Samples are taken at equal distances in time. */
    void add(long value) {
        values.add(value);
    }

    /** Returns whether there are enough samples. */
    boolean isKnown() {
        return settled().size() >= PARTS;
    }

    /** Returns how many bytes the line rises from its first point to its last, if there are enough samples. */
    long rise() {
        double middle = (PARTS - 1) / 2.0;
        double products = 0;
        double squares = 0;
        for (int i = 0; i < PARTS; i++) {
            products += (i - middle) * lowest(i);
            squares += (i - middle) * (i - middle);
        }
        return Math.round(products / squares * (PARTS - 1));
    }

    /** Returns whether the line rises by more than noise. */
    boolean grows() {
        return isKnown() && rise() > NOISE;
    }

    /** Returns how many samples were taken after the warm-up. */
    int points() {
        return settled().size();
    }

    private long lowest(int part) {
        List<Long> all = settled();
        return Collections.min(all.subList(part * all.size() / PARTS, (part + 1) * all.size() / PARTS));
    }

    private List<Long> settled() {
        return values.subList(values.size() / 2, values.size());
    }
}
