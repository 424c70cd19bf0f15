// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

import io.rdmacm.examples.testing.CommandLines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command lines of rstream, riostream and rcopy, their tests and their output. */
class StreamProgramsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "rstream -x | Unknown option: '-x'",
        "rstream -T x | Invalid value for option '-T' (TEST): 'x' is no test option",
        "rstream -f gid | Invalid format gid: streams have IP addresses",
        "rstream -f mac | Invalid format mac: name, ip or ipv6",
        "rstream -f ip -s localhost | there is no IP address 'localhost'",
        "rstream -B 100 | Invalid buffer size 100 (valid range is 4096 to 536870912)",
        "rstream -i 65535 | Invalid inline size 65535 (valid range is 0 to 65534)",
        "rstream -I 0 | Invalid number of iterations 0",
        "rstream -C 0 | Invalid number of transfers 0",
        "rstream -S 0 | Invalid size 0 (valid range is 1 to 536870912, or all)",
        "rstream -S some | Invalid size some (valid range is 1 to 536870912, or all)",
        "rstream -p 65536 | Invalid port 65536",
        "rstream -s 127.0.0.1 -p 0 | a client needs the server's port: -p PORT",
        "rstream -k -1 | Invalid keep-alive time -1",
        "riostream -k | Unknown option: '-k'",
        "riostream -T s | riostream has no test option SOCKETS",
        "riostream -T fork | riostream has no test option FORK",
        "riostream -f gid | Invalid format gid: streams have IP addresses",
        "rcopy file | the server is missing: SERVER[:DESTINATION]",
        "rcopy file 127.0.0.1: | the name of the destination is empty",
        "rcopy file 127.0.0.1 -p 0 | a client needs the server's port: -p PORT",
        "rcopy -p 65536 | Invalid port 65536"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"rstream | -s -b -f -B -i -I -C -S -p -k -T",
        "riostream | -s -b -f -B -i -I -C -S -p -T", "rcopy | -p"})
    void helpShowsTheOptionsOfCAndAnExample(String name, String options) throws Exception {
        String help = CommandLines.help(name);
        for (String option : options.split(" ")) {
            assertThat(help).containsPattern("(?m)^ +" + option + "[ ,=\\r\\n]");
        }
    }

    @Test
    void seriesAreThoseOfC() {
        assertThat(StreamTest.latencies(false)).containsExactly(new StreamTest("64_lat", 64, 1, 100_000),
                new StreamTest("4k_lat", 4096, 1, 10_000), new StreamTest("64k_lat", 65_536, 1, 1000),
                new StreamTest("1m_lat", 1 << 20, 1, 100));
        assertThat(StreamTest.bandwidths(false)).contains(new StreamTest("64k_bw", 65_536, 1000, 1));
        List<StreamTest> all = StreamTest.bandwidths(true);
        assertThat(all).hasSize(33).contains(new StreamTest("192_bw", 192, 100_000, 1),
                new StreamTest("1.5k_bw", 1536, 10_000, 1));
        assertThat(all.getLast()).isEqualTo(new StreamTest("6m_bw", 6 << 20, 100, 1));
    }

    @Test
    void outputIsThatOfC() {
        assertThat(StreamTest.HEADER)
                .isEqualTo("name      bytes   xfers   iters   total       time     Gb/sec    usec/xfer");
        assertThat(new StreamTest("64_lat", 64, 1, 100_000).report(6_000_000_000L))
                .isEqualTo("64_lat    64      1       100k    12m         6.00s      0.02      30.00");
        assertThat(new StreamTest("custom", 1536, 1_000_000, 3).report(2_500_000_000L))
                .isEqualTo("custom    1.5k    1m      3       8.5g        2.50s     29.49       0.42");
    }

    @Test
    void testOptionsAreLettersAndWords() {
        TestOption.Converter converter = new TestOption.Converter();
        assertThat(converter.convert("b")).isEqualTo(TestOption.BLOCKING);
        assertThat(converter.convert("Nonblocking")).isEqualTo(TestOption.NONBLOCKING);
        assertThat(converter.convert("sockets")).isEqualTo(TestOption.SOCKETS);
    }

    @Test
    void theLastOptionDecidesWhetherToBlock() {
        assertThat(TransferMode.of(List.of())).isEqualTo(new TransferMode(false, false));
        assertThat(TransferMode.of(List.of(TestOption.ASYNC, TestOption.BLOCKING)))
                .isEqualTo(new TransferMode(true, true));
        assertThat(TransferMode.of(List.of(TestOption.BLOCKING, TestOption.NONBLOCKING)).blocking()).isFalse();
        assertThat(TransferMode.of(List.of(TestOption.NONBLOCKING, TestOption.BLOCKING)).blocking()).isTrue();
    }

    @Test
    void wrongDataAreFound() throws IOException {
        CountingData sender = new CountingData();
        CountingData receiver = new CountingData();
        ByteBuffer buffer = ByteBuffer.allocate(300);
        for (int i = 0; i < 2; i++) {
            sender.fill(buffer);
            receiver.verify(buffer);
        }
        sender.fill(buffer);
        buffer.put(7, (byte) 0);
        assertThatThrownBy(() -> receiver.verify(buffer)).isInstanceOf(IOException.class)
                .hasMessage("data verification failed byte 607");
    }
}
