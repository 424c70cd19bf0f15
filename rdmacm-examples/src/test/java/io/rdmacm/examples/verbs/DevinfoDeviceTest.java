// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.List;

import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** ibv_devinfo and ibv_devices print exactly what the programs of rdma-core print. */
@RequiresRdma
class DevinfoDeviceTest {
    @ParameterizedTest
    @ValueSource(strings = {"ibv_devinfo", "ibv_devinfo -v", "ibv_devinfo -l", "ibv_devinfo -d DEVICE",
        "ibv_devinfo --ib-dev=DEVICE --verbose", "ibv_devinfo -i 1", "ibv_devinfo -d DEVICE -i 1 -v", "ibv_devices"})
    void theOutputIsThatOfTheCProgram(String command) throws Exception {
        List<String> words = List.of(command.replace("DEVICE", RdmaTestDevice.get().name()).split(" "));
        Program.Result theirs = run(Kind.C, words);
        Program.Result ours = run(Kind.JAVA, words);
        assertThat(theirs.status()).isZero();
        assertThat(theirs.out()).contains(RdmaTestDevice.get().name());
        assumeFalse(theirs.out().contains("Unknown flags"), "the C program is older than the kernel's device");
        assertThat(ours.outLines()).isEqualTo(theirs.outLines());
        assertThat(ours.status()).isZero();
        assertThat(ours.err()).isEmpty();
    }

    @Test
    void aMissingPort() throws Exception {
        Program.Result result = run(Kind.JAVA, List.of("ibv_devinfo", "-d", RdmaTestDevice.get().name(), "-i", "200"));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.errLines()).containsExactly("ibv_devinfo: Invalid port requested for device: "
                + RdmaTestDevice.get().name() + " has no port 200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_devinfo", "ibv_asyncwatch", "ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong",
        "ibv_srq_pingpong"})
    void aMissingDevice(String name) throws Exception {
        Program.Result result = run(Kind.JAVA, List.of(name, "-d", "none0"));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).containsExactly(name + ": IB device none0 not found");
    }

    private static Program.Result run(Kind kind, List<String> words) throws Exception {
        try (Program program = kind.start(words.getFirst(), words.subList(1, words.size()))) {
            return program.result();
        }
    }
}
