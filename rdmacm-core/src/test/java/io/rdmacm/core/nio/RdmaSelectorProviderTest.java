// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ServiceLoader;

import io.rdmacm.core.forked.OnlyIpv4;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.testing.ForkedJvm;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;

/** What the provider gives, as far as it needs no device. */
class RdmaSelectorProviderTest {
    @Test
    void itIsNotTheProviderOfEverybodyOnTheClassPath() {
        assertThat(ServiceLoader.load(SelectorProvider.class)).isEmpty();
        assertThat(RdmaSelectorProvider.class.getModule().getDescriptor()).isNull();
        assertThat(SelectorProvider.provider()).isNotInstanceOf(RdmaSelectorProvider.class);
    }

    @Test
    void pipesAndDatagramsAreThoseOfTheJdk() throws Exception {
        RdmaSelectorProvider provider = RdmaSelectorProvider.instance();
        Pipe pipe = provider.openPipe();
        try (Pipe.SinkChannel sink = pipe.sink(); Pipe.SourceChannel source = pipe.source()) {
            sink.write(ByteBuffer.wrap(new byte[] {42}));
            ByteBuffer one = ByteBuffer.allocate(1);
            assertThat(source.read(one)).isOne();
            assertThat(one.get(0)).isEqualTo((byte) 42);
            assertThat(source.provider()).isSameAs(SelectorProvider.provider());
        }
        try (DatagramChannel one = provider.openDatagramChannel();
                DatagramChannel other = provider.openDatagramChannel(StandardProtocolFamily.INET)) {
            assertThat(one.provider()).isSameAs(SelectorProvider.provider());
            assertThat(other.provider()).isSameAs(SelectorProvider.provider());
        }
        assertThat(provider.inheritedChannel()).isNull();
    }

    @Test
    void aProgramThatWantsIpv4OnlyIsRefusedIpv6AsByTheJdk() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(OnlyIpv4.class).property("java.net.preferIPv4Stack", "true").run();
        assertThat(result.output().lines()).as(result.errors()).hasSize(10).containsOnly("true");
    }

    @Test
    void thereAreInternetAddressesOnly() {
        RdmaSelectorProvider provider = RdmaSelectorProvider.instance();

        assertThatThrownBy(() -> provider.openSocketChannel(StandardProtocolFamily.UNIX))
                .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("UNIX");
        assertThatThrownBy(() -> provider.openServerSocketChannel(StandardProtocolFamily.UNIX))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> provider.openSocketChannel(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void channelsBeginWithTheSettingsOfTheirProvider() throws Exception {
        StreamSettings settings = StreamSettings.builder().sendQueueSize(50).receiveBufferSize(10_000)
                .keepAlive(Duration.ofSeconds(3)).build();
        RdmaSelectorProvider provider = new RdmaSelectorProvider(settings);
        try (SocketChannel channel = provider.openSocketChannel();
                ServerSocketChannel server = provider.openServerSocketChannel()) {
            assertThat(channel.getOption(RdmaSocketOptions.STREAM_SETTINGS)).isSameAs(settings);
            assertThat(channel.getOption(RdmaSocketOptions.RDMA_SQSIZE)).isEqualTo(50);
            assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(10_000);
            assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            assertThat(channel.getOption(RdmaSocketOptions.KEEPALIVE_INTERVAL)).isEqualTo(Duration.ofSeconds(3));
            assertThat(server.getOption(RdmaSocketOptions.RDMA_SQSIZE)).isEqualTo(50);
        }
    }

    @Test
    void optionsBecomeSettings() throws Exception {
        try (SocketChannel channel = RdmaSelectorProvider.instance().openSocketChannel()) {
            channel.setOption(RdmaSocketOptions.RDMA_SQSIZE, 100).setOption(RdmaSocketOptions.RDMA_RQSIZE, 200)
                    .setOption(RdmaSocketOptions.RDMA_INLINE, 16).setOption(RdmaSocketOptions.RDMA_IOMAPSIZE, 4)
                    .setOption(RdmaSocketOptions.RDMA_ROUTE, new byte[] {1})
                    .setOption(RdmaSocketOptions.HANDSHAKE_TIMEOUT, Duration.ofSeconds(7))
                    .setOption(StandardSocketOptions.SO_LINGER, 9)
                    .setOption(StandardSocketOptions.SO_REUSEADDR, true)
                    .setOption(StandardSocketOptions.SO_SNDBUF, 5000).setOption(StandardSocketOptions.SO_RCVBUF, 0)
                    .setOption(StandardSocketOptions.IP_TOS, 96)
                    .setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 60);
            StreamSettings settings = channel.getOption(RdmaSocketOptions.STREAM_SETTINGS);

            assertThat(settings.sendQueueSize()).isEqualTo(100);
            assertThat(settings.receiveQueueSize()).isEqualTo(200);
            assertThat(settings.inlineSize()).isEqualTo(16);
            assertThat(settings.mapSlots()).isEqualTo(4);
            assertThat(settings.route()).containsExactly(1);
            assertThat(settings.handshakeTimeout()).isEqualTo(Duration.ofSeconds(7));
            assertThat(settings.linger()).isEqualTo(Duration.ofSeconds(9));
            assertThat(settings.reuseAddress()).isTrue();
            assertThat(settings.sendBufferSize()).isEqualTo(5000);
            assertThat(settings.receiveBufferSize()).isEqualTo(StreamSettings.MIN_BUFFER_SIZE);
            assertThat(settings.typeOfService()).isEqualTo(96);
            assertThat(settings.keepAlive()).isZero();
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            assertThat(channel.getOption(RdmaSocketOptions.STREAM_SETTINGS).keepAlive())
                    .isEqualTo(Duration.ofMinutes(1));

            channel.setOption(RdmaSocketOptions.STREAM_SETTINGS, StreamSettings.defaults());
            assertThat(channel.getOption(RdmaSocketOptions.RDMA_SQSIZE)).isEqualTo(384);
            assertThatThrownBy(() -> channel.setOption(RdmaSocketOptions.RDMA_SQSIZE, 1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channel.setOption(RdmaSocketOptions.KEEPALIVE_INTERVAL, Duration.ZERO))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_REUSEPORT, true))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("one listener");
            assertThat(channel.supportedOptions()).allSatisfy(option -> assertThat(option.name())
                    .isEqualTo(option.toString()));
            for (var option : channel.supportedOptions()) {
                assertThat(channel.getOption(option)).isInstanceOf(option.type());
            }
        }
    }
}
