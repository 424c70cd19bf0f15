// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.examples.testing.CommandLines;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Command lines of the programs of librdmacm: wrong arguments and --help. */
class CmOptionsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "ucmatose -x | Unknown option: '-x'",
        "ucmatose extra | Unmatched argument at index 1: 'extra'",
        "ucmatose -c 0 | Invalid number of connections 0",
        "ucmatose -C -1 | Invalid number of messages -1",
        "ucmatose -S -1 | Invalid size -1",
        "ucmatose -S x | Invalid value for option '-S': 'x' is not an int",
        "ucmatose -t 256 | Invalid type of service 256 (valid range is 0 to 255)",
        "ucmatose -t 0xg | Invalid value for option '-t': '0xg' is not a number",
        "ucmatose -a 32 | Invalid acknowledgement timeout 32 (valid range is 0 to 31)",
        "ucmatose -P udp | Invalid port space UDP: tcp or ib",
        "ucmatose --timeout 0 | Invalid timeout 0",
        "udaddy -c 0 | Invalid number of connections 0",
        "udaddy -P tcp | Invalid port space TCP: udp (0x111) or ipoib (2)",
        "udaddy -p 0x106 | Invalid port space 262: udp (0x111) or ipoib (2)",
        "udaddy -t -1 | Invalid type of service -1 (valid range is 0 to 255)",
        "udaddy -S -1 | Invalid size -1",
        "mckey | either -m or -M: the group to join",
        "mckey -m 239.1.2.3 -M ff0e::1 | either -m or -M: the group to join",
        "mckey -M ff0e::1 | unmapped multicast address requires binding to source address",
        "mckey -m 239.1.2.3 --pause -1 | Invalid pause -1",
        "mckey -m 239.1.2.3 -c 0 | Invalid number of connections 0",
        "mckey -m 239.1.2.3 -p 7 | Invalid port space 7: udp (0x111) or ipoib (2)",
        "rdma_client -x | Unknown option: '-x'",
        "rdma_server -p | Missing required parameter for option '-p' (PORT)",
        "rdma_xclient -c y | Invalid type 'y': r for RC or x for XRC",
        "rdma_xserver -c y | Invalid type 'y': r for RC or x for XRC",
        "cmtime -c 0 | Invalid number of connections 0",
        "cmtime -r -1 | Invalid number of retries -1",
        "cmtime -t 0 | Invalid timeout 0"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "ucmatose | -s -b -f -P -c -C -S -t -p -a -m", "udaddy | -s -b -c -C -S -t -p -P -f",
        "mckey | -m -M -s -b -c -C -S -p -o -l", "rdma_client | -s -p", "rdma_server | -s -p",
        "rdma_xclient | -s -p -c", "rdma_xserver | -p -c", "cmtime | -s -b -c -p -r -t"})
    void helpShowsTheOptionsOfCAndAnExample(String name, String options) throws Exception {
        String help = CommandLines.help(name);
        for (String option : options.split(" ")) {
            assertThat(help).containsPattern("(?m)^ +" + option + "[ ,=\\r\\n]");
        }
    }
}
