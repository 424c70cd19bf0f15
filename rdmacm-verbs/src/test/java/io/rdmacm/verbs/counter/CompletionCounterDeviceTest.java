// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.counter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.InstalledLibrary;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Completion counters: attached and read where the device has them, refused elsewhere. */
@RequiresRdma
class CompletionCounterDeviceTest {
    @BeforeEach
    void requireLibrary() {
        InstalledLibrary.requireRelease(65);
    }

    @Test
    @Covers({"ibv_query_comp_cntr_caps", "ibv_create_comp_cntr", "ibv_qp_attach_comp_cntr", "ibv_read_comp_cntr",
            "ibv_read_err_comp_cntr", "ibv_destroy_comp_cntr"})
    void aCounterIsUsedWhereTheDeviceHasThem() throws RdmaException {
        try (TrafficEnd end = new TrafficEnd.Builder().build()) {
            CompletionCounterCapabilities capabilities;
            try {
                capabilities = CompletionCounterCapabilities.query(end.context);
            } catch (RdmaUnsupportedException e) {
                assertThat(e).hasMessageStartingWith("ibv_query_comp_cntr_caps: EOPNOTSUPP");
                assertThatExceptionOfType(RdmaUnsupportedException.class)
                        .isThrownBy(() -> CompletionCounter.create(end.context, CompletionCounterType.WRS))
                        .withMessageStartingWith("ibv_create_comp_cntr (WRS): EOPNOTSUPP");
                return;
            }
            assertThat(capabilities.maxCounters()).isPositive();
            CompletionCounter counter = CompletionCounter.create(end.context, CompletionCounterType.WRS);
            try (counter; QueuePair pair = end.createPair()) {
                counter.attach(pair, capabilities.operations().iterator().next());
                assertThat(counter.read()).isZero();
                assertThat(counter.readErrors()).isZero();
            }
        }
    }
}
