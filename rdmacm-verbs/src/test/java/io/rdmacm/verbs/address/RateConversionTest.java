// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

/** Rates are converted as C converts them. */
@WithFakeVerbs
class RateConversionTest {
    @Test
    @Covers({"ibv_rate_to_mult", "mult_to_ibv_rate", "ibv_rate_to_mbps", "mbps_to_ibv_rate"})
    void ratesAreConverted() throws RdmaException {
        for (Rate rate : Rate.known()) {
            assertThat(Rate.of(rate.value())).isEqualTo(rate);
            assertThat(Rate.ofMultiplier(rate.toMultiplier())).isEqualTo(rate);
            assertThat(Rate.ofMegabits(rate.toMegabits())).isEqualTo(rate);
        }
        assertThat(Rate.RATE_2_5_GBPS.toMultiplier()).isEqualTo(100 + Rdma.IBV_RATE_2_5_GBPS());
        assertThat(Rate.RATE_1200_GBPS.toMegabits()).isEqualTo(1000 + Rdma.IBV_RATE_1200_GBPS());
        assertThat(Rate.RATE_MAX.toMultiplier()).isEqualTo(-1);
    }
}
