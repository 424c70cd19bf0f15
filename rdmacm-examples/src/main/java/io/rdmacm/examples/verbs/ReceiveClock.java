// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;

/** Measures the time between receives, in ticks of the device's clock. */
final class ReceiveClock {
    private final long mask;
    private final LongSummaryStatistics ticks = new LongSummaryStatistics();
    private boolean started;
    private long previous;

    /** Creates a clock; the mask selects the valid bits of a time. */
    ReceiveClock(long mask) {
        this.mask = mask;
    }

    /** Records the time of a receive. */
    void tick(long time) {
        if (started) {
            // also right if the clock has wrapped around
            ticks.accept(time - previous & mask);
        }
        previous = time;
        started = true;
    }

    /** Returns the lines to print; none if there were fewer than two receives. */
    List<String> lines() {
        return ticks.getCount() == 0 ? List.of() : List.of(
                "Max receive completion clock cycles = " + ticks.getMax(),
                "Min receive completion clock cycles = " + ticks.getMin(),
                String.format(Locale.ROOT, "Average receive completion clock cycles = %f", ticks.getAverage()));
    }
}
