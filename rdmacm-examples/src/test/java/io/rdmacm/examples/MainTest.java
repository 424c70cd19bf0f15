// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.ForkedJvm;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Command;

/** The command line of the programs: their list, their help, and arguments that are refused. */
class MainTest {
    @Test
    void listsTheProgramsWithoutAName() throws Exception {
        Program.Result result = run();
        assertThat(result.status()).isZero();
        assertThat(result.out()).containsPattern("  rping +Ping-pong with RDMA reads and writes\\.")
                .containsPattern("  ibv_devices +The RDMA devices of this machine\\.");
        assertThat(result.err()).isEmpty();
    }

    @Test
    void aNameThatIsNone() throws Exception {
        Program.Result result = run("nonsense");
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).containsExactly(
                "rdmacm: Unmatched argument at index 0: 'nonsense' (see rdmacm --help)");
    }

    @Test
    void everyProgramHasItsName() {
        assertThat(Programs.all()).doesNotHaveDuplicates().allSatisfy(program -> {
            String name = program.getAnnotation(Command.class).name();
            assertThat(Programs.named(name)).containsSame(program);
        });
    }

    @Test
    void onlyTheProgramThatIsNamedIsLoaded() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(Main.class).options("-Xlog:class+load:stderr")
                .run("rping", "--help");
        assertThat(result.output()).contains("rdmacm rping -c");
        assertThat(result.errors()).contains("io.rdmacm.examples.rping.Rping ")
                .doesNotContain("io.rdmacm.examples.cm.Ucmatose ");
    }

    private static Program.Result run(String... arguments) throws InterruptedException {
        try (Program program = Program.inThread(arguments)) {
            return program.result();
        }
    }
}
