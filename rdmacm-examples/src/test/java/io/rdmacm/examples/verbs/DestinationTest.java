// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.net.InetAddress;

import io.rdmacm.verbs.address.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DestinationTest {
    private static final String GID = "00000000000000000000ffffc0a86301";

    @Test
    void theTextIsThatOfTheCPrograms() throws IOException {
        Gid gid = Gid.ofAddress(InetAddress.getByName("192.168.99.1"));
        Destination destination = new Destination(0xab, 0x11, 0x8bec4b, gid);
        String text = "00ab:000011:8bec4b:" + GID + "\0";
        assertThat(destination.toText()).isEqualTo(text).hasSize(Destination.BYTES);
        assertThat(Destination.of(text)).isEqualTo(destination)
                .hasToString("LID 0x00ab, QPN 0x000011, PSN 0x8bec4b, GID ::ffff:192.168.99.1");
        assertThat(Destination.of(Destination.NONE.toText())).isEqualTo(Destination.NONE);
        Destination largest = new Destination(0xffff, 0xffffff, 0xffffff, new Gid(-1, -1));
        assertThat(Destination.of(largest.toText())).isEqualTo(largest);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00ab:000011:8bec4b:" + GID, "00ab:000011:" + GID + "\0", "GET / HTTP/1.1\0",
        "00ab:0000111:8bec4b:" + GID + "\0", "00ag:000011:8bec4b:" + GID + "\0"})
    void otherTextsAreRefused(String text) {
        assertThatIOException().isThrownBy(() -> Destination.of(text)).withMessageContaining("not a ping-pong program");
    }
}
