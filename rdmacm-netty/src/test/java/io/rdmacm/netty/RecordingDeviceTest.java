// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.RequiresRdma;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Java Flight Recorder is told of channels what it is told of connections. */
@RequiresRdma
class RecordingDeviceTest {
    private static final List<String> NAMES = List.of("io.rdmacm.Connect", "io.rdmacm.Accept",
            "io.rdmacm.Disconnect");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void theLifeOfAChannel(Loops loops) throws Exception {
        Semaphore recorded = new Semaphore(0);
        Path file = folder.resolve("events.jfr");
        String client;
        String server;
        try (RecordingStream recording = new RecordingStream()) {
            NAMES.forEach(name -> {
                recording.enable(name).withoutThreshold();
                recording.onEvent(name, _ -> recorded.release());
            });
            recording.startAsync();
            try (ChannelPair pair = ChannelPair.connect(loops)) {
                client = text(pair.client().localAddress());
                server = text(pair.server().localAddress());
                pair.client().close().sync();
                assertThat(pair.atServer().next()).isEqualTo("inactive");
            }
            // The streams of closed channels are freed in the background.
            assertThat(recorded.tryAcquire(4, Recorder.SECONDS, TimeUnit.SECONDS)).isTrue();
            // A stream of events forgets the strings of earlier events when another class of events is registered.
            recording.dump(file);
        }
        assertThat(RecordingFile.readAllEvents(file))
                .filteredOn(event -> NAMES.contains(event.getEventType().getName()))
                .extracting(event -> event.getEventType().getName() + " " + event.getString("localAddress"))
                .containsExactlyInAnyOrder(NAMES.get(0) + " " + client, NAMES.get(1) + " " + server,
                        NAMES.get(2) + " " + client, NAMES.get(2) + " " + server);
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }
}
