// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

import org.junit.jupiter.api.Test;

class RemoteMemoryTest {
    private static final RemoteMemory MEMORY = new RemoteMemory(0x0102030405060708L, 0x900a0b0c, 0x1000);
    private static final byte[] ENCODED = {1, 2, 3, 4, 5, 6, 7, 8, (byte) 0x90, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0x10, 0};
    private static final byte[] COMPACT = {1, 2, 3, 4, 5, 6, 7, 8, (byte) 0x90, 10, 11, 12, 0, 0, 0x10, 0};

    @Test
    void isEncodedInNetworkByteOrderWhateverThatOfTheBuffer() {
        assertThat(MEMORY.encode()).isEqualTo(ENCODED);
        ByteBuffer both = ByteBuffer.allocate(36).order(ByteOrder.LITTLE_ENDIAN);
        MEMORY.encode(both);
        MEMORY.encodeCompact(both);
        assertThat(Arrays.copyOf(both.array(), 20)).isEqualTo(ENCODED);
        assertThat(Arrays.copyOfRange(both.array(), 20, 36)).isEqualTo(COMPACT);
        both.flip();
        assertThat(RemoteMemory.decode(both)).isEqualTo(MEMORY);
        assertThat(RemoteMemory.decodeCompact(both)).isEqualTo(MEMORY);
        assertThat(both.hasRemaining()).isFalse();
        assertThat(both.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void isDecodedFromPrivateDataWithZerosBehindIt() {
        assertThat(RemoteMemory.decode(Arrays.copyOf(ENCODED, 56))).isEqualTo(MEMORY);
        assertThat(RemoteMemory.decode(new byte[56])).isEqualTo(RemoteMemory.NONE);
    }

    @Test
    void aCompactLengthIsUnsignedAndBelow4Gib() {
        RemoteMemory large = new RemoteMemory(0, 1, 0xFFFF_FFFFL);
        ByteBuffer compact = ByteBuffer.allocate(16);
        large.encodeCompact(compact);
        assertThat(RemoteMemory.decodeCompact(compact.flip())).isEqualTo(large);
        assertThatIllegalStateException().isThrownBy(
                () -> new RemoteMemory(0, 1, 0x1_0000_0000L).encodeCompact(ByteBuffer.allocate(16)));
    }

    @Test
    void whatIsTooShortOrImpossibleIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> RemoteMemory.decode(new byte[19]));
        assertThatIllegalArgumentException().isThrownBy(() -> RemoteMemory.decodeCompact(ByteBuffer.allocate(15)));
        byte[] negative = ENCODED.clone();
        negative[12] = -1;
        assertThatIllegalArgumentException().isThrownBy(() -> RemoteMemory.decode(negative));
        assertThatThrownBy(() -> MEMORY.encode(ByteBuffer.allocate(19))).isInstanceOf(BufferOverflowException.class);
        assertThatIllegalArgumentException().isThrownBy(() -> new RemoteMemory(-16, 0, 17));
        assertThat(new RemoteMemory(-16, 0, 16).addressOf(16, 0)).isZero();
        assertThat(new RemoteMemory(Long.MIN_VALUE, 0, Long.MAX_VALUE).length()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aKeyOfZeroIsAKey() {
        RemoteMemory memory = new RemoteMemory(0x1000, 0, 8);
        assertThat(RemoteMemory.decode(memory.encode())).isEqualTo(memory).isNotEqualTo(RemoteMemory.NONE);
        assertThat(memory.slice(4, 4).key()).isZero();
    }

    @Test
    void slicesAreWithinTheMemory() {
        assertThat(MEMORY.slice(8, 16)).isEqualTo(new RemoteMemory(0x0102030405060710L, 0x900a0b0c, 16));
        assertThat(MEMORY.slice(0x1000)).isEqualTo(new RemoteMemory(0x0102030405061708L, 0x900a0b0c, 0));
        for (long[] part : new long[][] {{-1, 1}, {0, 0x1001}, {0x1000, 1}, {0, -1}, {Long.MAX_VALUE, 2}}) {
            assertThatThrownBy(() -> MEMORY.slice(part[0], part[1])).isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThatThrownBy(() -> MEMORY.slice(0x1001)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
