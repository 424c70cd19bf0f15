// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;

import io.rdmacm.verbs.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The private data of a connect, byte by byte. */
class ConnectDataTest {
    private static final ConnectData DATA = new ConnectData(true, 384, 2, 0x1122334455667788L, 2, 0x01020304,
            0x99AABBCCDDEEFF00L, 65_536, 0x05060708);
    private static final String BYTES = "0103018000000002" + "1122334455667788" + "01020304" + "00000002"
            + "99aabbccddeeff00" + "05060708" + "00010000";

    @Test
    void allMembersAreInNetworkByteOrder() throws Exception {
        assertThat(HexFormat.of().formatHex(DATA.encode())).isEqualTo(BYTES);
        assertThat(ConnectData.decode(DATA.encode())).isEqualTo(DATA);
        assertThat(ConnectData.decode(Arrays.copyOf(DATA.encode(), 196))).isEqualTo(DATA);
    }

    @ParameterizedTest
    @CsvSource({"0, 02, version", "0, 00, version", "2, 0000, credits", "20, 00000001, target list",
        "20, ffffffff, target list", "20, 00010001, target list", "36, 00000000, buffer", "36, 80000000, buffer",
        "36, 20000001, buffer"})
    void whatAPeerMustNotSay(int offset, String bytes, String message) {
        byte[] data = DATA.encode();
        byte[] wrong = HexFormat.of().parseHex(bytes);
        System.arraycopy(wrong, 0, data, offset, wrong.length);
        assertThatExceptionOfType(StreamProtocolException.class).isThrownBy(() -> ConnectData.decode(data))
                .withMessageContaining(message);
    }

    @Test
    void shortDataIsRefused() {
        for (int length = 0; length < ConnectData.SIZE; length++) {
            byte[] data = Arrays.copyOf(DATA.encode(), length);
            assertThatExceptionOfType(StreamProtocolException.class).isThrownBy(() -> ConnectData.decode(data))
                    .withMessageContaining(length + " bytes");
        }
    }

    @Test
    void anyDataAreDecodedOrRefused() {
        Random random = Seed.random(1);
        int decoded = 0;
        for (int i = 0; i < 100_000; i++) {
            byte[] data = DATA.encode();
            for (int j = random.nextInt(4); j >= 0; j--) {
                data[random.nextInt(data.length)] = (byte) random.nextInt();
            }
            try {
                ConnectData peer = ConnectData.decode(data);
                assertThat(peer.credits()).isBetween(1, 0xFFFF);
                assertThat(peer.targetCount()).isBetween(2, 1 << 16);
                assertThat(peer.bufferLength()).isBetween(1, StreamSettings.MAX_BUFFER_SIZE);
                assertThat(peer.mapSlots()).isBetween(0, MapSlots.MAXIMUM);
                decoded++;
            } catch (StreamProtocolException e) {
                assertThat(e).hasMessageContaining("rsockets");
            }
        }
        assertThat(decoded).isBetween(10_000, 90_000);
    }

    @Test
    void aPeerWithoutTheFlagHasNoMappings() throws Exception {
        byte[] data = DATA.encode();
        data[1] = 1;
        assertThat(ConnectData.decode(data).mapSlots()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "127, 127", "128, 128", "256, 129", "32512, 255"})
    void numbersOfMappings(int count, int encoded) {
        assertThat(MapSlots.isEncodable(count)).isTrue();
        assertThat(Byte.toUnsignedInt(MapSlots.encode(count))).isEqualTo(encoded);
        assertThat(MapSlots.decode((byte) encoded)).isEqualTo(count);
        assertThat(MapSlots.isEncodable(count + 32_513)).isFalse();
    }

    @Test
    void messages() {
        int message = StreamMessage.of(StreamMessage.CONTROL, StreamMessage.SHUTDOWN);
        assertThat(message).isEqualTo(0xE000_0002);
        assertThat(StreamMessage.kind(message)).isEqualTo(StreamMessage.CONTROL);
        assertThat(StreamMessage.value(message)).isEqualTo(StreamMessage.SHUTDOWN);
        assertThat(StreamMessage.of(StreamMessage.CREDIT, 0xFFFF)).isEqualTo(0x8000_FFFF);
        assertThat(StreamMessage.of(StreamMessage.DATA, 5)).isEqualTo(5);
        assertThat(StreamMessage.of(StreamMessage.MAPPED, 1)).isEqualTo(0xC000_0001);
    }
}
