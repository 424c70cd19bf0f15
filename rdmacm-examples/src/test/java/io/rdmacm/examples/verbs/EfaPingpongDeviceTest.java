// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The command efa_pingpong with a device that is not of EFA. */
@RequiresRdma
class EfaPingpongDeviceTest {
    @Test
    void saysThatTheDeviceIsNotOne() throws Exception {
        String name = RdmaTestDevice.get().name();
        Assumptions.assumeFalse(name.startsWith("efa"), name + " is an EFA device");
        try (Program program = Program.inThread("efa_pingpong", "-d", name)) {
            Program.Result result = program.result();
            assertThat(result.status()).isEqualTo(1);
            assertThat(result.errLines()).containsExactly(
                    "efa_pingpong: this needs an EFA device, which " + name + " is not");
        }
    }
}
