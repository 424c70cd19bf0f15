// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.RequiresRdma;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Java Flight Recorder is told of channels what it is told of connections. */
@RequiresRdma
class RecordingDeviceTest {
    private static final List<String> NAMES = List.of("io.rdmacm.Connect", "io.rdmacm.Accept",
            "io.rdmacm.Disconnect");

    @ParameterizedTest
    @EnumSource
    void theLifeOfAChannel(Loops loops) throws Exception {
        BlockingQueue<RecordedEvent> recorded = new LinkedBlockingQueue<>();
        try (RecordingStream recording = new RecordingStream()) {
            NAMES.forEach(name -> {
                recording.enable(name).withoutThreshold();
                recording.onEvent(name, recorded::add);
            });
            recording.setReuse(false);
            recording.startAsync();
            String client;
            String server;
            try (ChannelPair pair = ChannelPair.connect(loops)) {
                client = text(pair.client().localAddress());
                server = text(pair.server().localAddress());
                pair.client().close().sync();
                assertThat(pair.atServer().next()).isEqualTo("inactive");
            }
            // The streams of closed channels are freed in the background.
            List<String> events = new ArrayList<>();
            while (events.size() < 4) {
                RecordedEvent event = recorded.poll(Recorder.SECONDS, TimeUnit.SECONDS);
                assertThat(event).as("after %s", events).isNotNull();
                events.add(event.getEventType().getName() + " " + event.getString("localAddress"));
            }
            assertThat(events).containsExactlyInAnyOrder(NAMES.get(0) + " " + client, NAMES.get(1) + " " + server,
                    NAMES.get(2) + " " + client, NAMES.get(2) + " " + server);
        }
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }
}
