// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.RdmaTimeoutException;
import io.rdmacm.verbs.WorkCompletion;
import io.rdmacm.verbs.WorkCompletionStatus;
import io.rdmacm.verbs.internal.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** A peer whose process is killed, in each phase of a connection: nothing here waits for it for ever. */
@RequiresRdma
class KilledPeerTest {
    private static final Duration LONG = Duration.ofDays(1);

    @Test
    void aServerThatIsKilledWhileItListens() throws Exception {
        try (PeerProcess peer = PeerProcess.start("listening");
                Endpoint client = resolved(peer.line())) {
            peer.kill();
            assertThatThrownBy(() -> client.connect(ConnectionParameters.defaults(), LONG))
                    .isInstanceOfSatisfying(RejectedException.class,
                            e -> assertThat(e.reason()).isEqualTo(RejectReason.INVALID_SERVICE_ID));
        }
    }

    @Test
    void aServerThatIsKilledBeforeItAnswers() throws Exception {
        try (PeerProcess peer = PeerProcess.start("requested");
                Endpoint client = resolved(peer.line());
                Background<Void> connecting = Background.run(
                        () -> client.connect(ConnectionParameters.defaults(), LONG))) {
            assertThat(peer.line()).isEqualTo("requested");
            peer.kill();
            assertThatThrownBy(connecting::result).isInstanceOf(RejectedException.class);
        }
    }

    @Test
    void aServerThatIsKilledWhenConnected() throws Exception {
        try (PeerProcess peer = PeerProcess.start("accepted"); Endpoint client = resolved(peer.line())) {
            client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            assertThat(peer.line()).isEqualTo("accepted");
            assertEndsByKill(client, peer);
        }
    }

    @Test
    void aClientThatIsKilledWhileItResolves() throws Exception {
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
                PeerProcess peer = PeerProcess.start("resolving", listener.localAddress().getPort())) {
            assertThat(peer.line()).isEqualTo("resolving");
            peer.kill();
            assertThatThrownBy(() -> listener.getRequest(Duration.ofMillis(50)))
                    .isInstanceOf(RdmaTimeoutException.class);
            EndpointPair.connect(listener, EndpointAttributes.defaults()).close();
        }
    }

    @Test
    void aClientThatIsKilledBeforeItIsAnswered() throws Exception {
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
                PeerProcess peer = PeerProcess.start("connecting", listener.localAddress().getPort());
                Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
            assertThat(peer.line()).isEqualTo("connecting");
            peer.kill();
            // the accept is refused, or is answered by one of the events that say that nobody is there
            assertThatThrownBy(() -> server.accept(ConnectionParameters.defaults(), LONG))
                    .isInstanceOf(RdmaException.class).isNotInstanceOf(RdmaTimeoutException.class);
            EndpointPair.connect(listener, EndpointAttributes.defaults()).close();
        }
    }

    @Test
    void aClientThatIsKilledBeforeItsRequestIsTaken() throws Exception {
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
                PeerProcess peer = PeerProcess.start("connecting", listener.localAddress().getPort())) {
            assertThat(peer.line()).isEqualTo("connecting");
            peer.kill();
            assertThatThrownBy(() -> {
                // a device may make the queue pair although nobody is there; then the accept fails
                try (Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
                    server.accept(ConnectionParameters.defaults(), LONG);
                }
            }).isInstanceOf(RdmaException.class).isNotInstanceOf(RdmaTimeoutException.class);
            EndpointPair.connect(listener, EndpointAttributes.defaults()).close();
        }
    }

    @Test
    void aClientThatIsKilledWhenConnected() throws Exception {
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
                PeerProcess peer = PeerProcess.start("connected", listener.localAddress().getPort());
                Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
            server.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            assertThat(peer.line()).isEqualTo("connected");
            assertEndsByKill(server, peer);
        }
    }

    @Test
    void aClientThatIsKilledWhileItDisconnects() throws Exception {
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
                PeerProcess peer = PeerProcess.start("disconnecting", listener.localAddress().getPort());
                Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
            server.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            assertThat(peer.line()).isEqualTo("disconnecting");
            peer.kill();
            server.disconnect(LONG);
            assertThatThrownBy(() -> server.getReceiveCompletion(LONG)).isInstanceOf(DisconnectedException.class);
        }
    }

    @Test
    void aServerThatIsKilledWhileThisSideDisconnects() throws Exception {
        try (PeerProcess peer = PeerProcess.start("accepted"); Endpoint client = resolved(peer.line())) {
            client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            assertThat(peer.line()).isEqualTo("accepted");
            try (Background<Void> ending = Background.run(() -> client.disconnect(LONG))) {
                // the peer does not look at its events, so this waits
                ending.awaitInside(Poller.class, "await");
                peer.kill();
                ending.result();
            }
            assertThat(client.state()).isEqualTo(CmIdState.DISCONNECTED);
        }
    }

    private static void assertEndsByKill(Endpoint endpoint, PeerProcess peer) throws Exception {
        endpoint.postReceive(1, endpoint.registerMessages(EndpointPair.memory()), 0, 16);
        try (Background<WorkCompletion> receiving = Background.call(() -> endpoint.getReceiveCompletion(LONG))) {
            receiving.awaitInside(Poller.class, "await");
            peer.kill();
            assertThat(receiving.result().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        }
        assertThatThrownBy(() -> endpoint.getSendCompletion(LONG)).isInstanceOf(DisconnectedException.class);
        endpoint.disconnect(LONG);
    }

    private static Endpoint resolved(String port) throws Exception {
        InetSocketAddress server = new InetSocketAddress(RdmaTestDevice.get().ipv4(), Integer.parseInt(port));
        return Endpoint.createActive(server, PortSpace.TCP, EndpointAttributes.defaults(), Loopback.TIMEOUT);
    }
}
