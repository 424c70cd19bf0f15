// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.examples.testing.CommandLines;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Command lines of the programs of the RDMA Aware manual. */
class ManualOptionsTest {
    @ParameterizedTest
    @CsvSource({"rc_example, -g", "multicast_example, -m", "srq_example, -c", "apm_example, --alt-lid",
        "dc_example, -g", "umr_example, -g"})
    void helpShowsOptionsAndAnExample(String name, String option) throws Exception {
        assertThat(CommandLines.help(name)).contains(option, "For example");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "rc_example -p 0 127.0.0.1 | a client needs the server's port: -p PORT",
        "rc_example -p 65536 | Invalid port 65536",
        "rc_example -i 0 | Invalid port of the device 0",
        "rc_example -g 256 | Invalid GID index 256",
        "dc_example -p 0 127.0.0.1 | a client needs the server's port: -p PORT",
        "umr_example -i 256 | Invalid port of the device 256",
        "multicast_example -m 10.0.0.1 | 10.0.0.1 is no multicast address",
        "multicast_example -C 0 | Invalid count 0 (valid range is 1 to 1000)",
        "multicast_example -S 7 | Invalid size 7 (valid range is 8 to 65507)",
        "multicast_example -t 0 | Invalid number of seconds 0",
        "srq_example | Missing required option: '-a=ADDR'",
        "srq_example -s -a 0.0.0.0 | the address of one RDMA device is needed: -a ADDR",
        "srq_example -a 127.0.0.1 -c 65 | Invalid number of connections 65 (valid range is 1 to 64)",
        "srq_example -a 127.0.0.1 -C 0 | Invalid count 0 (valid range is 1 to 1000000)",
        "srq_example -a 127.0.0.1 -p 0 | a client needs the server's port: -p PORT",
        "apm_example -a 127.0.0.1 -C 1 | Invalid count 1 (one before and one after, at least)",
        "apm_example -a 127.0.0.1 --alt-port 256 | Invalid port of the device 256",
        "apm_example -a 127.0.0.1 --alt-lid 65536 | Invalid LID 65536"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }
}
