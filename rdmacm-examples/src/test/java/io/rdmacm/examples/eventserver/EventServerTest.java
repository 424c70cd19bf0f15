// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import io.rdmacm.examples.testing.CommandLines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command lines of event_server and event_client, and the message that they exchange. */
class EventServerTest {
    @Test
    void messageTravelsInNetworkByteOrder() throws IOException {
        byte[] bytes = {0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        RegionMessage message = RegionMessage.read(MemorySegment.ofArray(bytes));
        assertThat(message).isEqualTo(new RegionMessage(RegionMessage.Kind.DONE, 0x0102030405060708L, 0x090a0b0c,
                0x0d0e0f10));
        byte[] written = new byte[RegionMessage.BYTES];
        message.write(MemorySegment.ofArray(written));
        assertThat(written).isEqualTo(bytes);
        bytes[3] = 2;
        assertThatThrownBy(() -> RegionMessage.read(MemorySegment.ofArray(bytes))).hasMessageContaining("kind 2");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "event_server -C -1 | Invalid number of clients -1",
        "event_server -p 65536 | Invalid port 65536",
        "event_client | Missing required parameters: 'ADDR', 'PORT'",
        "event_client 127.0.0.1 0 | a client needs the server's port",
        "event_client 127.0.0.1 1 -C 0 | Invalid count 0"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }

    @ParameterizedTest
    @CsvSource({"event_server", "event_client"})
    void helpShowsAnExample(String name) throws Exception {
        assertThat(CommandLines.help(name)).contains("For example");
    }
}
