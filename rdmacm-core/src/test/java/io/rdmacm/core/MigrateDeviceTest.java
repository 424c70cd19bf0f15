// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.internal.wait.EventSource;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Ids move between channels, and no event is lost. */
@RequiresRdma
class MigrateDeviceTest {
    @Test
    @Covers("rdma_migrate_id")
    void laterEventsArriveAtTheNewChannel() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel from = EventChannel.open();
                EventChannel to = EventChannel.open(); CmId id = CmId.open(from, PortSpace.TCP)) {
            id.migrate(to);
            assertThat(id.channel()).isSameAs(to);
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            try (CmEvent event = to.getEvent(Loopback.TIMEOUT)) {
                assertThat(event.id()).isSameAs(id);
                assertThat(event.type()).isEqualTo(CmEventType.ADDR_RESOLVED);
            }
            assertThat(from.pollEvent()).isEmpty();
            id.migrate(from);
            id.resolveRoute(Loopback.TIMEOUT);
            from.await(id, CmEventType.ROUTE_RESOLVED, Loopback.TIMEOUT).close();
        }
    }

    @Test
    @Covers("rdma_migrate_id")
    void anEventThatWasReadAndSetAsideMovesAlong() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel from = EventChannel.open();
                EventChannel to = EventChannel.open(); CmId id = CmId.open(from, PortSpace.TCP);
                CmId other = CmId.open(from, PortSpace.TCP)) {
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            other.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            from.await(other, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            id.migrate(to);
            try (CmEvent event = to.getEvent(Loopback.TIMEOUT)) {
                assertThat(event.id()).isSameAs(id);
                assertThat(event.type()).isEqualTo(CmEventType.ADDR_RESOLVED);
                assertThat(event.status()).isZero();
            }
        }
    }

    @Test
    @Covers("rdma_migrate_id")
    void noConnectRequestThatWaitsIsLostWhenItsListenerMoves() throws Exception {
        int clients = 12;
        try (Loopback loopback = new Loopback(); EventChannel to = EventChannel.open();
                EventChannel channel = EventChannel.open()) {
            List<End> ends = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                End end = new End(loopback.resolved(channel));
                ends.add(end);
                end.id.connect(ConnectionParameters.builder().privateData(new byte[] {(byte) i}).build());
                awaitReadable(loopback.listener.channel());
                // the newest request is with the kernel, those before were read and moved before
                loopback.listener.migrate(i % 2 == 0 ? to : loopback.channel);
            }
            EventChannel now = loopback.listener.channel();
            Set<Byte> seen = new HashSet<>();
            for (int i = 0; i < clients; i++) {
                try (CmEvent request = now.await(loopback.listener, CmEventType.CONNECT_REQUEST, Loopback.TIMEOUT)) {
                    seen.add(request.privateData()[0]);
                    try (CmId server = request.id()) {
                        assertThat(server.channel()).isSameAs(now);
                        server.reject();
                    }
                }
            }
            assertThat(seen).hasSize(clients);
            for (End end : ends) {
                assertThatThrownBy(() -> channel.await(end.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT))
                        .isInstanceOf(RejectedException.class);
                end.close();
            }
            loopback.listener.close();
        }
    }

    @Test
    @Covers("rdma_migrate_id")
    void aConnectionGoesOnAcrossAMove() throws Exception {
        byte[] welcome = {1, 2, 3};
        try (Loopback loopback = new Loopback(); EventChannel from = EventChannel.open();
                EventChannel to = EventChannel.open(); End client = new End(loopback.resolved(from))) {
            client.id.connect(ConnectionParameters.defaults());
            try (End server = new End(loopback.request())) {
                server.id.accept(ConnectionParameters.builder().privateData(welcome).build());
                client.id.migrate(to);
                try (CmEvent established = to.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT)) {
                    assertThat(Arrays.copyOf(established.privateData(), 3)).isEqualTo(welcome);
                }
                loopback.channel.await(server.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();
                server.queuePair.postReceive(server.receive.data(server.region, 0, 8));
                client.queuePair.postSend(client.send.data(client.region, 0, 8));
                assertThat(server.completion(Loopback.TIMEOUT).byteLength()).isEqualTo(8);
            }
        }
    }

    @Test
    @Covers("rdma_migrate_id")
    void aMoveIsRefusedWhileAnEventIsOpenAndEndsWaits() throws Exception {
        EventChannel from = EventChannel.open();
        try (Loopback loopback = new Loopback(); EventChannel to = EventChannel.open();
                CmId id = CmId.open(from, PortSpace.TCP)) {
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            try (CmEvent event = from.getEvent(Loopback.TIMEOUT)) {
                assertThatThrownBy(() -> id.migrate(to)).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(event.toString());
                assertThat(id.channel()).isSameAs(from);
            }
            try (Background<CmEvent> waiting = Background.call(
                    () -> from.await(id, CmEventType.ROUTE_RESOLVED, Duration.ofDays(1)))) {
                waiting.awaitInside(EventSource.class, "next");
                id.migrate(to);
                assertThatThrownBy(waiting::result).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("moved to another channel");
            }
            from.close();
            assertThat(id.isOpen()).isTrue();
            assertThatThrownBy(to::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(id.toString());
        }
    }

    /** Returns when the kernel has an event for the channel, and leaves it there. */
    private static void awaitReadable(EventChannel channel) throws Exception {
        Poller poller = new Poller(channel.fd());
        poller.await(Loopback.TIMEOUT.toNanos());
        poller.close();
    }
}
