// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.forked.Peer;
import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.PeerProcess;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A peer whose process is killed, in each phase of a connection: nothing here waits for it for ever. */
@RequiresRdma
class KilledPeerDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(() -> new Loopback().close());

    private static final Duration LONG = Duration.ofDays(1);
    private static final int WRITES = 10;

    @Test
    void aServerThatIsKilledWhileItListens() throws Exception {
        try (PeerProcess peer = PeerProcess.start("listening");
                Endpoint client = resolved(peer.line())) {
            Measured killed = peer.kill();
            assertThatThrownBy(() -> client.connect(ConnectionParameters.defaults(), LONG))
                    .isInstanceOfSatisfying(RejectedException.class,
                            e -> assertThat(e.reason()).isEqualTo(RejectReason.INVALID_SERVICE_ID));
            killed.print("server killed while it listens");
        }
    }

    @Test
    void aServerThatIsKilledBeforeItAnswers() throws Exception {
        try (PeerProcess peer = PeerProcess.start("requested");
                Endpoint client = resolved(peer.line());
                Background<Void> connecting = Background.run(
                        () -> client.connect(ConnectionParameters.defaults(), LONG))) {
            assertThat(peer.line()).isEqualTo("requested");
            Measured killed = peer.kill();
            assertThatThrownBy(connecting::result).isInstanceOf(RejectedException.class);
            killed.print("server killed before it answers");
        }
    }

    @Test
    void aServerThatIsKilledWhenConnected() throws Exception {
        try (PeerProcess peer = PeerProcess.start("accepted"); Endpoint client = resolved(peer.line())) {
            client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            assertThat(peer.line()).isEqualTo("accepted");
            assertEndsByKill(client, peer, "server killed when connected");
        }
    }

    @Test
    void aServerThatIsKilledWhileItIsWrittenTo() throws Exception {
        try (PeerProcess peer = PeerProcess.start("written"); Endpoint client = resolved(peer.line())) {
            client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            String[] remote = peer.line().split(" ");
            MemoryRegion own = client.registerMessages(EndpointPair.memory());
            CountDownLatch underWay = new CountDownLatch(WRITES);
            try (Background<Optional<WorkCompletionStatus>> writing = Background.call(() -> {
                while (true) {
                    client.postWrite(1, own, 0, Peer.BYTES, Set.of(SendFlag.SIGNALED), Long.parseLong(remote[0]),
                            Integer.parseInt(remote[1]));
                    try {
                        WorkCompletionStatus status = client.getSendCompletion(LONG).status();
                        if (status != WorkCompletionStatus.SUCCESS) {
                            return Optional.of(status);
                        }
                    } catch (DisconnectedException e) {
                        return Optional.empty();
                    }
                    underWay.countDown();
                }
            })) {
                assertThat(underWay.await(Loopback.TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
                Measured killed = peer.kill();
                Optional<WorkCompletionStatus> end = writing.result();
                killed.print("server killed while it is written to, " + end);
                end.ifPresent(status -> assertThat(status).isIn(WorkCompletionStatus.WR_FLUSH_ERR,
                        WorkCompletionStatus.RETRY_EXC_ERR, WorkCompletionStatus.REM_INV_REQ_ERR,
                        WorkCompletionStatus.REM_ACCESS_ERR));
            }
            client.disconnect(LONG);
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
            Measured killed = peer.kill();
            // the accept is refused, or is answered by one of the events that say that nobody is there
            assertThatThrownBy(() -> server.accept(ConnectionParameters.defaults(), LONG))
                    .isInstanceOf(RdmaException.class).isNotInstanceOf(RdmaTimeoutException.class);
            killed.print("client killed before it is answered");
            EndpointPair.connect(listener, EndpointAttributes.defaults()).close();
        }
    }

    @Test
    void aClientThatIsKilledBeforeItsRequestIsTaken() throws Exception {
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
                PeerProcess peer = PeerProcess.start("connecting", listener.localAddress().getPort())) {
            assertThat(peer.line()).isEqualTo("connecting");
            Measured killed = peer.kill();
            assertThatThrownBy(() -> {
                // a device may make the queue pair although nobody is there; then the accept fails
                try (Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
                    server.accept(ConnectionParameters.defaults(), LONG);
                }
            }).isInstanceOf(RdmaException.class).isNotInstanceOf(RdmaTimeoutException.class);
            killed.print("client killed before its request is taken");
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
            assertEndsByKill(server, peer, "client killed when connected");
        }
    }

    @Test
    void aClientThatIsKilledWhileItDisconnects() throws Exception {
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
                PeerProcess peer = PeerProcess.start("disconnecting", listener.localAddress().getPort());
                Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
            server.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            assertThat(peer.line()).isEqualTo("disconnecting");
            Measured killed = peer.kill();
            server.disconnect(LONG);
            assertThatThrownBy(() -> server.getReceiveCompletion(LONG)).isInstanceOf(DisconnectedException.class);
            killed.print("client killed while it disconnects");
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
                Measured killed = peer.kill();
                ending.result();
                killed.print("server killed while this side disconnects");
            }
            assertThat(client.state()).isEqualTo(CmIdState.DISCONNECTED);
        }
    }

    private static void assertEndsByKill(Endpoint endpoint, PeerProcess peer, String fault) throws Exception {
        endpoint.postReceive(1, endpoint.registerMessages(EndpointPair.memory()), 0, 16);
        try (Background<WorkCompletion> receiving = Background.call(() -> endpoint.getReceiveCompletion(LONG))) {
            receiving.awaitInside(Poller.class, "await");
            Measured killed = peer.kill();
            assertThat(receiving.result().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
            killed.print(fault);
        }
        assertThatThrownBy(() -> endpoint.getSendCompletion(LONG)).isInstanceOf(DisconnectedException.class);
        endpoint.disconnect(LONG);
    }

    private static Endpoint resolved(String port) throws Exception {
        InetSocketAddress server = new InetSocketAddress(RdmaTestDevice.get().ipv4(), Integer.parseInt(port));
        return Endpoint.createActive(server, PortSpace.TCP, EndpointAttributes.defaults(), Loopback.TIMEOUT);
    }
}
