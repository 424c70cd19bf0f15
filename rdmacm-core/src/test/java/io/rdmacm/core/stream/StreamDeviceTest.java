// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** What streams carry from one end to the other. */
@RequiresRdma
class StreamDeviceTest {
    @Test
    void bytesTravelBothWays() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            pair.client().write(ByteBuffer.wrap("ping".getBytes(StandardCharsets.UTF_8)), Streams.TIMEOUT);
            assertThat(Streams.read(pair.server(), 4)).isEqualTo("ping".getBytes(StandardCharsets.UTF_8));
            pair.server().write(ByteBuffer.wrap("pong".getBytes(StandardCharsets.UTF_8)), Streams.TIMEOUT);
            assertThat(Streams.read(pair.client(), 4)).isEqualTo("pong".getBytes(StandardCharsets.UTF_8));
            assertThat(pair.client().peerAddress()).isEqualTo(streams.server.localAddress());
            assertThat(pair.server().peerAddress()).isEqualTo(pair.client().localAddress());
        }
    }

    @Test
    void muchDataTravelWhole() throws Exception {
        byte[] data = Streams.data(1, 10_000_000);
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<Void> writing = Background.call(() -> {
                    pair.client().write(ByteBuffer.wrap(data), Streams.TIMEOUT);
                    pair.client().shutdownOutput();
                    return null;
                })) {
            assertThat(Streams.read(pair.server(), data.length)).isEqualTo(data);
            assertThat(pair.server().read(ByteBuffer.allocate(1), Streams.TIMEOUT)).isEqualTo(-1);
            writing.result();
        }
    }
}
