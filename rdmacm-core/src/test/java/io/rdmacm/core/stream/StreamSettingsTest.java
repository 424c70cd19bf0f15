// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.testing.Accessors;
import org.junit.jupiter.api.Test;

/** What the settings accept. */
class StreamSettingsTest {
    @Test
    void theDefaultsAreThoseOfC() {
        StreamSettings settings = StreamSettings.defaults();
        assertThat(settings.sendQueueSize()).isEqualTo(384);
        assertThat(settings.receiveQueueSize()).isEqualTo(384);
        assertThat(settings.inlineSize()).isEqualTo(64);
        assertThat(settings.sendBufferSize()).isEqualTo(131_072);
        assertThat(settings.receiveBufferSize()).isEqualTo(131_072);
        assertThat(settings.mapSlots()).isZero();
        assertThat(settings.retries()).isEqualTo(7);
        assertThat(settings.ackTimeout()).isEmpty();
    }

    @Test
    void valuesOutOfTheirRange() {
        List<UnaryOperator<StreamSettings.Builder>> wrong = List.of(
                builder -> builder.sendQueueSize(15), builder -> builder.sendQueueSize(0xFFFF),
                builder -> builder.receiveQueueSize(15), builder -> builder.receiveQueueSize(0xFFFF),
                builder -> builder.inlineSize(-1), builder -> builder.sendBufferSize(4095),
                builder -> builder.sendBufferSize(Integer.MAX_VALUE), builder -> builder.receiveBufferSize(4095),
                builder -> builder.mapSlots(-1), builder -> builder.mapSlots(129), builder -> builder.mapSlots(32_768),
                builder -> builder.keepAlive(Duration.ofNanos(1)), builder -> builder.keepAlive(Duration.ofDays(-1)),
                builder -> builder.retries(-1), builder -> builder.retries(8),
                builder -> builder.ackTimeout(new AckTimeout(32)),
                builder -> builder.linger(Duration.ofNanos(-1)), builder -> builder.handshakeTimeout(Duration.ZERO));
        for (UnaryOperator<StreamSettings.Builder> setting : wrong) {
            assertThatThrownBy(() -> setting.apply(StreamSettings.builder()).build())
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> StreamSettings.builder().waiting(null).build())
                .isInstanceOf(NullPointerException.class);
    }

    @Test
    void theTextNamesEachSetting() {
        Accessors.assertNamed(StreamSettings.builder().retries(6).build());
        assertThat(StreamSettings.builder().retries(6).build()).asString().contains("retries=6");
    }

    @Test
    void aBuilderBeginsWithOtherSettings() {
        StreamSettings settings = StreamSettings.builder().mapSlots(3).route(new byte[] {1}).reuseAddress(true)
                .keepAlive(Duration.ofSeconds(1)).retries(6).ackTimeout(AckTimeout.ofCode(14)).build();
        StreamSettings changed = settings.toBuilder().mapSlots(4).build();
        assertThat(changed.mapSlots()).isEqualTo(4);
        assertThat(changed.route()).containsExactly(1);
        assertThat(changed.reuseAddress()).isTrue();
        assertThat(changed.keepAlive()).isEqualTo(Duration.ofSeconds(1));
        assertThat(changed.retries()).isEqualTo(6);
        assertThat(changed.ackTimeout()).contains(AckTimeout.ofCode(14));
        changed.route()[0] = 2;
        assertThat(changed.route()).containsExactly(1);
        assertThat(changed).isNotEqualTo(settings);
        assertThat(changed.toBuilder().mapSlots(3).build()).isEqualTo(settings).hasSameHashCodeAs(settings);
        assertThat(changed.toBuilder().ackTimeout(null).build().ackTimeout()).isEmpty();
    }
}
