// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The tests of rstream and riostream, and their output. */
class StreamProgramsTest {
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
        assertThat(isBlocking()).isFalse();
        assertThat(isBlocking("-T", "a", "-T", "b")).isTrue();
        assertThat(isBlocking("-T", "b", "-T", "n")).isFalse();
        assertThat(isBlocking("-T", "n", "-T", "b")).isTrue();
    }

    private static boolean isBlocking(String... options) {
        Rstream program = new Rstream();
        new CommandLine(program).parseArgs(options);
        return program.isBlocking();
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
