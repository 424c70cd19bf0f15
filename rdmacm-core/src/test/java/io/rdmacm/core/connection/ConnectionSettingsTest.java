// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.function.BiFunction;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.testing.Accessors;
import org.junit.jupiter.api.Test;

/** Settings that no connection could have are refused when they are made. */
class ConnectionSettingsTest {
    @Test
    void numbersThatAreNoNumberOfBuffersAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> ConnectionSettings.builder().sendBuffers(0).build())
                .withMessage("sendBuffers must be at least 1, not 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConnectionSettings.builder().linger(Duration.ofNanos(-1)).build())
                .withMessageContaining("negative duration");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConnectionSettings.builder().keepAlive(Duration.ofNanos(1)).build())
                .withMessageContaining("keepAlive");
        for (int impossible : new int[] {-1, 256}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ConnectionSettings.builder().typeOfService(impossible).build())
                    .withMessageContaining("typeOfService");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConnectionSettings.builder().ackTimeout(new AckTimeout(32)).build());
    }

    @Test
    void everyNumberIsCheckedByName() {
        Map<String, BiFunction<ConnectionSettings.Builder, Integer, ConnectionSettings.Builder>> numbers = Map.of(
                "messageSize", ConnectionSettings.Builder::messageSize,
                "receiveBuffers", ConnectionSettings.Builder::receiveBuffers,
                "sendBuffers", ConnectionSettings.Builder::sendBuffers,
                "operations", ConnectionSettings.Builder::operations);
        numbers.forEach((name, set) -> {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> set.apply(ConnectionSettings.builder(), 0).build())
                    .withMessage(name + " must be at least 1, not 0");
            set.apply(ConnectionSettings.builder(), 1).build();
        });
        assertThat(ConnectionSettings.builder().receiveBuffers(Integer.MAX_VALUE - 2).sendBuffers(1).operations(1)
                .build().receiveBuffers()).isEqualTo(Integer.MAX_VALUE - 2);
    }

    @Test
    void aBuilderBeginsWithOtherSettings() {
        ConnectionHandler handler = new ConnectionHandler() {
        };
        ConnectionSettings settings = ConnectionSettings.builder().messageSize(20).receiveBuffers(2).sendBuffers(3)
                .operations(4).privateData(new byte[] {5}).handshakeTimeout(Duration.ofSeconds(6))
                .linger(Duration.ofSeconds(7)).waiting(WaitPolicy.spinAlways()).handler(handler)
                .keepAlive(Duration.ofSeconds(9)).ackTimeout(AckTimeout.ofCode(10)).typeOfService(11)
                .inlineSize(13).scatterGather(14).route(new byte[] {15}).largeMessages(16, 17)
                .localAddress(new InetSocketAddress(12)).build();
        ConnectionSettings changed = settings.toBuilder().operations(8).build();
        assertThat(changed.operations()).isEqualTo(8);
        assertThat(changed).usingRecursiveComparison().ignoringFields("operations").isEqualTo(settings);
        assertThat(changed.handlers().orElseThrow().apply(null)).isSameAs(handler);
        assertThat(changed.loops()).isEmpty();
        assertThat(changed).isNotEqualTo(settings);
        assertThat(changed.toBuilder().operations(4).build()).isEqualTo(settings).hasSameHashCodeAs(settings);
    }

    @Test
    void largeMessagesNeedASizeANumberAndRoomForTheirAnnouncements() {
        ConnectionSettings.Builder builder = ConnectionSettings.builder();
        assertThatIllegalArgumentException().isThrownBy(() -> builder.largeMessages(0, 1).build())
                .withMessage("largeMessageSize must be at least 1, not 0");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.largeMessages(1, 0).build())
                .withMessage("largeMessages must be at least 1, not 0");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.largeMessages(1, 1).messageSize(19).build())
                .withMessage("large messages need a messageSize of at least 20, not 19");
        assertThat(builder.messageSize(20).build().agreedSizes()).isTrue();
        assertThat(builder.largeMessages(0, 0).build().agreedSizes()).isFalse();
    }

    @Test
    void theTextNamesEachSetting() {
        ConnectionSettings settings = ConnectionSettings.builder().messageSize(20).build();
        Accessors.assertNamed(settings);
        assertThat(settings).asString().contains("messageSize=20");
    }

    @Test
    void buffersWhoseSumIsNoIntAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> ConnectionSettings.builder()
                .receiveBuffers(Integer.MAX_VALUE).sendBuffers(Integer.MAX_VALUE).operations(4).build())
                .withMessage("receiveBuffers, sendBuffers and operations must be at most 2147483647 together,"
                        + " not 4294967298");
    }
}
