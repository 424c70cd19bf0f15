// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import org.junit.jupiter.api.Test;

/** Connections that are made again, with the memory that was registered before. */
@RequiresRdma
class ReconnectorDeviceTest {
    private static final InetAddress LOCAL = RdmaTestDevice.get().ipv4();
    private static final Duration SHORT = Duration.ofMillis(2);

    private static Reconnector to(Peers peers, InetSocketAddress... addresses) {
        return Reconnector.builder(peers.clients, addresses).backoff(SHORT, SHORT).build();
    }

    /** Connects, and returns the end of the server. */
    private static Connection connect(Reconnector reconnector, Listener listener) throws Exception {
        try (Background<Connection> connecting = Background.call(() -> reconnector.connection(Peers.TIMEOUT))) {
            Connection server = listener.accept(Peers.TIMEOUT);
            Connection client = connecting.result();
            assertThat(reconnector.current()).containsSame(client);
            return server;
        }
    }

    private static InetSocketAddress unused(Peers peers) throws RdmaException {
        try (Listener free = peers.servers.listen(new InetSocketAddress(LOCAL, 0))) {
            return free.address();
        }
    }

    private static void awaitAttempts(Reconnector reconnector, long count) {
        while (reconnector.metrics().get("failedAttempts") < count) {
            Thread.yield();
        }
    }

    @Test
    void memoryOfBothSidesIsUsedByTheNextConnection() throws Exception {
        try (Peers peers = new Peers(); Reconnector reconnector = to(peers, peers.listener.address());
                MemoryRegion ofServer = peers.servers.protectionDomain(LOCAL).allocate(64, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ);
                MemoryRegion ofClient = peers.clients.protectionDomain(LOCAL).allocate(64, AccessFlag.LOCAL_WRITE)) {
            RemoteMemory remote = ofServer.remoteMemory();
            for (int i = 0; i < 3; i++) {
                ofServer.memory().setString(0, "connection " + i);
                try (Connection server = connect(reconnector, peers.listener)) {
                    Connection client = reconnector.connection(Duration.ZERO);
                    assertThat(client.protectionDomain()).isSameAs(ofClient.protectionDomain());
                    client.read(ofClient, 0, 64, remote, Peers.TIMEOUT);
                    assertThat(ofClient.memory().getString(0)).isEqualTo("connection " + i);
                    server.disconnect(Peers.TIMEOUT);
                    assertThatThrownBy(() -> client.receive(Peers.TIMEOUT)).isInstanceOf(DisconnectedException.class);
                }
            }
            assertThat(reconnector.metrics()).containsEntry("connections", 3L).containsEntry("connected", 0L);
        }
    }

    @Test
    void aServerThatComesBackLaterIsConnectedTo() throws Exception {
        try (Peers peers = new Peers()) {
            InetSocketAddress address = unused(peers);
            try (Reconnector reconnector = to(peers, address);
                    Background<Connection> connecting = Background.call(
                            () -> reconnector.connection(Peers.TIMEOUT))) {
                awaitAttempts(reconnector, 3);
                try (Listener back = peers.servers.listen(address);
                        Connection server = back.accept(Peers.TIMEOUT)) {
                    connecting.result().send(new byte[] {7}, Peers.TIMEOUT);
                    server.receive(Peers.TIMEOUT).close();
                }
            }
        }
    }

    @Test
    void theOtherAddressIsTriedAsWell() throws Exception {
        try (Peers peers = new Peers();
                Reconnector reconnector = to(peers, unused(peers), peers.listener.address());
                Connection server = connect(reconnector, peers.listener)) {
            assertThat(reconnector.current().orElseThrow().peerAddress()).isEqualTo(peers.listener.address());
            assertThat(reconnector.metrics()).containsEntry("failedAttempts", 1L).containsEntry("connected", 1L);
            assertThat(server.isConnected()).isTrue();
        }
    }

    @Test
    void threadsThatAskAtTheSameTimeGetTheSameConnection() throws Exception {
        try (Peers peers = new Peers(); Reconnector reconnector = to(peers, peers.listener.address());
                Background<Connection> one = Background.call(() -> reconnector.connection(Peers.TIMEOUT));
                Background<Connection> two = Background.virtual(() -> reconnector.connection(Peers.TIMEOUT));
                Connection server = peers.listener.accept(Peers.TIMEOUT)) {
            assertThat(server.isConnected()).isTrue();
            assertThat(one.result()).isSameAs(two.result());
            assertThat(reconnector.metrics()).containsEntry("connections", 1L);
        }
    }

    @Test
    void theDeadlineSaysWhyTheLastAttemptFailed() throws Exception {
        try (Peers peers = new Peers(); Reconnector reconnector = to(peers, unused(peers))) {
            assertThatThrownBy(() -> reconnector.connection(Duration.ofMillis(100)))
                    .isInstanceOf(RdmaTimeoutException.class).hasMessageContaining("the last attempt failed");
            assertThat(reconnector.current()).isEmpty();
        }
    }

    @Test
    void aRejectionIsTriedAgain() throws Exception {
        try (Peers peers = new Peers(); Reconnector reconnector = to(peers, peers.listener.address());
                Background<Connection> connecting = Background.call(() -> reconnector.connection(Peers.TIMEOUT))) {
            try (ConnectionRequest request = peers.listener.nextRequest(Peers.TIMEOUT)) {
                request.reject(new byte[] {1});
            }
            try (ConnectionRequest request = peers.listener.nextRequest(Peers.TIMEOUT);
                    Connection server = request.accept(Peers.TIMEOUT)) {
                assertThat(server.isConnected()).isTrue();
                assertThat(connecting.result().isConnected()).isTrue();
            }
            assertThat(reconnector.metrics()).containsEntry("failedAttempts", 1L);
        }
    }

    /** Whose answer arrives, but not what confirms it: so librdmacm cannot connect the queue pair any more. */
    @Test
    void aServerThatGoesRightAfterItsAnswerIsTriedAgain() throws Exception {
        try (Peers peers = new Peers(); Loopback loopback = new Loopback();
                Reconnector reconnector = to(peers, loopback.address());
                Background<End> serving = Background.call(() -> {
                    for (int i = 0; i < 50; i++) {
                        try (End hasty = new End(loopback.request())) {
                            hasty.id.accept(ConnectionParameters.defaults());
                        }
                    }
                    End patient = new End(loopback.request());
                    patient.id.accept(ConnectionParameters.defaults());
                    loopback.channel.await(patient.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();
                    return patient;
                })) {
            while (!serving.isDone()) {
                reconnector.connection(Peers.TIMEOUT);
                Thread.yield();
            }
            serving.result().close();
        }
    }

    @Test
    void aNameIsLookedUpForEachAttempt() throws Exception {
        try (Peers peers = new Peers()) {
            InetSocketAddress listener = peers.listener.address();
            // Java looks no such name up.
            InetSocketAddress unknown = InetSocketAddress.createUnresolved("[nowhere", listener.getPort());
            InetSocketAddress known = InetSocketAddress.createUnresolved(LOCAL.getHostAddress(), listener.getPort());
            try (Reconnector reconnector = to(peers, unknown, known);
                    Connection server = connect(reconnector, peers.listener)) {
                assertThat(server.isConnected()).isTrue();
                assertThat(reconnector.metrics()).containsEntry("failedAttempts", 1L);
            }
            try (Reconnector reconnector = to(peers, unknown)) {
                assertThatThrownBy(() -> reconnector.connection(Duration.ofMillis(20)))
                        .isInstanceOf(RdmaTimeoutException.class).hasMessageContaining("the host name is unknown");
            }
            assertThatIllegalArgumentException().isThrownBy(() -> peers.clients.connect(known, Peers.TIMEOUT))
                    .withMessageContaining("not resolved");
        }
    }

    @Test
    void whatIsWrongOnThisSideIsThrownAtOnce() throws Exception {
        try (Peers peers = new Peers(); Reconnector reconnector = Reconnector.builder(peers.clients,
                peers.listener.address()).settings(ConnectionSettings.builder().inlineSize(1 << 20)
                        .build()).build()) {
            assertThatThrownBy(() -> reconnector.connection(Peers.LONG)).isNotInstanceOf(RdmaTimeoutException.class)
                    .isNotInstanceOf(RejectedException.class);
            assertThat(reconnector.metrics()).containsEntry("failedAttempts", 0L);
        }
    }

    @Test
    void aCloseEndsTheAttempts() throws Exception {
        try (Peers peers = new Peers()) {
            for (InetSocketAddress address : List.of(unused(peers), peers.listener.address())) {
                Reconnector reconnector = Reconnector.builder(peers.clients, address)
                        .backoff(Duration.ofHours(1), Duration.ofHours(2)).attemptTimeout(Duration.ofHours(1)).build();
                try (Background<Connection> connecting = Background.call(
                        () -> reconnector.connection(Peers.LONG)).awaitAsleep()) {
                    reconnector.close();
                    assertThatThrownBy(connecting::result).isInstanceOf(RdmaClosedException.class);
                }
                assertThatThrownBy(() -> reconnector.connection(Peers.TIMEOUT))
                        .isInstanceOf(RdmaClosedException.class);
                reconnector.close();
            }
        }
    }

    @Test
    void anInterruptEndsTheWaitAndLeavesNoConnection() throws Exception {
        try (Peers peers = new Peers(); Reconnector reconnector = to(peers, peers.listener.address())) {
            try (Background<Connection> connecting = Background.call(
                    () -> reconnector.connection(Peers.LONG)).awaitAsleep()) {
                connecting.interrupt();
                assertThatThrownBy(connecting::result).isInstanceOf(InterruptedException.class);
            }
            assertThat(reconnector.current()).isEmpty();
        }
    }

    @Test
    void wrongArgumentsAreRefused() throws Exception {
        try (Peers peers = new Peers()) {
            assertThatIllegalArgumentException().isThrownBy(() -> Reconnector.builder(peers.clients));
            Reconnector.Builder builder = Reconnector.builder(peers.clients, peers.listener.address());
            assertThatIllegalArgumentException().isThrownBy(() -> builder.backoff(Duration.ZERO, SHORT));
            assertThatIllegalArgumentException().isThrownBy(() -> builder.backoff(SHORT, Duration.ofNanos(1)));
            assertThatIllegalArgumentException().isThrownBy(() -> builder.attemptTimeout(Duration.ofDays(2)));
        }
    }
}
