// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.core.forked.BusyCarriers;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No platform thread depends on a virtual one, which may find no carrier. */
@RequiresRdma
class BusyCarriersDeviceTest {
    @ParameterizedTest
    @ValueSource(strings = {"streams,verbs,locks", "connections,endpoints,channels",
        "loops,shared receives,disconnects"})
    void platformThreadsGoOn(String what) throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(BusyCarriers.class).nativeAccess()
                .property("jdk.virtualThreadScheduler.parallelism", "1")
                .property("jdk.virtualThreadScheduler.maxPoolSize", "1")
                .run((RdmaTestDevice.get().ipv4().getHostAddress() + "," + what).split(","));
        assertThat(result.output()).as(result.errors()).endsWith("fine\n");
        assertThat(result.status()).isZero();
    }
}
