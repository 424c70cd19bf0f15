// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadTest {
    private static byte[] payload(int size, long number) {
        byte[] data = new byte[size];
        Payload.write(MemorySegment.ofArray(data), number);
        return data;
    }

    private static void check(byte[] data, long number) throws LossException {
        Payload.check(MemorySegment.ofArray(data), number);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 17, 23, 24, 25, 4096})
    void anIntactPayloadIsAccepted(int size) throws Exception {
        check(payload(size, -5), -5);
    }

    @Test
    void eachByteMatters() {
        for (int i = 0; i < 40; i++) {
            byte[] data = payload(40, 7);
            data[i]++;
            assertThatThrownBy(() -> check(data, 7)).as("byte %d", data.length).isInstanceOf(LossException.class);
        }
    }

    @Test
    void anotherOneOrAPartOfItIsRejected() {
        assertThatThrownBy(() -> check(payload(64, 1), 2)).isInstanceOf(LossException.class)
                .hasMessageContaining("arrived instead of");
        assertThatThrownBy(() -> check(Arrays.copyOf(payload(64, 1), 63), 1)).isInstanceOf(LossException.class)
                .hasMessageContaining("of 64 bytes arrived with 63");
        assertThatThrownBy(() -> check(new byte[8], 1)).isInstanceOf(LossException.class);
    }
}
