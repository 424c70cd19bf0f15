// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.rdmacm.bindings.ibv_path_data;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.PathRecords;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.WorkCompletionException;
import org.junit.jupiter.api.Test;

/** What operators set for connections: type of service, local address, keep-alive and retry times. */
@RequiresRdma
class OperatorSettingsDeviceTest {
    private static final InetAddress LOCAL = RdmaTestDevice.get().ipv4();

    private static QueuePairAttributes attributes(Connection connection) throws RdmaException {
        return connection.queuePair().query().attributes();
    }

    @Test
    void theTypeOfServiceIsThatOfBothSides() throws Exception {
        RdmaTestDevice.assumeNotIwarp("the kernel's TCP has it");
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(
                ConnectionSettings.builder().typeOfService(96).build())) {
            for (Connection end : new Connection[] {pair.client(), pair.server()}) {
                assertThat(attributes(end).path().globalRoute().map(GlobalRoute::trafficClass)).contains(96);
            }
        }
    }

    @Test
    void theTypeOfServiceOfAChannelIsThatOfTheQueuePair() throws Exception {
        RdmaTestDevice.assumeNotIwarp("the kernel's TCP has it");
        try (Loopback loopback = new Loopback();
                SocketChannel channel = new RdmaSelectorProvider().openSocketChannel()) {
            channel.setOption(StandardSocketOptions.IP_TOS, 96);
            channel.configureBlocking(false);
            channel.connect(loopback.address());
            try (End peer = new End(loopback.request())) {
                peer.id.accept(ConnectionParameters.defaults());
                assertThat(peer.queuePair.query().attributes().path().globalRoute().map(GlobalRoute::trafficClass))
                        .contains(96);
            }
        }
    }

    @Test
    void aRouteOfInfinibandIsNoneOfRoce() throws Exception {
        try (Peers peers = new Peers()) {
            byte[] route = PathRecords.of(new byte[(int) ibv_path_data.sizeof()]).serviceLevel(3).pathMtu(1024)
                    .toBytes();
            ConnectionSettings settings = ConnectionSettings.builder().route(route).build();
            assertThatThrownBy(() -> peers.clients.connect(peers.listener.address(), settings, Peers.TIMEOUT))
                    .isInstanceOf(RdmaException.class).hasMessageContaining("rdma_set_option");
        }
    }

    @Test
    void theAckTimeoutIsThatOfTheQueuePair() throws Exception {
        RdmaTestDevice.assumeNotIwarp("it has no such timeout");
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(
                ConnectionSettings.builder().ackTimeout(AckTimeout.ofCode(17)).build())) {
            assertThat(attributes(pair.client()).timeout()).isEqualTo(AckTimeout.ofCode(17));
        }
    }

    /** The connection manager leaves it at 655 ms, for which a sender pauses when the peer has no receive. */
    @Test
    void aPeerWithoutRoomIsTriedAgainSoon() throws Exception {
        RdmaTestDevice.assumeNotIwarp("it has no such timer");
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            for (Connection end : new Connection[] {pair.client(), pair.server()}) {
                assertThat(attributes(end).minRnrTimer().duration().orElseThrow()).isLessThan(Duration.ofMillis(1));
            }
        }
    }

    @Test
    void aConnectionComesFromTheLocalAddress() throws Exception {
        try (Peers peers = new Peers()) {
            InetSocketAddress local;
            try (Listener free = peers.clients.listen(new InetSocketAddress(LOCAL, 0))) {
                local = free.address();
            }
            try (Peers.Pair pair = peers.connect(ConnectionSettings.builder().localAddress(local).build())) {
                assertThat(pair.client().localAddress()).isEqualTo(local);
                assertThat(pair.server().peerAddress()).isEqualTo(local);
            }
            ConnectionSettings foreign = ConnectionSettings.builder()
                    .localAddress(new InetSocketAddress("192.0.2.1", 0)).build();
            assertThatThrownBy(() -> peers.clients.connect(peers.listener.address(), foreign, Peers.TIMEOUT))
                    .isInstanceOf(RdmaException.class).hasMessageContaining("rdma_bind_addr");
        }
    }

    @Test
    void keepAliveNoticesNothingWhileThePeerLives() throws Exception {
        ConnectionSettings settings = ConnectionSettings.builder().keepAlive(Duration.ofMillis(2)).build();
        try (Peers peers = new Peers(4, settings); Peers.Pair pair = peers.connect(settings)) {
            assertThatThrownBy(() -> pair.client().receive(Duration.ofMillis(100)))
                    .isInstanceOf(RdmaTimeoutException.class);
            pair.client().send(new byte[] {3}, Peers.TIMEOUT);
            try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).containsExactly(3);
            }
            assertThat(pair.client().counters().operations()).isZero();
        }
    }

    /** Without keep-alive, a side that only receives would wait for ever. */
    @Test
    void keepAliveNoticesThatThePeerHasVanished() throws Exception {
        RdmaTestDevice.assumeNotIwarp("the kernel's TCP notices it");
        ConnectionSettings settings = ConnectionSettings.builder().keepAlive(Duration.ofMillis(10))
                .ackTimeout(AckTimeout.ofCode(14)).parameters(ConnectionParameters.builder().retryCount(2).build())
                .build();
        try (Loopback loopback = new Loopback(); ConnectionManager manager = ConnectionManager.open();
                Background<Connection> connecting = Background.call(
                        () -> manager.connect(loopback.address(), settings, Peers.TIMEOUT));
                End peer = new End(loopback.request())) {
            peer.id.accept(ConnectionParameters.defaults());
            loopback.channel.await(peer.id, CmEventType.ESTABLISHED, Peers.TIMEOUT).close();
            Connection connection = connecting.result();
            try (Background<Message> receiving = Background.call(() -> connection.receive(Peers.LONG)).awaitAsleep()) {
                // Without a word of the connection manager: this end acknowledges nothing from now on.
                peer.queuePair.modify(QueuePairAttributes.toReset());
                assertThatThrownBy(receiving::result).isInstanceOf(WorkCompletionException.class)
                        .hasMessageContaining("RETRY_EXC_ERR");
            }
            assertThat(connection.isConnected()).isFalse();
        }
    }
}
