// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.Map;

import io.netty.channel.ChannelOption;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.address.AckTimeout;
import org.junit.jupiter.api.Test;

/** The options of channels, without a stream. */
class RdmaChannelOptionTest {
    private static final Map<ChannelOption<?>, Object> VALUES = Map.ofEntries(
            Map.entry(RdmaChannelOption.SEND_QUEUE_SIZE, 100), Map.entry(RdmaChannelOption.RECEIVE_QUEUE_SIZE, 101),
            Map.entry(RdmaChannelOption.INLINE_SIZE, 102), Map.entry(RdmaChannelOption.MAP_SLOTS, 103),
            Map.entry(RdmaChannelOption.ROUTE, new byte[] {1}),
            Map.entry(RdmaChannelOption.KEEP_ALIVE_INTERVAL, Duration.ofSeconds(5)),
            Map.entry(RdmaChannelOption.RETRIES, 5), Map.entry(RdmaChannelOption.ACK_TIMEOUT, AckTimeout.ofCode(14)),
            Map.entry(RdmaChannelOption.HANDSHAKE_TIMEOUT, Duration.ofSeconds(6)),
            Map.entry(RdmaChannelOption.SPIN, Duration.ofMillis(7)),
            Map.entry(RdmaChannelOption.ZERO_COPY_THRESHOLD, 104),
            Map.entry(ChannelOption.SO_SNDBUF, 1 << 16), Map.entry(ChannelOption.SO_RCVBUF, 1 << 15),
            Map.entry(ChannelOption.IP_TOS, 96),
            Map.entry(ChannelOption.SO_REUSEADDR, true), Map.entry(ChannelOption.SO_KEEPALIVE, true),
            Map.entry(ChannelOption.SO_LINGER, 8), Map.entry(ChannelOption.TCP_NODELAY, false),
            Map.entry(ChannelOption.ALLOW_HALF_CLOSURE, true));

    @SuppressWarnings("unchecked")
    private static boolean set(RdmaStreamChannelConfig config, ChannelOption<?> option, Object value) {
        return config.setOption((ChannelOption<Object>) option, value);
    }

    @Test
    void areWhatWasSet() {
        RdmaStreamChannelConfig config = new RdmaStreamChannel().config();

        VALUES.forEach((option, value) -> assertThat(set(config, option, value)).isTrue());
        VALUES.forEach((option, value) -> assertThat((Object) config.getOption(option)).isEqualTo(value));
        assertThat(config.getOptions().keySet()).containsAll(VALUES.keySet())
                .contains(RdmaChannelOption.STREAM_SETTINGS, ChannelOption.AUTO_READ);
    }

    @Test
    void areTheSettingsOfTheStream() {
        RdmaStreamChannelConfig config = new RdmaStreamChannel().config();
        VALUES.forEach((option, value) -> set(config, option, value));
        StreamSettings settings = config.getOption(RdmaChannelOption.STREAM_SETTINGS);

        assertThat(settings.sendQueueSize()).isEqualTo(100);
        assertThat(settings.receiveQueueSize()).isEqualTo(101);
        assertThat(settings.inlineSize()).isEqualTo(102);
        assertThat(settings.mapSlots()).isEqualTo(103);
        assertThat(settings.route()).containsExactly(1);
        assertThat(settings.retries()).isEqualTo(5);
        assertThat(settings.ackTimeout()).hasValue(AckTimeout.ofCode(14));
        assertThat(settings.handshakeTimeout()).hasSeconds(6);
        assertThat(settings.sendBufferSize()).isEqualTo(1 << 16);
        assertThat(settings.receiveBufferSize()).isEqualTo(1 << 15);
        assertThat(settings.typeOfService()).isEqualTo(96);
        assertThat(settings.reuseAddress()).isTrue();
        assertThat(settings.linger()).hasSeconds(8);
    }

    @Test
    void theIntervalOfKeepAliveDoesNotSwitchItOn() {
        RdmaStreamChannelConfig config = new RdmaStreamChannel().config();

        config.setOption(RdmaChannelOption.KEEP_ALIVE_INTERVAL, Duration.ofSeconds(9));
        assertThat(config.isKeepAlive()).isFalse();
        config.setKeepAlive(true);
        assertThat(config.getOption(RdmaChannelOption.STREAM_SETTINGS).keepAlive()).hasSeconds(9);
    }

    @Test
    void theTrafficClassIsTheTypeOfService() {
        RdmaStreamChannelConfig config = new RdmaStreamChannel().config();

        assertThat(config.setTrafficClass(96).getTrafficClass()).isEqualTo(96);
        assertThat(config.getOption(RdmaChannelOption.STREAM_SETTINGS).typeOfService()).isEqualTo(96);
    }

    @Test
    void badValuesAreRefused() {
        RdmaStreamChannelConfig config = new RdmaStreamChannel().config();

        assertThatIllegalArgumentException().isThrownBy(() -> config.setOption(RdmaChannelOption.SEND_QUEUE_SIZE, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> config.setSendBufferSize(-1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> config.setOption(RdmaChannelOption.SPIN, Duration.ofNanos(-1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> config.setOption(RdmaChannelOption.KEEP_ALIVE_INTERVAL, Duration.ZERO));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RdmaServerStreamChannel().config().setBacklog(-1));
        assertThat(config.getOption(RdmaChannelOption.STREAM_SETTINGS).sendQueueSize()).isEqualTo(384);
    }

    @Test
    void areFixedWhenThereIsAStream() {
        RdmaStreamChannelConfig config = new RdmaStreamChannel().config();
        config.options().fix();

        assertThatIllegalStateException().isThrownBy(() -> config.setOption(RdmaChannelOption.INLINE_SIZE, 0))
                .withMessageContaining("INLINE_SIZE").withMessageContaining("ServerBootstrap.option");
        config.setSendBufferSize(4096).setReceiveBufferSize(4096).setReuseAddress(true);
        assertThat(config.getSendBufferSize()).isEqualTo(1 << 17);
        config.setOption(RdmaChannelOption.SPIN, Duration.ofNanos(3));
        assertThat(config.options().spinNanos()).isEqualTo(3);
    }

    @Test
    void ofServers() {
        RdmaServerStreamChannelConfig config = new RdmaServerStreamChannel().config();

        assertThat(config.setOption(ChannelOption.SO_BACKLOG, 3)).isTrue();
        assertThat(config.getBacklog()).isEqualTo(3);
        assertThat(config.setOption(RdmaChannelOption.INLINE_SIZE, 3)).isTrue();
        assertThat(config.getOption(RdmaChannelOption.INLINE_SIZE)).isEqualTo(3);
        assertThat(config.getOptions()).containsEntry(ChannelOption.SO_BACKLOG, 3);
    }
}
