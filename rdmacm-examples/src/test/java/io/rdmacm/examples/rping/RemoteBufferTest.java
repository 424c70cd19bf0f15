// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;

import org.junit.jupiter.api.Test;

class RemoteBufferTest {
    private static final byte[] MESSAGE = {1, 2, 3, 4, 5, 6, 7, 8, (byte) 0x90, 10, 11, 12, 0, 0, 0x10, 0};

    @Test
    void travelsInNetworkByteOrder() {
        byte[] written = new byte[RemoteBuffer.MESSAGE];
        new RemoteBuffer(0x0102030405060708L, 0x900a0b0c, 4096).write(MemorySegment.ofArray(written));
        assertThat(written).isEqualTo(MESSAGE);
    }

    @Test
    void isReadAsItWasWritten() {
        assertThat(RemoteBuffer.read(MemorySegment.ofArray(MESSAGE)))
                .isEqualTo(new RemoteBuffer(0x0102030405060708L, 0x900a0b0c, 4096));
    }

    @Test
    void lengthIsUnsigned() {
        byte[] message = new byte[RemoteBuffer.MESSAGE];
        message[12] = (byte) 0xff;
        assertThat(RemoteBuffer.read(MemorySegment.ofArray(message)).length()).isEqualTo(0xff00_0000L);
    }
}
