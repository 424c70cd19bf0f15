// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.examples.Main;
import io.rdmacm.examples.testing.BothRoles;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.examples.testing.StandIn;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs for the appendices, with the real libmlx5 over the stand-in for the kernel and the card. */
class AppendixExamplesTest {
    @BeforeAll
    static void standIn() throws Exception {
        StandIn.MLX5.assume();
    }

    @Test
    void oneInitiatorSendsToTwoTargets() throws Exception {
        Program.Result result = run("dc_example");
        assertThat(result.outLines()).filteredOn(line -> line.startsWith("sent: "))
                .containsExactly("sent: message 1 of one initiator", "sent: message 2 of one initiator");
        assertThat(result.outLines()).filteredOn(line -> line.contains(" received: ")).hasSize(2)
                .doesNotHaveDuplicates()
                .satisfiesExactly(
                        line -> assertThat(line).matches("target 0x\\p{XDigit}+ received: message 1 of one initiator"),
                        line -> assertThat(line).matches("target 0x\\p{XDigit}+ received: message 2 of one initiator"));
        assertThat(result.outLines()).filteredOn(line -> line.startsWith("this side: target"))
                .map(line -> line.replaceAll("this side: (target 0x\\p{XDigit}+).*", "$1"))
                .isEqualTo(result.outLines().stream().filter(line -> line.contains(" received: "))
                        .map(line -> line.replaceAll(" received: .*", "")).toList());
    }

    @Test
    void aColumnIsOneMessage() throws Exception {
        assertThat(run("umr_example").outLines()).contains("row 2: 21 22 23 24 25 26 27 28",
                "sent column 3: 13 23 33 43 53 63", "received: 13 23 33 43 53 63");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dc_example", "umr_example"})
    void anotherCardIsNamedAsTheReason(String name) throws Exception {
        StandIn.EFA.assume();
        Program.Result result = StandIn.EFA.run(Main.class, name);
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.errLines()).containsExactly(name + ": this needs an mlx5 device, which efa_0 is not");
    }

    private static Program.Result run(String name) throws Exception {
        Program.Result result = StandIn.MLX5.run(BothRoles.class, name);
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        return result;
    }
}
