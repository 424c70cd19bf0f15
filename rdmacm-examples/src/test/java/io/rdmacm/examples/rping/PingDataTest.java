// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

import io.rdmacm.examples.testing.Rpings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The data of a ping. */
class PingDataTest {
    @ParameterizedTest
    @CsvSource({"0, 64", "1, 64", "57, 64", "58, 64", "123456, 4096", "2147483647, 23", "7, 65535"})
    void isTheTextOfTheCProgram(int number, int size) {
        byte[] bytes = new byte[size];
        PingData.fill(MemorySegment.ofArray(bytes), number);
        assertThat(bytes[size - 1]).isZero();
        byte[] text = PingData.text(MemorySegment.ofArray(bytes));
        assertThat(PingData.show(text)).isEqualTo(Rpings.ping(number, size));
    }

    @Test
    void beginsAsTheCProgramPrintsIt() {
        byte[] bytes = new byte[64];
        PingData.fill(MemorySegment.ofArray(bytes), 2);
        assertThat(new String(bytes, 0, 63, StandardCharsets.US_ASCII))
                .isEqualTo("rdma-ping-2: CDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrst");
    }

    @Test
    void textEndsAtTheFirstZeroOrBeforeTheLastByte() {
        assertThat(PingData.text(MemorySegment.ofArray(new byte[] {'a', 0, 'b', 0}))).containsExactly('a');
        assertThat(PingData.text(MemorySegment.ofArray(new byte[] {'a', 'b', 'c'}))).containsExactly('a', 'b');
    }
}
