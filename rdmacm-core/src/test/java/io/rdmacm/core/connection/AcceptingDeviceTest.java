// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Events;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.core.testing.Readable;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;

/** Accepting without a thread, a handler for each connection, and what a program attaches to a connection. */
@RequiresRdma
class AcceptingDeviceTest {
    private static CompletableFuture<Connection> connect(Peers peers) {
        return peers.clients.connectAsync(peers.listener.address(), ConnectionSettings.defaults(), Peers.TIMEOUT);
    }

    @Test
    void connectionsAreAcceptedWithoutAThread() throws Exception {
        try (Peers peers = new Peers()) {
            List<CompletableFuture<Connection>> accepting = new ArrayList<>();
            List<CompletableFuture<Connection>> connecting = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                accepting.add(peers.listener.acceptAsync());
                connecting.add(connect(peers));
            }
            Set<InetSocketAddress> clients = new HashSet<>();
            Set<InetSocketAddress> accepted = new HashSet<>();
            for (int i = 0; i < 5; i++) {
                clients.add(Flavour.get(connecting.get(i)).localAddress());
                accepted.add(Flavour.get(accepting.get(i)).peerAddress());
            }
            assertThat(accepted).hasSize(5).isEqualTo(clients);
        }
    }

    @Test
    void whoIsCancelledTakesNoConnection() throws Exception {
        try (Peers peers = new Peers()) {
            CompletableFuture<Connection> cancelled = peers.listener.acceptAsync();
            CompletableFuture<Connection> next = peers.listener.acceptAsync();
            cancelled.cancel(false);
            try (Connection client = Flavour.get(connect(peers)); Connection server = Flavour.get(next)) {
                assertThat(server.peerAddress()).isEqualTo(client.localAddress());
            }
        }
    }

    @Test
    void theEndOfTheListenerIsTheEndOfAllWhoWait() throws Exception {
        try (Peers peers = new Peers()) {
            List<CompletableFuture<Connection>> accepting = List.of(peers.listener.acceptAsync(),
                    peers.listener.acceptAsync());
            peers.listener.close();
            for (CompletableFuture<Connection> each : accepting) {
                assertThatThrownBy(() -> Flavour.get(each)).isInstanceOf(RdmaClosedException.class);
            }
            assertThatThrownBy(() -> Flavour.get(peers.listener.acceptAsync())).isInstanceOf(RdmaClosedException.class);
        }
    }

    /** A session of one connection, which counts its own messages. */
    private record Session(Connection connection, BlockingQueue<Session> ended, int[] messages)
            implements ConnectionHandler {
        @Override
        public void onConnect(Connection established) {
            assertThat(established).isSameAs(connection);
        }

        @Override
        public void onMessage(Connection from, Message message) {
            assertThat(from).isSameAs(connection);
            messages[0]++;
        }

        @Override
        public void onDisconnect(Connection gone, RdmaException reason) throws Exception {
            gone.close();
            ended.add(this);
        }
    }

    @Test
    void whoServesAcceptsNothingElse() throws Exception {
        BlockingQueue<Session> ended = new LinkedBlockingQueue<>();
        ConnectionSettings settings = ConnectionSettings.builder()
                .handlers(connection -> new Session(connection, ended, new int[1])).build();
        InetSocketAddress any = new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0);
        try (Peers peers = new Peers(8, settings); Listener serving = peers.servers.serve(any, 8, settings)) {
            peers.clients.connect(serving.address(), Peers.TIMEOUT).close();
            assertThat(ended.poll(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isNotNull();
            assertThatIllegalStateException().isThrownBy(() -> serving.accept(Peers.TIMEOUT))
                    .withMessageContaining("handlers");
            assertThatIllegalStateException().isThrownBy(serving::acceptAsync);
            assertThatIllegalStateException().isThrownBy(() -> serving.nextRequest(Peers.TIMEOUT));
            // whoever waits already
            CompletableFuture<Connection> accepting = peers.listener.acceptAsync();
            try (Background<Connection> waiting = Background.call(() -> peers.listener.accept(Peers.LONG))
                    .awaitAsleep()) {
                peers.listener.acceptAll();
                assertThatIllegalStateException().isThrownBy(waiting::result);
            }
            assertThatThrownBy(() -> Flavour.get(accepting)).isInstanceOf(IllegalStateException.class);
            int open = peers.servers.listeners().size();
            assertThatIllegalStateException()
                    .isThrownBy(() -> peers.servers.serve(any, 8, ConnectionSettings.defaults()))
                    .withMessageContaining("handler");
            assertThat(peers.servers.listeners()).hasSize(open);
        }
    }

    /** A connection whose handshake was begun for somebody who did not wait until its end. */
    @Test
    void aConnectionThatNobodyHasTakenBelongsToItsHandler() throws Exception {
        RdmaTestDevice.assumeNotIwarp("the answer to a connect is not confirmed");
        Events events = new Events();
        InetSocketAddress any = new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0);
        try (Peers peers = new Peers(1, ConnectionSettings.builder().handler(events).build());
                EventChannel channel = EventChannel.open();
                End client = new End(Loopback.resolved(channel, peers.listener.address()))) {
            CompletableFuture<Connection> cancelled = peers.listener.acceptAsync();
            client.id.connect(ConnectionParameters.defaults());
            assertThat(Readable.await(channel.fd(), Peers.TIMEOUT)).isTrue();
            cancelled.cancel(false);
            // Only now does the peer confirm.
            channel.pollEvent().orElseThrow().close();
            Connection server = events.next().connection();
            // The thread of the manager has done all that came before this.
            peers.servers.listen(any).close();
            peers.listener.acceptAll();
            peers.listener.close();
            assertThat(server.isConnected()).isTrue();
        }
    }

    @Test
    void eachConnectionHasAHandlerOfItsOwn() throws Exception {
        BlockingQueue<Session> ended = new LinkedBlockingQueue<>();
        ConnectionSettings settings = ConnectionSettings.builder()
                .handlers(connection -> new Session(connection, ended, new int[1])).build();
        try (Peers peers = new Peers(8, settings)) {
            peers.listener.acceptAll();
            for (int count = 1; count <= 3; count++) {
                try (Connection client = Flavour.get(connect(peers))) {
                    for (int i = 0; i < count; i++) {
                        client.send(new byte[1], Peers.TIMEOUT);
                    }
                    client.disconnect(Peers.TIMEOUT);
                }
            }
            Set<Integer> counts = new HashSet<>();
            Set<Connection> connections = new HashSet<>();
            for (int i = 0; i < 3; i++) {
                Session session = ended.poll(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
                assertThat(session).isNotNull();
                counts.add(session.messages[0]);
                connections.add(session.connection);
            }
            assertThat(counts).containsExactlyInAnyOrder(1, 2, 3);
            assertThat(connections).hasSize(3);
        }
    }

    @Test
    void aConnectionWhoseHandlerCannotBeCreatedIsClosed() throws Exception {
        ConnectionSettings settings = ConnectionSettings.builder().handlers(connection -> {
            throw new ArithmeticException("from the factory");
        }).build();
        try (Peers peers = new Peers(8, settings)) {
            peers.listener.acceptAll();
            try (Connection client = Flavour.get(connect(peers))) {
                assertThatThrownBy(() -> client.receive(Peers.TIMEOUT)).isInstanceOf(DisconnectedException.class);
            }
        }
    }

    @Test
    void whatIsAttachedStays() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            assertThat(pair.client().attachment()).isNull();
            pair.client().attach("a session");
            assertThat(pair.client().attachment()).isEqualTo("a session");
            assertThat(pair.server().attachment()).isNull();
            pair.client().attach(null);
            assertThat(pair.client().attachment()).isNull();
        }
    }

    /** A request may carry its data after one that did not, and the other way round. */
    @Test
    void messagesUpToTheInlineSizeTravelInTheirWorkRequests() throws Exception {
        ConnectionSettings settings = ConnectionSettings.builder().inlineSize(64).sendBuffers(2).operations(2).build();
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(settings);
                MemoryRegion local = pair.client().protectionDomain().allocate(4096, AccessFlag.LOCAL_WRITE);
                MemoryRegion remote = pair.server().protectionDomain().allocate(4096, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC)) {
            assertThat(pair.client().queuePair().capabilities().maxInlineData()).isGreaterThanOrEqualTo(64);
            for (int round = 0; round < 3; round++) {
                for (int length : new int[] {0, 1, 64, 65, 4096}) {
                    byte[] data = new byte[length];
                    Arrays.fill(data, (byte) (round + length));
                    for (Flavour flavour : Flavour.values()) {
                        flavour.send(pair.client(), data);
                        try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                            assertThat(message.toArray()).isEqualTo(data);
                        }
                    }
                    pair.client().write(local, 0, 4096, remote.remoteMemory(), Peers.TIMEOUT);
                    pair.client().read(local, 0, 4096, remote.remoteMemory(), Peers.TIMEOUT);
                }
                if (!RdmaTestDevice.get().isIwarp()) {
                    remote.memory().set(ValueLayout.JAVA_LONG, 0, 7);
                    assertThat(pair.client().fetchAndAdd(remote.remoteMemory(), 1, Peers.TIMEOUT)).isEqualTo(7);
                }
            }
        }
    }

    @Test
    void aWaitingThreadAndAFutureEachGetAConnection() throws Exception {
        try (Peers peers = new Peers();
                Background<Connection> thread = Background.call(() -> peers.listener.accept(Peers.TIMEOUT))
                        .awaitWaiting()) {
            CompletableFuture<Connection> future = peers.listener.acceptAsync();
            try (Connection first = Flavour.get(connect(peers)); Connection second = Flavour.get(connect(peers));
                    Connection one = thread.result(); Connection other = Flavour.get(future)) {
                assertThat(Set.of(one.peerAddress(), other.peerAddress()))
                        .isEqualTo(Set.of(first.localAddress(), second.localAddress()));
            }
        }
    }
}
