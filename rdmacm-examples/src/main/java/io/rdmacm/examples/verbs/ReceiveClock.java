// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.util.List;
import java.util.Locale;

/** How long the device waits from one receive to the next, in ticks of its clock. */
final class ReceiveClock {
    private final long mask;
    private boolean started;
    private long previous;
    private long least = -1;
    private long most;
    private long total;
    private long count;

    /** With the bits of a time that count. */
    ReceiveClock(long mask) {
        this.mask = mask;
    }

    /** A receive was done at some time. */
    void tick(long time) {
        if (started) {
            // right also when the clock began anew
            long ticks = time - previous & mask;
            least = Long.compareUnsigned(ticks, least) < 0 ? ticks : least;
            most = Long.compareUnsigned(ticks, most) > 0 ? ticks : most;
            total += ticks;
            count++;
        }
        previous = time;
        started = true;
    }

    /** What there is to print: nothing before the second receive. */
    List<String> lines() {
        return count == 0 ? List.of() : List.of(
                "Max receive completion clock cycles = " + Long.toUnsignedString(most),
                "Min receive completion clock cycles = " + Long.toUnsignedString(least),
                String.format(Locale.ROOT, "Average receive completion clock cycles = %f", (double) total / count));
    }
}
