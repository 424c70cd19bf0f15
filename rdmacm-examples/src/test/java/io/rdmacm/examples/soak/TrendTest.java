// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TrendTest {
    private static final long MEGA = 1 << 20;

    private static Trend of(long... megabytes) {
        Trend trend = new Trend();
        for (long value : megabytes) {
            trend.add(value * MEGA);
        }
        return trend;
    }

    @Test
    void aStraightLineRisesByWhatItRises() {
        assertThat(of(0, 0, 0, 0, 10, 20, 30, 40).rise()).isEqualTo(30 * MEGA);
        assertThat(of(0, 0, 0, 0, 10, 20, 30, 40).grows()).isTrue();
    }

    @Test
    void theWarmUpDoesNotCount() {
        assertThat(of(10, 50, 90, 130, 150, 150, 150, 150).rise()).isZero();
    }

    @Test
    void whatIsTakenForAWhileHidesNothingAndIsNoGrowth() {
        assertThat(of(0, 0, 0, 0, 0, 0, 0, 0, 100, 160, 100, 150, 190, 100, 170, 100).rise()).isZero();
        assertThat(of(0, 0, 0, 0, 0, 0, 0, 0, 160, 100, 150, 110, 190, 120, 130, 170).rise()).isEqualTo(30 * MEGA);
    }

    @Test
    void noiseAroundALevelIsNoGrowth() {
        assertThat(of(0, 0, 0, 0, 105, 100, 104, 101).grows()).isFalse();
    }

    @Test
    void whatFallsDoesNotGrow() {
        assertThat(of(0, 0, 0, 0, 90, 60, 30, 0).grows()).isFalse();
    }

    @Test
    void fewPointsSayNothing() {
        Trend trend = of(0, 100, 200, 300, 400, 500);
        assertThat(trend.isKnown()).isFalse();
        assertThat(trend.grows()).isFalse();
    }
}
