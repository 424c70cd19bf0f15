// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.core.testing.Readable;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.testing.Seed;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What connections carry, and how they begin and end. */
@RequiresRdma
class ConnectionDeviceTest {
    @Test
    void anEchoServerServesManyClientsAtOnce() throws Exception {
        int clients = 20;
        try (Peers peers = new Peers(); ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> server = threads.submit(() -> {
                for (int i = 0; i < clients; i++) {
                    Connection connection = peers.listener.accept(Peers.TIMEOUT);
                    threads.submit(() -> echo(connection));
                }
                return null;
            });
            List<Future<?>> pings = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                int seed = i;
                pings.add(threads.submit(() -> ping(peers, seed)));
            }
            for (Future<?> ping : pings) {
                ping.get();
            }
            server.get();
        }
    }

    private static Void echo(Connection connection) throws Exception {
        try (connection) {
            while (true) {
                try (Message message = connection.receive(Peers.TIMEOUT)) {
                    connection.send(message.memory(), Peers.TIMEOUT);
                }
            }
        } catch (DisconnectedException e) {
            return null;
        }
    }

    private static Void ping(Peers peers, int seed) throws Exception {
        Random random = Seed.random(seed);
        try (Connection connection = peers.clients.connect(peers.listener.address(), Peers.TIMEOUT)) {
            for (int i = 0; i < 10; i++) {
                List<byte[]> sent = new ArrayList<>();
                for (int j = 0; j < 5; j++) {
                    byte[] data = new byte[random.nextInt(connection.settings().messageSize() + 1)];
                    random.nextBytes(data);
                    connection.send(data, Peers.TIMEOUT);
                    sent.add(data);
                }
                for (byte[] data : sent) {
                    try (Message echo = connection.receive(Peers.TIMEOUT)) {
                        assertThat(echo.toArray()).isEqualTo(data);
                    }
                }
            }
        }
        return null;
    }

    @Test
    void privateDataTravelsBothWays() throws Exception {
        ConnectionSettings server = ConnectionSettings.builder().privateData(bytes("welcome")).build();
        ConnectionSettings client = ConnectionSettings.builder().privateData(bytes("hello")).build();
        try (Peers peers = new Peers(4, server); Peers.Pair pair = peers.connect(client)) {
            assertThat(pair.server().privateData()).startsWith(bytes("hello"));
            assertThat(pair.client().privateData()).startsWith(bytes("welcome"));
            assertThat(pair.client().peerAddress()).isEqualTo(peers.listener.address());
            assertThat(pair.server().peerAddress()).isEqualTo(pair.client().localAddress());
            assertThat(pair.client().isConnected()).isTrue();
        }
    }

    @Test
    void theNameThatTheProgramConnectsToIsKept() throws Exception {
        try (Peers peers = new Peers()) {
            InetSocketAddress server = peers.listener.address();
            // Without DNS, which knows no such name.
            InetAddress named = InetAddress.getByAddress("host.example", server.getAddress().getAddress());
            try (Background<Connection> connecting = Background.call(() -> peers.clients.connect(
                    new InetSocketAddress(named, server.getPort()), ConnectionSettings.defaults(), Peers.TIMEOUT));
                    Connection _ = peers.listener.accept(Peers.TIMEOUT);
                    Connection client = connecting.result()) {
                assertThat(client.peerAddress()).isEqualTo(server);
                assertThat(client.peerAddress().getHostString()).isEqualTo("host.example");
            }
        }
    }

    @Test
    void aRequestCanBeLookedAtAndRejected() throws Exception {
        ConnectionSettings client = ConnectionSettings.builder().privateData(bytes("let me in")).build();
        try (Peers peers = new Peers();
                Background<Connection> connecting = Background.call(
                        () -> peers.clients.connect(peers.listener.address(), client, Peers.TIMEOUT));
                ConnectionRequest request = peers.listener.nextRequest(Peers.TIMEOUT)) {
            assertThat(request.privateData()).startsWith(bytes("let me in"));
            assertThatThrownBy(() -> request.reject(new byte[149])).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("148");
            request.reject(bytes("go away"));
            assertThatExceptionOfType(RejectedException.class).isThrownBy(connecting::result)
                    .satisfies(e -> assertThat(e.privateData()).startsWith(bytes("go away")));
            assertThatThrownBy(() -> request.accept(Peers.TIMEOUT)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("already answered");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRequestOfAPeerThatHasGoneIsAnsweredAllTheSame(boolean accept) throws Exception {
        try (Peers peers = new Peers(); EventChannel channel = EventChannel.open()) {
            End gone = new End(Loopback.resolved(channel, peers.listener.address()));
            gone.id.connect(ConnectionParameters.defaults());
            try (ConnectionRequest request = peers.listener.nextRequest(Peers.TIMEOUT)) {
                gone.close();
                if (accept) {
                    assertThatThrownBy(() -> request.accept(Peers.TIMEOUT)).isInstanceOf(RdmaException.class);
                } else {
                    request.reject(new byte[0]);
                }
            }
            peers.connect().close();
        }
    }

    @Test
    void aRequestThatIsClosedUnansweredIsRejected() throws Exception {
        try (Peers peers = new Peers(); Background<Connection> connecting = Background.call(
                () -> peers.clients.connect(peers.listener.address(), Peers.TIMEOUT))) {
            peers.listener.nextRequest(Peers.TIMEOUT).close();
            assertThatThrownBy(connecting::result).isInstanceOf(RejectedException.class);
        }
    }

    @Test
    void allThatWasSentBeforeACloseIsReceived() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            for (int i = 0; i < 16; i++) {
                pair.client().send(bytes("message " + i), Peers.TIMEOUT);
            }
            pair.client().close();
            for (int i = 0; i < 16; i++) {
                try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                    assertThat(new String(message.toArray(), StandardCharsets.UTF_8)).isEqualTo("message " + i);
                }
            }
            assertThatThrownBy(() -> pair.server().receive(Peers.TIMEOUT)).isInstanceOf(DisconnectedException.class);
            assertThatThrownBy(() -> pair.server().send(bytes("too late"), Peers.TIMEOUT))
                    .isInstanceOf(DisconnectedException.class);
            assertThat(pair.server().isConnected()).isFalse();
        }
    }

    @Test
    void afterADisconnectWhatHasArrivedCanBeReceived() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            pair.server().send(bytes("first"), Peers.TIMEOUT);
            pair.client().receive(Peers.TIMEOUT).close();
            pair.server().send(bytes("second"), Peers.TIMEOUT);
            pair.server().disconnect(Peers.TIMEOUT);
            try (Message message = pair.client().receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).isEqualTo(bytes("second"));
            }
            assertThatThrownBy(() -> pair.client().receive(Peers.TIMEOUT)).isInstanceOf(DisconnectedException.class);
            assertThatThrownBy(() -> pair.server().receive(Peers.TIMEOUT)).isInstanceOf(DisconnectedException.class);
            pair.server().disconnect(Peers.TIMEOUT);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSlowReceiverSlowsTheSenderAndLosesNothing(boolean clientSends) throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        ConnectionSettings settings = ConnectionSettings.builder().receiveBuffers(2).sendBuffers(2).messageSize(64)
                .build();
        try (Peers peers = new Peers(4, settings); Peers.Pair pair = peers.connect(settings);
                Background<Void> sending = Background.run(() -> {
                    for (int i = 0; i < 40; i++) {
                        (clientSends ? pair.client() : pair.server()).send(bytes("" + i), Peers.TIMEOUT);
                    }
                })) {
            Connection receiver = clientSends ? pair.server() : pair.client();
            // both buffers of the receiver are held, two messages more are on their way
            Message first = receiver.receive(Peers.TIMEOUT);
            Message second = receiver.receive(Peers.TIMEOUT);
            assertThatThrownBy(() -> receiver.receive(Duration.ofMillis(50)))
                    .isInstanceOf(RdmaTimeoutException.class);
            assertThat(sending.isDone()).isFalse();
            assertThat(first.toArray()).isEqualTo(bytes("0"));
            assertThat(second.toArray()).isEqualTo(bytes("1"));
            second.close();
            first.close();
            first.close();
            assertThatThrownBy(first::memory).isInstanceOf(IllegalStateException.class);
            for (int i = 2; i < 40; i++) {
                try (Message message = receiver.receive(Peers.TIMEOUT)) {
                    assertThat(message.toArray()).isEqualTo(bytes("" + i));
                }
            }
            sending.result();
        }
    }

    @Test
    void aMessageThatIsTooLongIsRefusedByName() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            assertThatThrownBy(() -> pair.client().send(new byte[4097], Peers.TIMEOUT))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("4097")
                    .hasMessageContaining("at most 4096");
            pair.client().send(ByteBuffer.wrap(new byte[4096]), Peers.TIMEOUT);
            pair.client().send(MemorySegment.NULL, Peers.TIMEOUT);
            try (Message full = pair.server().receive(Peers.TIMEOUT);
                    Message empty = pair.server().receive(Peers.TIMEOUT)) {
                assertThat(full.length()).isEqualTo(4096);
                assertThat(empty.length()).isZero();
            }
        }
    }

    @Test
    void aMessageThatIsTooLongForThePeerBreaksTheConnectionByName() throws Exception {
        ConnectionSettings small = ConnectionSettings.builder().messageSize(64).build();
        try (Peers peers = new Peers(4, small); Peers.Pair pair = peers.connect()) {
            pair.client().send(new byte[65], Peers.TIMEOUT);
            assertThatThrownBy(() -> pair.server().receive(Peers.TIMEOUT))
                    .isInstanceOfSatisfying(WorkCompletionException.class,
                            // the first by the book, the second by SoftRoCE
                            e -> assertThat(e.status()).isIn(WorkCompletionStatus.LOC_LEN_ERR,
                                    WorkCompletionStatus.LOC_QP_OP_ERR));
            assertThatThrownBy(() -> pair.client().receive(Peers.TIMEOUT)).isInstanceOf(RdmaException.class);
        }
    }

    /** The last step of an accept comes after the peer can send: it finds the connection broken, and does not mind. */
    @Test
    void aConnectionThatBreaksWhileItIsAcceptedIsAcceptedAndThenFoundBroken() throws Exception {
        ConnectionSettings small = ConnectionSettings.builder().messageSize(64).build();
        try (Peers peers = new Peers(4, small)) {
            for (int i = 0; i < 40; i++) {
                try (Background<Connection> breaking = Background.call(() -> {
                    Connection client = peers.clients.connect(peers.listener.address(), Peers.TIMEOUT);
                    client.send(new byte[65], Peers.TIMEOUT);
                    return client;
                }); Connection server = peers.listener.accept(Peers.TIMEOUT)) {
                    assertThatThrownBy(() -> server.receive(Peers.TIMEOUT)).isInstanceOf(RdmaException.class);
                    breaking.result().close();
                }
            }
        }
    }

    @Test
    void readsAndWritesOfThePeersMemory() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect();
                MemoryRegion remote = pair.server().protectionDomain().allocate(4096, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
                MemoryRegion local = pair.client().protectionDomain().allocate(4096, AccessFlag.LOCAL_WRITE)) {
            local.memory().setString(0, "written");
            pair.client().write(local, 0, 8, remote.remoteMemory().slice(100), Peers.TIMEOUT);
            assertThat(remote.memory().getString(100)).isEqualTo("written");
            pair.client().read(local, 50, 8, remote.remoteMemory().slice(100), Peers.TIMEOUT);
            assertThat(local.memory().getString(50)).isEqualTo("written");
            RdmaTestDevice.assumeNotIwarp("a refusal is told by the end of the connection only");
            assertThatThrownBy(() -> pair.client().read(local, 0, 8,
                    new RemoteMemory(remote.remoteAddress(), remote.remoteKey() + 1, 8), Peers.TIMEOUT))
                    .isInstanceOf(WorkCompletionException.class).hasMessageContaining("REM_ACCESS_ERR");
            assertThatThrownBy(() -> pair.client().send(new byte[1], Peers.TIMEOUT))
                    .isInstanceOf(WorkCompletionException.class).hasMessageContaining("REM_ACCESS_ERR");
            assertThatThrownBy(() -> pair.server().receive(Peers.TIMEOUT)).isInstanceOf(RdmaException.class);
        }
    }

    @Test
    void messagesOutliveTheirConnection() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            pair.client().send(bytes("still here"), Peers.TIMEOUT);
            Message message = pair.server().receive(Peers.TIMEOUT);
            pair.server().close();
            assertThat(message.toArray()).isEqualTo(bytes("still here"));
            assertThat(message).hasToString("Message[10 bytes]");
            message.close();
            assertThat(message).hasToString("Message (closed)");
        }
    }

    @Test
    void messagesThatAreHeldWhenTheirConnectionFailsCanBeClosed() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(); MemoryRegion region =
                pair.server().protectionDomain().allocate(8, AccessFlag.LOCAL_WRITE)) {
            List<Message> held = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                pair.client().send(bytes("held " + i), Peers.TIMEOUT);
                held.add(pair.server().receive(Peers.TIMEOUT));
            }
            RemoteMemory none = new RemoteMemory(1 << 20, 1, 8);
            assertThatThrownBy(() -> pair.server().write(region, 0, 8, none, Peers.TIMEOUT))
                    .isInstanceOf(RdmaException.class);
            for (int i = 0; i < 5; i++) {
                assertThat(held.get(i).toArray()).isEqualTo(bytes("held " + i));
                held.get(i).close();
            }
        }
    }

    @Test
    void aHandshakeThatTakesTooLongIsDropped() throws Exception {
        RdmaTestDevice.assumeNotIwarp("the answer to a connect is not confirmed");
        try (Peers peers = new Peers(); EventChannel channel = EventChannel.open()) {
            // The first connection makes what all others share.
            peers.connect().close();
            Listener impatient = peers.servers.listen(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0), 4,
                    ConnectionSettings.builder().handshakeTimeout(Duration.ofMillis(1)).build());
            try (End silent = new End(Loopback.resolved(channel, impatient.address()));
                    Background<Connection> accepting = Background.call(() -> impatient.accept(Peers.LONG))) {
                long before = ResourceCounts.settled(Peers.TIMEOUT).objects();
                silent.id.connect(ConnectionParameters.defaults());
                // It does not take the answer, and so never completes the handshake.
                assertThat(Readable.await(channel.fd(), Peers.TIMEOUT)).isTrue();
                assertThat(ResourceCounts.await(counts -> counts.objects() == before, Peers.TIMEOUT).objects())
                        .isEqualTo(before);
                impatient.close();
                assertThatThrownBy(accepting::result).isInstanceOf(RdmaClosedException.class);
            }
        }
    }

    @Test
    void whereNobodyListensOrNobodyIsThereNoConnectionIsMade() throws Exception {
        try (Peers peers = new Peers()) {
            peers.listener.close();
            assertThatThrownBy(() -> peers.clients.connect(peers.listener.address(), Peers.TIMEOUT))
                    .isInstanceOf(RejectedException.class).hasMessageContaining("nobody listens");
            InetSocketAddress nowhere = new InetSocketAddress(InetAddress.getByName("2001:db8::1"), 7174);
            assertThatThrownBy(() -> peers.clients.connect(nowhere, Peers.TIMEOUT))
                    .isInstanceOf(UnreachableException.class);
            assertThatThrownBy(() -> peers.servers.listen(new InetSocketAddress("192.0.2.1", 0)))
                    .isInstanceOf(UnreachableException.class);
        }
    }

    @Test
    void twoThatConnectToEachOtherAtTheSameTimeHaveTwoConnections() throws Exception {
        try (Peers peers = new Peers(); Listener other = peers.clients.listen(
                new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0))) {
            for (int i = 0; i < 10; i++) {
                try (Background<Connection> there = Background.call(
                        () -> peers.clients.connect(peers.listener.address(), Peers.TIMEOUT));
                        Background<Connection> back = Background.call(
                                () -> peers.servers.connect(other.address(), Peers.TIMEOUT));
                        Connection one = peers.listener.accept(Peers.TIMEOUT);
                        Connection two = other.accept(Peers.TIMEOUT);
                        Connection first = there.result(); Connection second = back.result()) {
                    first.send(bytes("there"), Peers.TIMEOUT);
                    second.send(bytes("back"), Peers.TIMEOUT);
                    assertReceives(one, "there");
                    assertReceives(two, "back");
                }
            }
        }
    }

    @Test
    void aThreadConnectsToItself() throws Exception {
        try (Peers peers = new Peers()) {
            CompletableFuture<Connection> connecting = peers.servers.connectAsync(peers.listener.address(),
                    ConnectionSettings.defaults(), Peers.TIMEOUT);
            try (Connection server = peers.listener.accept(Peers.TIMEOUT);
                    Connection client = Flavour.get(connecting)) {
                client.send(bytes("to myself"), Peers.TIMEOUT);
                assertReceives(server, "to myself");
            }
        }
    }

    private static void assertReceives(Connection connection, String text) throws Exception {
        try (Message message = connection.receive(Peers.TIMEOUT)) {
            assertThat(message.toArray()).isEqualTo(bytes(text));
        }
    }

    /** Which another connection takes at once. */
    @Test
    void theLocalPortIsFreeAfterTheClose() throws Exception {
        try (Peers peers = new Peers()) {
            InetSocketAddress local;
            try (Peers.Pair pair = peers.connect()) {
                local = pair.client().localAddress();
            }
            ConnectionSettings settings = ConnectionSettings.builder().localAddress(local).build();
            for (int i = 0; i < 5; i++) {
                try (Peers.Pair pair = peers.connect(settings)) {
                    assertThat(pair.server().peerAddress()).isEqualTo(local);
                    assertThatThrownBy(() -> peers.clients.connect(peers.listener.address(), settings, Peers.TIMEOUT))
                            .isInstanceOfSatisfying(RdmaException.class,
                                    e -> assertThat(e.errnoName()).isEqualTo("EADDRINUSE"));
                }
            }
        }
    }

    @Test
    void severalThreadsShareAConnection() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        int messages = 200;
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect();
                ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<Integer>> receivers = new ArrayList<>();
            List<Future<?>> senders = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                receivers.add(threads.submit(() -> count(pair.server())));
                senders.add(threads.submit(() -> {
                    for (int j = 0; j < messages / 4; j++) {
                        pair.client().send(new byte[j], Peers.TIMEOUT);
                    }
                    return null;
                }));
            }
            for (Future<?> sender : senders) {
                sender.get();
            }
            pair.client().close();
            int sum = 0;
            for (Future<Integer> receiver : receivers) {
                sum += receiver.get();
            }
            assertThat(sum).isEqualTo(messages);
        }
    }

    /** Receives until the peer ends the connection. */
    private static int count(Connection connection) throws Exception {
        int count = 0;
        try {
            while (true) {
                connection.receive(Peers.TIMEOUT).close();
                count++;
            }
        } catch (DisconnectedException e) {
            return count;
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
