// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReceiveClockTest {
    @Test
    void tellsTheTimesBetweenReceives() {
        ReceiveClock clock = new ReceiveClock(-1);
        assertThat(clock.lines()).isEmpty();
        clock.tick(1000);
        assertThat(clock.lines()).isEmpty();
        clock.tick(1010);
        clock.tick(1040);
        clock.tick(1045);
        assertThat(clock.lines()).containsExactly("Max receive completion clock cycles = 30",
                "Min receive completion clock cycles = 5", "Average receive completion clock cycles = 15.000000");
    }

    @Test
    void aClockThatBeginsAnewIsRight() {
        ReceiveClock clock = new ReceiveClock(0xffff);
        clock.tick(0xfff0);
        clock.tick(0x0010);
        assertThat(clock.lines()).containsExactly("Max receive completion clock cycles = 32",
                "Min receive completion clock cycles = 32", "Average receive completion clock cycles = 32.000000");
    }
}
