// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The doctor on a machine that can use RDMA. */
@RequiresRdma
class DoctorDeviceTest {
    private final String device = RdmaTestDevice.get().name();

    @Test
    void nothingIsWrong() throws Exception {
        Program.Result result = run("doctor", "-d", device);
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        assertThat(result.out()).containsPattern("(?m)^  ok       librdmacm.so.1")
                .containsPattern("(?m)^  ok       /dev/infiniband/rdma_cm$")
                .containsPattern("(?m)^" + device + "$").containsPattern("port 1: ACTIVE, .* MTU \\d+ of 4096")
                .contains("address " + Addresses.ipv4())
                .containsPattern("loopback: a message of 64 bytes takes [0-9.]+ us, writes of 64 KiB [0-9.]+ Gbit/s;"
                        + " the port promises [0-9.]+ Gbit/s");
    }

    @Test
    void aScriptReadsIt() throws Exception {
        Program.Result result = run("doctor", "--json", "--no-loopback", "-d", device);
        assertThat(result.status()).isZero();
        assertThat(result.outLines()).hasSize(1);
        assertThat(result.out()).startsWith("{\"healthy\":true,\"findings\":[{\"subject\":\"libraries\",")
                .contains("\"address\":\"" + Addresses.ipv4() + "\"").doesNotContain("loopback");
    }

    @Test
    void aDeviceThatIsNotThere() throws Exception {
        Program.Result result = run("doctor", "-d", "none0");
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.errLines()).containsExactly("doctor: 1 thing is wrong");
        assertThat(result.out()).contains("  WRONG    there is no such device");
    }

    private static Program.Result run(String... arguments) throws InterruptedException {
        try (Program program = Program.inThread(arguments)) {
            return program.result();
        }
    }
}
