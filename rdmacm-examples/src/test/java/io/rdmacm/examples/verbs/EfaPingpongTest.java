// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.examples.Main;
import io.rdmacm.examples.testing.BothRoles;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.examples.testing.StandIn;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command efa_pingpong, with the real libefa over the stand-in for the kernel and the card. */
class EfaPingpongTest {
    @BeforeAll
    static void standIn() throws Exception {
        StandIn.EFA.assume();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-c", "-e -c", "-s 8000 -r 3 -c"})
    void bothRoles(String options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("efa_pingpong", "-n", "100"));
        arguments.addAll(List.of(options.split(" ")));
        Program.Result result = StandIn.EFA.run(BothRoles.class, arguments.toArray(String[]::new));
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        assertThat(result.outLines()).filteredOn(line -> line.startsWith("100 iters in ")).hasSize(2);
        assertThat(result.outLines()).filteredOn(line -> line.contains("GID")).hasSize(4);
    }

    @Test
    void aMessageThatIsTooLongIsRefused() throws Exception {
        Program.Result result = StandIn.EFA.run(Main.class, "efa_pingpong", "-s", "100000");
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.errLines()).containsExactly(
                "efa_pingpong: Requested size larger than the longest message (8928)");
    }
}
