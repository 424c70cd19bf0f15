// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.netty.forked.BesideBusyCarrier;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Nothing that channels count on runs in a virtual thread. */
@RequiresRdma
class BusyCarrierDeviceTest {
    @Test
    void channelsAreOpenedAndClosedWhileTheOnlyCarrierIsBusy() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(BesideBusyCarrier.class).nativeAccess()
                .property("jdk.virtualThreadScheduler.parallelism", "1")
                .property("jdk.virtualThreadScheduler.maxPoolSize", "1")
                .run(RdmaTestDevice.get().ipv4().getHostAddress());
        assertThat(result.output().lines()).as(result.errors()).containsExactly("connected", "closed", "ended");
    }
}
