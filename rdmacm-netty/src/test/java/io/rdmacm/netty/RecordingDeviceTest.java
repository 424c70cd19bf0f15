// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;

import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.verbs.testing.RequiresRdma;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Java Flight Recorder is told of channels what it is told of connections. */
@RequiresRdma
class RecordingDeviceTest {
    private static final List<String> NAMES = List.of("io.rdmacm.Connect", "io.rdmacm.Accept",
            "io.rdmacm.Disconnect");

    @ParameterizedTest
    @EnumSource
    void theLifeOfAChannel(Loops loops, @TempDir Path folder) throws Exception {
        Path file = folder.resolve("events.jfr");
        String client;
        String server;
        try (Recording recording = new Recording()) {
            NAMES.forEach(name -> recording.enable(name).withoutThreshold());
            recording.start();
            try (ChannelPair pair = ChannelPair.connect(loops)) {
                client = pair.client().localAddress().getAddress().getHostAddress() + ":"
                        + pair.client().localAddress().getPort();
                server = pair.server().localAddress().getAddress().getHostAddress() + ":"
                        + pair.server().localAddress().getPort();
                pair.client().close().sync();
                assertThat(pair.atServer().next()).isEqualTo("inactive");
            }
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        assertThat(events).filteredOn(event -> event.getEventType().getName().equals(NAMES.get(0)))
                .extracting(event -> event.getString("localAddress")).containsExactly(client);
        assertThat(events).filteredOn(event -> event.getEventType().getName().equals(NAMES.get(1)))
                .extracting(event -> event.getString("localAddress")).containsExactly(server);
        assertThat(events).filteredOn(event -> event.getEventType().getName().equals(NAMES.get(2)))
                .extracting(event -> event.getString("localAddress")).containsExactlyInAnyOrder(client, server);
    }
}
