// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.NioProvider;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.core.testing.Readable;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Which connections a listener accepts, and what it says of those that it cannot. */
@RequiresRdma
class AcceptDeviceTest {
    /** A peer that connects and never takes the answer. */
    private static final class Silent implements AutoCloseable {
        private final EventChannel channel = EventChannel.open();
        private final End end;

        Silent(InetSocketAddress server) throws Exception {
            end = new End(Loopback.resolved(channel, server));
            end.id.connect(ConnectionParameters.defaults());
        }

        boolean isAnswered(Duration timeout) throws Exception {
            return Readable.await(channel.fd(), timeout);
        }

        @Override
        public void close() throws RdmaException {
            end.close();
            channel.close();
        }
    }

    /** Waits until so many are answered, and returns all that are. Requests may overtake each other. */
    private static List<Silent> answered(List<Silent> peers, int count) throws Exception {
        long end = System.nanoTime() + Peers.TIMEOUT.toNanos();
        List<Silent> answered = new ArrayList<>();
        do {
            answered.clear();
            for (Silent peer : peers) {
                if (peer.isAnswered(Duration.ofMillis(10))) {
                    answered.add(peer);
                }
            }
        } while (answered.size() < count && System.nanoTime() < end);
        return answered;
    }

    @Test
    void noMoreHandshakesThanTheBacklogAreBegun() throws Exception {
        RdmaTestDevice.assumeNotIwarp("the answer to a connect is not confirmed");
        List<Silent> silent = new ArrayList<>();
        ConnectionSettings settings = ConnectionSettings.builder().handshakeTimeout(Peers.LONG).build();
        try (Peers peers = new Peers(2, settings);
                Listener other = peers.servers.listen(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
                Background<Connection> accepting = Background.call(() -> peers.listener.accept(Peers.LONG))) {
            accepting.awaitAsleep();
            for (int i = 0; i < 6; i++) {
                silent.add(new Silent(peers.listener.address()));
            }
            assertThat(answered(silent, 2)).hasSize(2);
            // The same thread has handled all that came before this.
            try (Background<Connection> second = Background.call(() -> other.accept(Peers.TIMEOUT));
                    Connection client = peers.clients.connect(other.address(), Peers.TIMEOUT)) {
                assertThat(second.result().peerAddress()).isEqualTo(client.localAddress());
            }
            List<Silent> answered = answered(silent, 2);
            assertThat(answered).hasSize(2);
            answered.get(0).channel.pollEvent().orElseThrow().close();
            accepting.result().close();
        } finally {
            for (Silent peer : silent) {
                peer.close();
            }
        }
    }

    @Test
    void whoWaitsBeyondTheBacklogIsAcceptedLater() throws Exception {
        int count = 8;
        List<Background<Connection>> clients = new ArrayList<>();
        try (Peers peers = new Peers(2, ConnectionSettings.defaults())) {
            for (int i = 0; i < count; i++) {
                clients.add(Background.call(() -> peers.clients.connect(peers.listener.address(), Peers.TIMEOUT)));
            }
            for (int i = 0; i < count; i++) {
                assertThat(peers.listener.accept(Peers.TIMEOUT).isConnected()).isTrue();
            }
            for (Background<Connection> client : clients) {
                assertThat(client.result().isConnected()).isTrue();
            }
        }
    }

    @Test
    void settingsThatTheDeviceCannotServeAreAFailureOfTheServer() throws Exception {
        ConnectionSettings greedy = ConnectionSettings.builder()
                .parameters(ConnectionParameters.builder().responderResources(254).build()).build();
        try (Peers peers = new Peers(4, greedy);
                Background<Connection> connecting = Background.call(
                        () -> peers.clients.connect(peers.listener.address(), Peers.TIMEOUT))) {
            assertThatThrownBy(() -> peers.listener.accept(Duration.ofSeconds(60))).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("responderResources").hasMessageContaining("254");
            assertThatThrownBy(connecting::result).isInstanceOf(RejectedException.class);
        }
    }

    @Test
    void anAddressWithoutADeviceIsRefusedAtOnce() throws Exception {
        try (ConnectionManager manager = ConnectionManager.open()) {
            assertThatThrownBy(() -> manager.listen(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0)))
                    .isInstanceOf(RdmaException.class).hasMessageContaining("ENODEV");
        }
    }

    @Test
    void theWildcardIsEveryAddressOfThisHost() throws Exception {
        RdmaTestDevice.assumeNotIwarp("its IPv6 wildcard takes no IPv4");
        InetAddress six = NioProvider.RDMA.ipv6Address();
        try (ConnectionManager manager = ConnectionManager.open();
                Listener listener = manager.listen(new InetSocketAddress("0.0.0.0", 0))) {
            for (InetAddress address : List.of(RdmaTestDevice.get().ipv4(), six, InetAddress.ofLiteral("0.0.0.0"),
                    InetAddress.ofLiteral("::"))) {
                try (Background<Connection> accepting = Background.call(() -> listener.accept(Peers.TIMEOUT));
                        Connection client = manager.connect(
                                new InetSocketAddress(address, listener.address().getPort()), Peers.TIMEOUT);
                        Connection accepted = accepting.result()) {
                    assertThat(accepted.peerAddress()).isEqualTo(client.localAddress());
                }
            }
        }
    }
}
