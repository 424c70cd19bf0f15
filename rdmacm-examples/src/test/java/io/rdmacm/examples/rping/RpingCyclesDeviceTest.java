// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import static io.rdmacm.examples.testing.Kind.JAVA;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;

import io.rdmacm.examples.testing.Program;
import io.rdmacm.examples.testing.Rpings;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import org.junit.jupiter.api.Test;

/** Many runs of rping, one after the other. */
@RequiresRdma
class RpingCyclesDeviceTest {
    private static final int CYCLES = 50;
    private static final int WARM_UP = 5;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @Test
    void nothingIsLeaked() throws Exception {
        try (Rpings.Server server = Rpings.server(JAVA, "-P")) {
            long idle = ResourceCounts.now().objects();
            // The first runs load what then stays: libraries, the device of librdmacm, the first threads.
            cycles(server, WARM_UP);
            // The server frees the objects of the last client a little later.
            ResourceCounts settled = ResourceCounts.await(counts -> counts.objects() == idle, PATIENCE);
            assertThat(settled.objects()).isEqualTo(idle);
            cycles(server, CYCLES);
            assertThat(ResourceCounts.await(settled, PATIENCE)).isEqualTo(settled);
        }
    }

    private static void cycles(Rpings.Server server, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            try (Program client = server.client(JAVA, "-C", "1", "-V")) {
                assertThat(client.result()).returns(0, Program.Result::status);
            }
        }
    }
}
