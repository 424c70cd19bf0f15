// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.examples.cm.Ucmatose;
import io.rdmacm.examples.rping.Rping;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.ForkedJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    void helpShowsOptionsAndAnExample() throws Exception {
        Program.Result result = run("rping", "--help");
        assertThat(result.status()).isZero();
        assertThat(result.out()).contains("-a", "-C", "-S", "-p", "-I", "-P", "-q", "-v", "-V", "-d")
                .contains("rdmacm rping -c -a 192.168.99.1 -v -C 10");
        assertThat(result.err()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "nonsense | rdmacm: Unmatched argument at index 0: 'nonsense' (see rdmacm --help)",
        "rping | rping: either -s or -c: be the server or the client (see rdmacm rping --help)",
        "rping -s -c | rping: either -s or -c: be the server or the client (see rdmacm rping --help)",
        "rping -c | rping: a client needs the server's address: -a ADDR (see rdmacm rping --help)",
        "rping -ca 127.0.0.1 -p 0 | rping: a client needs the server's port: -p PORT (see rdmacm rping --help)",
        "rping -cPa 127.0.0.1 | rping: -P is for servers (see rdmacm rping --help)",
        "rping -s --wait-server 1 | rping: --wait-server is for clients (see rdmacm rping --help)",
        "rping -ca 127.0.0.1 --wait-server -1 | rping: Invalid time to wait -1 (see rdmacm rping --help)",
        "rping -s -S 22 | rping: Invalid size 22 (valid range is 23 to 65535) (see rdmacm rping --help)",
        "rping -s -S 65536 | rping: Invalid size 65536 (valid range is 23 to 65535) (see rdmacm rping --help)",
        "rping -s -S x | rping: Invalid value for option '-S': 'x' is not an int (see rdmacm rping --help)",
        "rping -s -C -1 | rping: Invalid count -1 (see rdmacm rping --help)",
        "rping -s -p 65536 | rping: Invalid port 65536 (see rdmacm rping --help)",
        "rping -s -a no.such.host.invalid | rping: Invalid value for option '-a': there is no host or IP address"
                + " 'no.such.host.invalid' (see rdmacm rping --help)",
        "rping -s -a | rping: Missing required parameter for option '-a' (ADDR) (see rdmacm rping --help)",
        "rping -z | rping: Unknown option: '-z' (see rdmacm rping --help)"})
    void wrongArgumentsEndWithOneLine(String arguments, String expected) throws Exception {
        Program.Result result = run(arguments.split(" "));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).containsExactly(expected);
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
        assertThat(result.errors()).contains(Rping.class.getName() + " ")
                .doesNotContain(Ucmatose.class.getName() + " ");
    }

    private static Program.Result run(String... arguments) throws InterruptedException {
        try (Program program = Program.inThread(arguments)) {
            return program.result();
        }
    }
}
