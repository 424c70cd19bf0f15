// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.util.List;
import java.util.Locale;

/** Measures the time between receives, in ticks of the device's clock. */
final class ReceiveClock {
    private final long mask;
    private boolean started;
    private long previous;
    private long min = -1;
    private long max;
    private long total;
    private long count;

    /** Creates a clock; the mask selects the valid bits of a time. */
    ReceiveClock(long mask) {
        this.mask = mask;
    }

    /** Records the time of a receive. */
    void tick(long time) {
        if (started) {
            // also right if the clock has wrapped around
            long ticks = time - previous & mask;
            min = Long.compareUnsigned(ticks, min) < 0 ? ticks : min;
            max = Long.compareUnsigned(ticks, max) > 0 ? ticks : max;
            total += ticks;
            count++;
        }
        previous = time;
        started = true;
    }

    /** Returns the lines to print; none if there were fewer than two receives. */
    List<String> lines() {
        return count == 0 ? List.of() : List.of(
                "Max receive completion clock cycles = " + Long.toUnsignedString(max),
                "Min receive completion clock cycles = " + Long.toUnsignedString(min),
                String.format(Locale.ROOT, "Average receive completion clock cycles = %f", (double) total / count));
    }
}
