// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.testing.PeerProcess;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.EndOfStack;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;

/** Whatever is closed, by whom and when: nobody waits for ever, and nothing is left. */
@RequiresRdma
class ConnectionLifecycleDeviceTest {
    private static final ConnectionSettings TINY = ConnectionSettings.builder().messageSize(8).receiveBuffers(1)
            .sendBuffers(1).linger(Duration.ofMillis(100)).build();

    @Test
    void acceptIsEndedByCloseInterruptAndTimeOut() throws Exception {
        try (Peers peers = new Peers()) {
            assertThatThrownBy(() -> peers.listener.accept(Duration.ofMillis(10)))
                    .isInstanceOf(RdmaTimeoutException.class);
            assertInterruptible(() -> peers.listener.accept(Peers.LONG));
            try (Background<Void> accepting = waiting(() -> peers.listener.accept(Peers.LONG))) {
                peers.listener.close();
                assertThatThrownBy(accepting::result).isInstanceOf(RdmaClosedException.class)
                        .hasMessageContaining("Listener");
            }
        }
    }

    @Test
    void connectIsEndedByCloseInterruptAndTimeOut() throws Exception {
        try (Peers peers = new Peers()) {
            // nobody accepts
            assertThatThrownBy(() -> peers.clients.connect(peers.listener.address(), Duration.ofMillis(300)))
                    .isInstanceOf(RdmaTimeoutException.class);
            assertInterruptible(() -> peers.clients.connect(peers.listener.address(), Peers.LONG));
            try (Background<Void> connecting = waiting(
                    () -> peers.clients.connect(peers.listener.address(), Peers.LONG))) {
                peers.clients.close();
                assertThatThrownBy(connecting::result).isInstanceOf(RdmaClosedException.class);
            }
            assertThatThrownBy(() -> peers.clients.connect(peers.listener.address(), Peers.LONG))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("is closed");
        }
    }

    @Test
    void aConnectForWhichThereIsTooLittleStackKeepsNoCloseWaiting() throws Exception {
        try (Peers peers = new Peers()) {
            Background.Action connect = () -> {
                var ignored = peers.clients.connectAsync(peers.listener.address(), TINY, Peers.TIMEOUT);
            };
            connect.run();
            peers.listener.accept(Peers.TIMEOUT);
            EndOfStack.run(connect);
            Background.run(peers.clients::close).result();
        }
    }

    @Test
    void receiveIsEndedByCloseInterruptAndTimeOut() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            assertThatThrownBy(() -> pair.client().receive(Duration.ZERO)).isInstanceOf(RdmaTimeoutException.class);
            assertInterruptible(() -> pair.client().receive(Peers.LONG));
            try (Background<Void> receiving = waiting(() -> pair.client().receive(Peers.LONG));
                    Background<Void> other = waiting(() -> pair.server().receive(Peers.LONG))) {
                pair.client().close();
                assertThatThrownBy(receiving::result).isInstanceOf(RdmaClosedException.class);
                assertThatThrownBy(other::result).isInstanceOf(DisconnectedException.class);
            }
            assertThatThrownBy(() -> pair.client().receive(Peers.LONG)).isInstanceOf(RdmaClosedException.class);
            assertThatThrownBy(() -> pair.client().send(new byte[1], Peers.LONG))
                    .isInstanceOf(RdmaClosedException.class);
            assertThatThrownBy(() -> pair.client().disconnect(Peers.LONG)).isInstanceOf(RdmaClosedException.class);
        }
    }

    @Test
    void sendAndDisconnectAreEndedByCloseInterruptAndTimeOut() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY)) {
            // the first fills the peer's only buffer, the second stays in the only one of this side
            pair.client().send(new byte[1], Peers.TIMEOUT);
            pair.client().send(new byte[2], Peers.TIMEOUT);
            assertThatThrownBy(() -> pair.client().send(new byte[3], Duration.ofMillis(20)))
                    .isInstanceOf(RdmaTimeoutException.class);
            assertThatThrownBy(() -> pair.client().disconnect(Duration.ofMillis(20)))
                    .isInstanceOf(RdmaTimeoutException.class);
            assertInterruptible(() -> pair.client().send(new byte[3], Peers.LONG));
            assertInterruptible(() -> pair.client().disconnect(Peers.LONG));
            try (Background<Void> sending = waiting(() -> pair.client().send(new byte[3], Peers.LONG));
                    Background<Void> ending = waiting(() -> pair.client().disconnect(Peers.LONG))) {
                pair.client().close();
                assertThatThrownBy(sending::result).isInstanceOf(RdmaClosedException.class);
                assertThatThrownBy(ending::result).isInstanceOf(RdmaClosedException.class);
            }
        }
    }

    @Test
    void aConnectionWhoseQueuesWereClosedClosesAllTheSame() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            Connection connection = pair.client();
            // on its way as far as this side knows
            connection.send(new byte[1], Peers.TIMEOUT);
            QueuePair queuePair = connection.queuePair();
            CompletionQueue queue = queuePair.sendCompletionQueue();
            queuePair.close();
            queue.close();
            connection.close();
            assertThat(connection.isConnected()).isFalse();
            connection.close();
        }
    }

    @Test
    void aConnectionWhoseQueueIsUsedElsewhereCanBeClosedLater() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            Connection connection = pair.client();
            CompletionQueue queue = connection.queuePair().sendCompletionQueue();
            try (QueuePair own = connection.protectionDomain().createQueuePair(
                    QueuePairInitAttributes.builder().completionQueue(queue).build())) {
                assertThatThrownBy(connection::close).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(own.toString());
                assertThatThrownBy(peers.clients::close).isInstanceOf(IllegalStateException.class);
            }
            connection.close();
            assertThat(queue.isOpen()).isFalse();
        }
    }

    @Test
    void aKilledPeerEndsWhatWaitsForItAndIsPassedOverWhereItIsAccepted() throws Exception {
        try (Peers peers = new Peers();
                PeerProcess peer = PeerProcess.start("connected=" + peers.listener.address().getPort(),
                        "connecting=" + peers.listener.address().getPort());
                Connection connection = peers.listener.accept(Peers.TIMEOUT)) {
            assertThat(peer.line()).isEqualTo("connected");
            assertThat(peer.line()).isEqualTo("connecting");
            try (Background<Void> receiving = waiting(() -> connection.receive(Peers.LONG))) {
                peer.kill();
                assertThatThrownBy(receiving::result).isInstanceOf(DisconnectedException.class);
            }
            try (Peers.Pair pair = peers.connect()) {
                pair.client().send(new byte[3], Peers.TIMEOUT);
                try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                    assertThat(message.length()).isEqualTo(3);
                }
            }
        }
    }

    @Test
    void aServerThatIsKilledEndsConnecting() throws Exception {
        try (Peers peers = new Peers(); PeerProcess peer = PeerProcess.start("requested")) {
            InetSocketAddress server = new InetSocketAddress(RdmaTestDevice.get().ipv4(),
                    Integer.parseInt(peer.line()));
            try (Background<Void> connecting = Background.run(() -> peers.clients.connect(server, Peers.LONG))) {
                assertThat(peer.line()).isEqualTo("requested");
                peer.kill();
                assertThatThrownBy(connecting::result).isInstanceOf(RejectedException.class);
            }
        }
    }

    @Test
    void aManagerClosesWhatIsOpen() throws Exception {
        Peers peers = new Peers();
        Peers.Pair pair = peers.connect();
        Background<Void> connecting = waiting(() -> peers.clients.connect(peers.listener.address(), Peers.LONG));
        ConnectionRequest request = peers.listener.nextRequest(Peers.TIMEOUT);
        Background<Void> receiving = waiting(() -> pair.server().receive(Peers.LONG));
        Background<Void> accepting = waiting(() -> peers.listener.accept(Peers.LONG));
        peers.servers.close();
        assertThatThrownBy(receiving::result).isInstanceOf(RdmaClosedException.class);
        assertThatThrownBy(accepting::result).isInstanceOf(RdmaClosedException.class);
        assertThatThrownBy(connecting::result).isInstanceOf(RejectedException.class);
        assertThatThrownBy(() -> pair.client().receive(Peers.LONG)).isInstanceOf(DisconnectedException.class);
        peers.servers.close();
        pair.server().close();
        peers.listener.close();
        assertThatThrownBy(() -> request.accept(Peers.LONG)).isInstanceOf(IllegalStateException.class);
        peers.close();
        pair.close();
    }

    @Test
    void aManagerRefusesToEndWhileAProgramHasRegionsOpen() throws Exception {
        Peers peers = new Peers();
        Peers.Pair pair = peers.connect();
        MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE);
        assertThatThrownBy(peers.clients::close).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(region.toString());
        region.close();
        peers.close();
    }

    @Test
    void closingFromManyThreadsInAnyOrderLeavesNothing() throws Exception {
        ResourceCounts before = ResourceCounts.now();
        for (int round = 0; round < 8; round++) {
            Peers peers = new Peers();
            Peers.Pair pair = peers.connect();
            Peers.Pair second = peers.connect();
            List<Background.Action> closes = new ArrayList<>(List.of(pair.client()::close, pair.server()::close,
                    second.client()::close, peers.listener::close, peers.clients::close, peers.servers::close,
                    pair.server()::close, peers.clients::close));
            Collections.rotate(closes, round);
            List<Background<Void>> all = new ArrayList<>();
            Background<Void> receiving = waiting(() -> second.server().receive(Peers.LONG));
            Background<Void> accepting = waiting(() -> peers.listener.accept(Peers.LONG));
            for (Background.Action close : closes) {
                all.add(Background.run(close));
            }
            for (Background<Void> close : all) {
                close.result();
            }
            assertThatThrownBy(receiving::result).isInstanceOf(RdmaException.class);
            assertThatThrownBy(accepting::result).isInstanceOf(RdmaClosedException.class);
            peers.close();
        }
        assertThat(ResourceCounts.await(before, Peers.TIMEOUT)).isEqualTo(before);
    }

    @Test
    void manyConnectionsLeaveNothing() throws Exception {
        try (Peers peers = new Peers()) {
            peers.connect().close();
            ResourceCounts before = ResourceCounts.settled(Peers.TIMEOUT);
            for (int i = 0; i < 40; i++) {
                Peers.Pair pair = peers.connect();
                pair.client().send(new byte[i], Peers.TIMEOUT);
                if (i % 2 == 0) {
                    pair.server().receive(Peers.TIMEOUT);
                }
                pair.close();
            }
            assertThat(ResourceCounts.await(before, Peers.TIMEOUT)).isEqualTo(before);
        }
    }

    private static Background<Void> waiting(Background.Action call) {
        return Background.run(call).awaitAsleep();
    }

    private static void assertInterruptible(Background.Action call) {
        try (Background<Void> waiting = waiting(call)) {
            waiting.interrupt();
            assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        }
    }
}
