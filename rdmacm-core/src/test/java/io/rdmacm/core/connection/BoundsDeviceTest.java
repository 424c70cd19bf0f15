// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.testing.Events;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.core.testing.Readable;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.WorkCompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens when something is full, and that nobody waits for what will not come. */
@RequiresRdma
@SuppressWarnings("try")
class BoundsDeviceTest {
    private static final Duration LITTLE = Duration.ofMillis(50);
    // as the program has said it, though a part of it is gone when the last step begins
    private static final String WITHIN_LITTLE = "within PT0.05S on";

    private static InetAddress address(Peers peers) {
        return peers.listener.address().getAddress();
    }

    /** Two of these connections fill a completion queue of a loop. */
    @Test
    void aQueueThatIsMadeWhileTheLoopSleepsWakesThoseThatWait() throws Exception {
        try (Peers peers = new Peers()) {
            ConnectionSettings large = ConnectionSettings.builder().operations(1500)
                    .loops(peers.clients.startLoops(LoopSettings.defaults())).build();
            for (int i = 0; i < 6; i++) {
                Peers.Pair pair = peers.connect(large);
                try (Background<Message> receiving = Background.call(() -> pair.client().receive(Peers.LONG))
                        .awaitAsleep()) {
                    pair.server().send(new byte[i], Peers.TIMEOUT);
                    assertThat(receiving.result().length()).isEqualTo(i);
                }
            }
        }
    }

    @Test
    void aThreadThatTakesTheEventOfAProgramsLoopWakesTheProgram() throws Exception {
        Events events = new Events();
        try (Peers peers = new Peers();
                ConnectionLoop loop = peers.servers.openLoop(address(peers), LoopSettings.defaults())) {
            Listener handled = peers.servers.listen(new InetSocketAddress(address(peers), 0), 8,
                    ConnectionSettings.builder().loops(loop).handler(events).build());
            handled.acceptAll();
            Listener blocking = peers.servers.listen(new InetSocketAddress(address(peers), 0), 8,
                    ConnectionSettings.builder().loops(loop).build());
            CountDownLatch over = new CountDownLatch(1);
            try (Background<Void> driving = Background.run(() -> {
                while (over.getCount() > 0) {
                    if (loop.progress() == 0 && loop.arm()) {
                        Readable.await(loop.fd(), Peers.TIMEOUT);
                    }
                }
            })) {
                Connection toHandler = peers.clients.connect(handled.address(), Peers.TIMEOUT);
                events.expect("connected");
                CompletableFuture<Connection> connecting = peers.clients.connectAsync(blocking.address(),
                        ConnectionSettings.defaults(), Peers.TIMEOUT);
                Connection server = blocking.accept(Peers.TIMEOUT);
                Connection client = Flavour.get(connecting);
                for (int i = 0; i < 50; i++) {
                    driving.awaitAsleep();
                    try (Background<Message> receiving = Background.call(() -> server.receive(Peers.LONG))
                            .awaitAsleep()) {
                        client.send(new byte[1], Peers.TIMEOUT);
                        receiving.result().close();
                    }
                    toHandler.send("next".getBytes(), Peers.TIMEOUT);
                    events.expect("message next");
                }
                // The program stops when it is woken for the last time, without looking at what has woken it.
                over.countDown();
                toHandler.send("last".getBytes(), Peers.TIMEOUT);
                driving.result();
                client.close();
                toHandler.close();
                server.close();
                peers.servers.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aHandlerHoldsUpNoSendOfAnotherThread(boolean inLoop) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onMessage(Connection connection, Message message) throws Exception {
                inside.countDown();
                leave.await();
            }
        };
        try (Peers peers = new Peers()) {
            ConnectionLoopGroup loops = inLoop ? peers.clients.startLoops(LoopSettings.defaults()) : null;
            Peers.Pair pair = peers.connect(ConnectionSettings.builder().loops(loops).handler(handler).build());
            pair.server().send(new byte[1], Peers.TIMEOUT);
            inside.await();
            pair.client().send(new byte[3], Peers.TIMEOUT);
            try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                assertThat(message.length()).isEqualTo(3);
            } finally {
                leave.countDown();
            }
        }
    }

    @Test
    void asynchronousOperationsDoNotWaitWithoutBound() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        int bound = 1 << 14;
        ConnectionSettings few = ConnectionSettings.builder().receiveBuffers(2).sendBuffers(2).operations(2)
                .linger(LITTLE).build();
        try (Peers peers = new Peers(4, few); Peers.Pair pair = peers.connect(few)) {
            MemorySegment data = MemorySegment.ofArray(new byte[1]);
            List<CompletableFuture<Void>> waiting = new ArrayList<>();
            for (int i = 0; i < bound; i++) {
                waiting.add(pair.client().async().send(data));
            }
            CompletableFuture<Void> last = pair.client().async().send(data);
            for (int i = 0; i < 4; i++) {
                last = pair.client().async().send(data);
            }
            CompletableFuture<Void> refused = last;
            assertThatThrownBy(() -> Flavour.get(refused)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining(bound + " operations already wait");
            assertThat(pair.client().queue().free()).isZero();
            assertThat(waiting).noneMatch(CompletableFuture::isCompletedExceptionally);
            // They go on, in their order.
            for (CompletableFuture<Void> future : waiting.subList(0, 100)) {
                pair.server().receive(Peers.TIMEOUT).close();
                Flavour.get(future);
            }
        }
    }

    @Test
    void asynchronousOperationsAreBoundedAsTheProgramSays() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        ConnectionSettings few = ConnectionSettings.builder().receiveBuffers(2).sendBuffers(2).operations(2)
                .linger(LITTLE).build();
        MemorySegment data = MemorySegment.ofArray(new byte[1]);
        try (Peers peers = new Peers(4, few)) {
            try (Peers.Pair pair = peers.connect(few.toBuilder().async(3, AsyncOverflow.REFUSE).build())) {
                List<CompletableFuture<Void>> sends = new ArrayList<>();
                while (sends.isEmpty() || !sends.getLast().isCompletedExceptionally()) {
                    sends.add(pair.client().async().send(data));
                }
                assertThatThrownBy(() -> Flavour.get(sends.getLast())).isInstanceOf(RdmaException.class)
                        .hasMessageContaining("3 operations already wait");
            }
            try (Peers.Pair pair = peers.connect(few.toBuilder().async(3, AsyncOverflow.WAIT).build())) {
                int count = 100;
                try (Background<List<CompletableFuture<Void>>> sending = Background.call(() -> {
                    List<CompletableFuture<Void>> sends = new ArrayList<>();
                    for (int i = 0; i < count; i++) {
                        sends.add(pair.client().async().send(data));
                    }
                    return sends;
                }).awaitAsleep()) {
                    for (int i = 0; i < count; i++) {
                        pair.server().receive(Peers.TIMEOUT).close();
                    }
                    for (CompletableFuture<Void> send : sending.result()) {
                        Flavour.get(send);
                    }
                }
            }
        }
    }

    /** The completion that makes room wakes who waits, and only then does the thread that calls handlers use it. */
    @Test
    void whoWaitsToStartAnAsynchronousOperationIsToldOfRoomThatAHandlerMakes() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        ConnectionSettings few = ConnectionSettings.builder().receiveBuffers(2).sendBuffers(1).operations(1)
                .linger(LITTLE).waiting(WaitPolicy.sleepAtOnce()).build();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        try (Peers peers = new Peers(4, few)) {
            ConnectionLoopGroup loops = peers.clients.startLoops(LoopSettings.defaults());
            Peers.Pair pair = peers.connect(few.toBuilder().loops(loops).async(1, AsyncOverflow.WAIT).build());
            Connection client = pair.client();
            MemoryRegion region = client.protectionDomain().allocate(1);
            // From now on, the peer has no receive.
            client.send(region, 0, 1, Peers.TIMEOUT);
            client.send(region, 0, 1, Peers.TIMEOUT);
            CompletableFuture<Void> first = client.async().send(region, 0, 1).thenRun(() -> {
                inside.countDown();
                leave(leave);
            });
            // The ring is full with this one, and the next one waits.
            List<CompletableFuture<Void>> sends = List.of(first, client.async().send(region, 0, 1),
                    client.async().send(region, 0, 1));
            try (Background<CompletableFuture<Void>> waiting = Background.call(() -> client.async().send(region, 0, 1))
                    .awaitAsleep()) {
                long sleeps = client.counters().waits();
                pair.server().receive(Peers.TIMEOUT).close();
                inside.await();
                while (client.counters().waits() == sleeps) {
                    Thread.yield();
                }
                // It has been woken, and as it holds the lock until then, it is asleep again.
                leave.countDown();
                CompletableFuture<Void> last = waiting.result();
                for (int i = 0; i < 5; i++) {
                    pair.server().receive(Peers.TIMEOUT).close();
                }
                for (CompletableFuture<Void> send : sends) {
                    Flavour.get(send);
                }
                Flavour.get(last);
            } finally {
                leave.countDown();
            }
            region.close();
        }
    }

    private static void leave(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void whoWaitsToStartAnAsynchronousOperationIsToldOfTheEnd() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        ConnectionSettings few = ConnectionSettings.builder().receiveBuffers(1).sendBuffers(1).operations(1)
                .linger(LITTLE).build();
        MemorySegment data = MemorySegment.ofArray(new byte[1]);
        try (Peers peers = new Peers(4, few);
                Peers.Pair pair = peers.connect(few.toBuilder().async(1, AsyncOverflow.WAIT).build());
                Background<CompletableFuture<Void>> sending = Background.call(() -> {
                    CompletableFuture<Void> last = pair.client().async().send(data);
                    while (!last.isCompletedExceptionally()) {
                        last = pair.client().async().send(data);
                    }
                    return last;
                }).awaitAsleep()) {
            pair.server().close();
            assertThatThrownBy(() -> Flavour.get(sending.result())).isInstanceOf(DisconnectedException.class)
                    .satisfies(e -> assertThat(((DisconnectedException) e).reason())
                            .isEqualTo(DisconnectedException.Reason.PEER_DISCONNECTED))
                    .hasMessageContaining("the peer " + pair.client().peerAddress() + " has disconnected or died");
        }
    }

    @Test
    void copiesOfMessagesDoNotWaitWithoutBound() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        int size = 1 << 20;
        ConnectionSettings few = ConnectionSettings.builder().messageSize(size).receiveBuffers(1).sendBuffers(1)
                .operations(1).linger(LITTLE).build();
        try (Peers peers = new Peers(4, few); Peers.Pair pair = peers.connect(few)) {
            // The device sends what finds no receive again and again, so that is nothing of size.
            for (int i = 0; i < 3; i++) {
                var ignored = pair.client().async().send(MemorySegment.NULL);
            }
            MemorySegment data = MemorySegment.ofArray(new byte[size]);
            List<CompletableFuture<Void>> sends = new ArrayList<>();
            while (sends.isEmpty() || !sends.getLast().isCompletedExceptionally()) {
                sends.add(pair.client().async().send(data));
            }
            assertThat(sends).hasSize(64 + 1);
            assertThatThrownBy(() -> Flavour.get(sends.getLast())).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("operations already wait");
        }
    }

    @Test
    void aConnectionThatIsNotReceivedFromTakesSharedMemoryUpToABound() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        int receives = 8;
        try (Peers peers = new Peers()) {
            Listener listener = peers.servers.listen(new InetSocketAddress(address(peers), 0), 8,
                    ConnectionSettings.builder()
                            .loops(peers.servers.startLoops(
                                    LoopSettings.builder().sharedReceives(receives, 64).build())).build());
            CompletableFuture<Connection> connecting = peers.clients.connectAsync(listener.address(),
                    ConnectionSettings.builder().linger(LITTLE).build(), Peers.TIMEOUT);
            Connection server = listener.accept(Peers.TIMEOUT);
            Connection client = Flavour.get(connecting);
            int[] sent = {0};
            assertThatThrownBy(() -> {
                for (; sent[0] < 40 * receives; sent[0]++) {
                    client.send(new byte[1], Duration.ofSeconds(1));
                }
            }).isInstanceOf(RdmaTimeoutException.class);
            for (int i = 0; i < sent[0]; i++) {
                server.receive(Peers.TIMEOUT).close();
            }
            client.send(new byte[2], Peers.TIMEOUT);
            try (Message message = server.receive(Peers.TIMEOUT)) {
                assertThat(message.length()).isEqualTo(2);
            }
        }
    }

    /** Whoever only asks polls nothing otherwise. */
    @Test
    void aQueuePairThatHasFailedIsNoticedByWhoeverAsks() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            assertThat(pair.client().isConnected()).isTrue();
            pair.client().queuePair().modify(QueuePairAttributes.builder().state(QueuePairState.ERROR).build());
            long end = System.nanoTime() + Peers.TIMEOUT.toNanos();
            while (pair.client().isConnected() && System.nanoTime() < end) {
                Thread.yield();
            }
            assertThat(pair.client().isConnected()).isFalse();
            assertThatThrownBy(() -> pair.client().send(new byte[1], Peers.TIMEOUT))
                    .isInstanceOf(RdmaException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aHandlerIsRefusedWhatWouldWaitForIt(boolean inLoop) throws Exception {
        CompletableFuture<Throwable> joining = new CompletableFuture<>();
        CompletableFuture<Throwable> closing = new CompletableFuture<>();
        try (Peers peers = new Peers()) {
            ConnectionLoopGroup loops = inLoop ? peers.clients.startLoops(LoopSettings.defaults()) : null;
            ConnectionHandler handler = new ConnectionHandler() {
                @Override
                public void onConnect(Connection connection) {
                    joining.complete(thrown(() -> connection.async().send(MemorySegment.ofArray(new byte[1])).join()));
                    closing.complete(thrown(peers.clients::close));
                }
            };
            Peers.Pair pair = peers.connect(ConnectionSettings.builder().loops(loops).handler(handler).build());
            for (CompletableFuture<Throwable> refused : List.of(joining, closing)) {
                assertThat(refused.get(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                        .isInstanceOf(IllegalStateException.class).hasMessageContaining("handler");
            }
            // Nothing has happened.
            pair.server().receive(Peers.TIMEOUT).close();
            peers.connect().close();
        }
    }

    private static Throwable thrown(Background.Action action) {
        try {
            action.run();
            return new Exception("nothing");
        } catch (Exception e) {
            return e;
        }
    }

    @Test
    void whatDependsOnAConnectMayCloseTheManager() throws Exception {
        try (Peers peers = new Peers()) {
            CompletableFuture<Throwable> closed = peers.clients.connectAsync(peers.listener.address(),
                    ConnectionSettings.defaults(), Peers.TIMEOUT).thenApply(made -> thrown(peers.clients::close));
            peers.listener.accept(Peers.TIMEOUT);
            assertThat(closed.get(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS)).hasMessage("nothing");
        }
    }

    @Test
    void aTimeoutSaysThatBothSidesSendFirst() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        ConnectionSettings few = ConnectionSettings.builder().receiveBuffers(2).sendBuffers(2).linger(LITTLE).build();
        try (Peers peers = new Peers(4, few); Peers.Pair pair = peers.connect(few)) {
            Connection[] ends = {pair.client(), pair.server()};
            for (Connection end : ends) {
                for (int i = 0; i < 4; i++) {
                    end.send(new byte[1], Peers.TIMEOUT);
                }
            }
            for (Connection end : ends) {
                assertThatThrownBy(() -> end.send(new byte[1], LITTLE)).isInstanceOf(RdmaTimeoutException.class)
                        .hasMessageContaining("2 of its messages have arrived and were not received")
                        .hasMessageContaining("both sides send first");
            }
            // Whoever receives lets the other one go on.
            for (int i = 0; i < 4; i++) {
                pair.client().receive(Peers.TIMEOUT).close();
            }
            pair.server().send(new byte[1], Peers.TIMEOUT);
        }
    }

    @Test
    void aTimeoutNamesWhatIsMissing() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        ConnectionSettings few = ConnectionSettings.builder().receiveBuffers(4).sendBuffers(1).operations(1)
                .linger(LITTLE).build();
        try (Peers peers = new Peers(4, few);
                MemoryRegion region = peers.clients.protectionDomain(RdmaTestDevice.get().ipv4()).allocate(1);
                Peers.Pair pair = peers.connect(few)) {
            assertThatThrownBy(() -> pair.server().receive(LITTLE)).isInstanceOf(RdmaTimeoutException.class)
                    .hasMessageContaining("no message arrived");
            for (int i = 0; i < 4; i++) {
                pair.client().send(new byte[1], Peers.TIMEOUT);
                pair.server().receive(Peers.TIMEOUT);
            }
            assertThatThrownBy(() -> pair.server().receive(LITTLE)).isInstanceOf(RdmaTimeoutException.class)
                    .hasMessageContaining("4 of 4 receive buffers are held by messages that were not closed");
            assertThatThrownBy(() -> {
                for (int i = 0; i < 8; i++) {
                    pair.client().send(new byte[1], LITTLE);
                }
            }).isInstanceOf(RdmaTimeoutException.class).hasMessageContaining("SEND was not acknowledged")
                    .hasMessageContaining("no receive posted");
            assertThatThrownBy(() -> pair.client().send(region, 0, 1, LITTLE)).isInstanceOf(RdmaTimeoutException.class)
                    .hasMessageContaining("2 operations were not acknowledged").hasMessageContaining(WITHIN_LITTLE);
        }
    }

    @Test
    void aTimeoutSaysThatTheProgramHoldsTheSendBuffers() throws Exception {
        ConnectionSettings one = ConnectionSettings.builder().sendBuffers(1).build();
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(one);
                OutgoingMessage held = pair.client().message(8, Peers.TIMEOUT)) {
            assertThat(held.memory().byteSize()).isEqualTo(8);
            assertThatThrownBy(() -> pair.client().send(new byte[1], LITTLE)).isInstanceOf(RdmaTimeoutException.class)
                    .hasMessageContaining("neither sent nor closed");
        }
    }

    @Test
    void aProgramThatOnlySendsLearnsThatTheQueuePairHasFailed() throws Exception {
        int room = 64;
        ConnectionSettings much = ConnectionSettings.builder().sendBuffers(room).operations(room).build();
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(much)) {
            pair.client().queuePair().modifyToError();
            assertThatThrownBy(() -> {
                for (int i = 0; i < room; i++) {
                    pair.client().send(new byte[1], Peers.TIMEOUT);
                    // It looks when the last look is older than a millisecond.
                    for (long start = System.nanoTime(); System.nanoTime() - start < 5_000_000;) {
                        Thread.onSpinWait();
                    }
                }
            }).isInstanceOf(RdmaException.class);
            assertThat(pair.client().counters().messagesSent()).isLessThan(room / 2);
            if (!RdmaTestDevice.get().isIwarp()) {
                assertThatThrownBy(() -> pair.client().receive(Peers.TIMEOUT)).isInstanceOfSatisfying(
                        DisconnectedException.class, e -> assertThat(e.byPeer()).isFalse());
            }
        }
    }

    @Test
    void anEndSaysByWhom() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            pair.client().disconnect(Peers.TIMEOUT);
            assertThatThrownBy(() -> pair.client().receive(Peers.TIMEOUT)).isInstanceOfSatisfying(
                    DisconnectedException.class, e -> assertThat(e.byPeer()).isFalse());
            assertThatThrownBy(() -> pair.server().receive(Peers.TIMEOUT)).isInstanceOfSatisfying(
                    DisconnectedException.class, e -> assertThat(e.byPeer()).isTrue());
        }
    }

    @Test
    void whatAnAcceptAllowsIsWhatReadsNeed() throws Exception {
        ConnectionParameters none = ConnectionParameters.builder().initiatorDepth(0).responderResources(0).build();
        ConnectionSettings settings = ConnectionSettings.builder().linger(LITTLE).build();
        try (Peers peers = new Peers();
                Listener listener = peers.servers.listen(new InetSocketAddress(address(peers), 0), 1, settings)) {
            CompletableFuture<Connection> connecting = peers.clients.connectAsync(listener.address(), settings,
                    Peers.TIMEOUT);
            try (ConnectionRequest request = listener.nextRequest(Peers.TIMEOUT);
                    Connection server = request.accept(none, Peers.TIMEOUT);
                    Connection client = Flavour.get(connecting)) {
                List<Connection> sides = RdmaTestDevice.get().isIwarp() ? List.of(server) : List.of(server, client);
                for (Connection side : sides) {
                    assertThatThrownBy(() -> side.fetchAndAdd(new RemoteMemory(0, 0, 8), 1, LITTLE))
                            .isInstanceOf(RdmaException.class).hasMessageContaining("initiatorDepth");
                }
            }
        }
    }

    @Test
    void aMessageThatIsTooLongForThePeerIsCalledThat() throws Exception {
        RdmaTestDevice.assumeNotIwarp("what is sent or written succeeds before the peer has taken it");
        ConnectionSettings small = ConnectionSettings.builder().messageSize(64).build();
        try (Peers peers = new Peers(4, small); Peers.Pair pair = peers.connect();
                MemoryRegion region = pair.client().protectionDomain().allocate(1024)) {
            assertThatThrownBy(() -> pair.client().send(region, 0, 1024, Peers.TIMEOUT))
                    .isInstanceOf(WorkCompletionException.class)
                    .hasMessageContaining("longer than the peer's receive buffers");
        }
    }

    @Test
    void aReadWithoutInitiatorDepthIsRefused() throws Exception {
        ConnectionSettings none = ConnectionSettings.builder()
                .parameters(ConnectionParameters.builder().initiatorDepth(0).build()).linger(LITTLE).build();
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(none);
                MemoryRegion local = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE);
                MemoryRegion remote = pair.server().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC)) {
            for (Background.Action action : List.<Background.Action>of(
                    () -> pair.client().read(local, 0, 64, remote.remoteMemory(), Peers.TIMEOUT),
                    () -> pair.client().fetchAndAdd(remote.remoteMemory(), 1, Peers.TIMEOUT),
                    () -> Flavour.get(pair.client().async().read(local, 0, 64, remote.remoteMemory())))) {
                assertThatThrownBy(action::run).isInstanceOf(RdmaException.class)
                        .hasMessageContaining("initiatorDepth");
            }
            pair.client().send(new byte[1], Peers.TIMEOUT);
            pair.server().receive(Peers.TIMEOUT).close();
        }
    }
}
