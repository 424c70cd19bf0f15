// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.testing.Events;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.core.testing.Readable;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import org.junit.jupiter.api.Test;

/** Loops that drive many connections: threads of the library, or one of the program. */
@RequiresRdma
@SuppressWarnings("try")
class LoopsDeviceTest {
    private static final ConnectionSettings DEFAULTS = ConnectionSettings.defaults();

    private static InetAddress address(Peers peers) {
        return peers.listener.address().getAddress();
    }

    private static Listener serve(Peers peers, ConnectionLoopGroup loops, ConnectionHandler handler)
            throws RdmaException {
        Listener listener = peers.servers.listen(new InetSocketAddress(address(peers), 0), 64,
                ConnectionSettings.builder().loops(loops).handler(handler).build());
        listener.acceptAll();
        return listener;
    }


    @Test
    void theProgramDrivesALoop() throws Exception {
        Events events = new Events();
        try (Peers peers = new Peers(); ConnectionLoop loop = peers.servers.openLoop(address(peers),
                LoopSettings.defaults())) {
            Listener listener = serve(peers, loop, events);
            BlockingQueue<Boolean> slept = new LinkedBlockingQueue<>();
            Background<Void> driving = Background.run(() -> {
                while (!Thread.interrupted()) {
                    if (loop.progress() == 0 && loop.arm()) {
                        slept.add(Readable.await(loop.fd(), Peers.TIMEOUT));
                    }
                }
            }).awaitAsleep();
            Connection client = peers.clients.connect(listener.address(), Peers.TIMEOUT);
            Thread driver = events.expect("connected").thread();
            assertThat(loop.connections()).isEqualTo(1);
            for (int i = 0; i < 20; i++) {
                driving.awaitAsleep();
                client.send(("" + i).getBytes(), Peers.TIMEOUT);
                assertThat(events.expect("message " + i).thread()).isSameAs(driver);
            }
            client.close();
            Events.Event end = events.expect("disconnected");
            assertThat(end.thread()).isSameAs(driver);
            assertThat(end.reason()).isInstanceOf(DisconnectedException.class);
            end.connection().close();
            assertThat(loop.connections()).isZero();
            driving.interrupt();
            // so that its thread sees the interrupt
            Connection last = peers.clients.connect(listener.address(), Peers.TIMEOUT);
            driving.result();
            assertThat(slept).isNotEmpty().doesNotContain(false);
            last.close();
            peers.servers.close();
        }
    }

    /** Nobody takes a completion until all are there: the queues have room for them. */
    @Test
    void theQueuesOfALoopHoldTheCompletionsOfAllItsConnections() throws Exception {
        int connections = 40;
        int messages = 16;
        AtomicInteger arrived = new AtomicInteger();
        ConnectionHandler counter = new ConnectionHandler() {
            @Override
            public void onMessage(Connection connection, Message message) {
                arrived.incrementAndGet();
            }
        };
        try (Peers peers = new Peers(); ConnectionLoop loop = peers.servers.openLoop(address(peers),
                LoopSettings.defaults())) {
            Listener listener = serve(peers, loop, counter);
            for (int i = 0; i < connections; i++) {
                Connection client = peers.clients.connect(listener.address(), Peers.TIMEOUT);
                for (int j = 0; j < messages; j++) {
                    client.send(new byte[] {1}, Peers.TIMEOUT);
                }
                // waits until the peer's device has them
                client.disconnect(Peers.TIMEOUT);
            }
            while (arrived.get() < connections * messages) {
                int ignored = loop.progress();
            }
            assertThat(arrived).hasValue(connections * messages);
            peers.servers.close();
        }
    }

    @Test
    void nothingToDo() throws Exception {
        try (Peers peers = new Peers(); ConnectionLoop loop = peers.servers.openLoop(address(peers),
                LoopSettings.defaults())) {
            assertThat(loop.progress()).isZero();
            assertThat(loop.arm()).isTrue();
            assertThat(loop.arm()).isTrue();
            assertThat(Readable.await(loop.fd(), Duration.ofMillis(20))).isFalse();
            assertThat(loop.progress()).isZero();
            assertThat(loop.connections()).isZero();
            loop.close();
            loop.close();
            assertThatThrownBy(loop::progress).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(loop::arm).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(loop::fd).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void whatIsThereAlreadyIsNotSleptOver() throws Exception {
        Events events = new Events();
        try (Peers peers = new Peers(); ConnectionLoop loop = peers.servers.openLoop(address(peers),
                LoopSettings.defaults())) {
            Listener listener = serve(peers, loop, events);
            Connection client = peers.clients.connect(listener.address(), Peers.TIMEOUT);
            client.send(new byte[0], Peers.TIMEOUT);
            // The client may know of either before the server does, so they may come in two rounds.
            for (String what : List.of("connected", "message ")) {
                while (events.isEmpty()) {
                    try (Background<Void> arming = Background.run(() -> {
                        while (loop.arm()) {
                            Thread.yield();
                        }
                    })) {
                        arming.result();
                    }
                    assertThat(events.isEmpty()).isTrue();
                    assertThat(loop.progress()).isNotNegative();
                }
                events.expect(what);
            }
            client.close();
            peers.servers.close();
        }
    }

    @Test
    void aRoundThatOnlyCallsHandlersIsProgress() throws Exception {
        Events events = new Events();
        try (Peers peers = new Peers(); ConnectionLoop loop = peers.servers.openLoop(address(peers),
                LoopSettings.defaults())) {
            Connection client = peers.clients.connect(serve(peers, loop, events).address(), Peers.TIMEOUT);
            int done;
            do {
                done = loop.progress();
            } while (events.isEmpty() && (!loop.arm() || Readable.await(loop.fd(), Peers.TIMEOUT)));
            events.expect("connected");
            assertThat(done).isPositive();
            client.close();
            peers.servers.close();
        }
    }

    @Test
    void aHandlerMustNotDriveItsLoop() throws Exception {
        BlockingQueue<Exception> thrown = new LinkedBlockingQueue<>();
        try (Peers peers = new Peers()) {
            ConnectionLoop loop = peers.servers.openLoop(address(peers), LoopSettings.defaults());
            Listener listener = serve(peers, loop, new ConnectionHandler() {
                @Override
                public void onConnect(Connection connection) {
                    for (Background.Action action : List.<Background.Action>of(loop::progress, loop::close)) {
                        try {
                            action.run();
                        } catch (Exception e) {
                            thrown.add(e);
                        }
                    }
                }
            });
            Connection client = peers.clients.connect(listener.address(), Peers.TIMEOUT);
            while (thrown.size() < 2) {
                // The thread that reports the connection needs the lock of the loop, and with one CPU, that CPU.
                loop.progress();
            }
            assertThat(thrown).allSatisfy(e -> assertThat(e).isInstanceOf(IllegalStateException.class));
            client.close();
        }
    }

    /** Without a handler: the thread that waits polls itself, whether the program drives the loop or not. */
    @Test
    void threadsMayWaitForConnectionsOfALoop() throws Exception {
        try (Peers peers = new Peers()) {
            for (ConnectionLoopGroup loops : List.of(peers.clients.openLoop(address(peers), LoopSettings.defaults()),
                    peers.clients.startLoops(LoopSettings.defaults()),
                    peers.clients.startLoops(LoopSettings.builder().threads(2)
                            .waiting(WaitPolicy.spinAlways()).build()))) {
                try (Peers.Pair pair = peers.connect(ConnectionSettings.builder().loops(loops).build())) {
                    for (int i = 0; i < 50; i++) {
                        pair.server().send(new byte[i], Peers.TIMEOUT);
                        try (Message message = pair.client().receive(Peers.TIMEOUT)) {
                            pair.client().send(message.memory(), Peers.TIMEOUT);
                        }
                        try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                            assertThat(message.length()).isEqualTo(i);
                        }
                    }
                    try (Background<Void> waiting = Background.run(() -> pair.client().receive(Peers.LONG))
                            .awaitAsleep()) {
                        pair.server().close();
                        assertThatThrownBy(waiting::result).isInstanceOf(DisconnectedException.class);
                    }
                }
                loops.close();
            }
        }
    }

    @Test
    void allOperationsOnALoop() throws Exception {
        try (Peers peers = new Peers(); ConnectionLoopGroup loops = peers.clients.startLoops(LoopSettings.defaults());
                Peers.Pair pair = peers.connect(ConnectionSettings.builder().loops(loops).build());
                MemoryRegion local = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE);
                MemoryRegion remote = pair.server().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC)) {
            for (Flavour flavour : Flavour.values()) {
                flavour.send(pair.client(), new byte[1]);
                flavour.send(pair.client(), local, 0, 2);
                flavour.sendWithImmediate(pair.client(), local, 0, 3, 1);
                flavour.writeWithImmediate(pair.client(), local, 8, 4, remote.remoteMemory().slice(8),
                        2);
                flavour.write(pair.client(), local, 8, 4, remote.remoteMemory().slice(8));
                flavour.read(pair.client(), local, 8, 4, remote.remoteMemory());
                long before = flavour.fetchAndAdd(pair.client(), remote.remoteMemory(), 1);
                assertThat(flavour.compareAndSwap(pair.client(), remote.remoteMemory(), 0, 0))
                        .isEqualTo(before + 1);
                for (int i = 1; i <= 4; i++) {
                    try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                        assertThat(message.length()).isEqualTo(i);
                    }
                }
            }
        }
    }

    @Test
    void aLoopWithConnectionsIsNotClosed() throws Exception {
        try (Peers peers = new Peers()) {
            for (ConnectionLoopGroup loops : List.of(peers.clients.openLoop(address(peers), LoopSettings.defaults()),
                    peers.clients.startLoops(LoopSettings.defaults()))) {
                ConnectionSettings settings = ConnectionSettings.builder().loops(loops).build();
                Peers.Pair pair = peers.connect(settings);
                assertThatThrownBy(loops::close).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(pair.client().toString());
                // nothing has happened
                pair.server().send(new byte[1], Peers.TIMEOUT);
                pair.client().receive(Peers.TIMEOUT).close();
                pair.close();
                loops.close();
                loops.close();
                assertThatThrownBy(() -> peers.clients.connect(peers.listener.address(), settings, Peers.TIMEOUT))
                        .isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
                assertThatThrownBy(() -> Flavour.get(peers.clients.connectAsync(peers.listener.address(), settings,
                        Peers.TIMEOUT))).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
            }
        }
    }

    /** A close at any moment of a connect: the connection is served by the loops, or there is none. */
    @Test
    void loopsThatAreClosedDuringAConnectServeItOrRefuseIt() throws Exception {
        Events events = new Events();
        try (Peers peers = new Peers()) {
            Listener listener = serve(peers, null, new Events());
            listener.acceptAll();
            for (int i = 0; i < 40; i++) {
                ConnectionLoopGroup loops = peers.clients.startLoops(LoopSettings.builder().threads(2).build());
                peers.clients.connect(listener.address(), with(loops, new Events()), Peers.TIMEOUT).close();
                boolean closed = false;
                CompletableFuture<Connection> connecting = peers.clients.connectAsync(listener.address(),
                        with(loops, events), Peers.TIMEOUT);
                while (!connecting.isDone()) {
                    try {
                        loops.close();
                        closed = true;
                    } catch (IllegalStateException e) {
                        // a connection is open, or about to be: nothing has changed
                    }
                }
                assertThat(connecting.isCompletedExceptionally()).isEqualTo(closed);
                if (closed) {
                    assertThat(connecting.exceptionNow()).isInstanceOf(IllegalStateException.class);
                } else {
                    events.expect("connected");
                    connecting.get().close();
                    events.expect("disconnected");
                }
                loops.close();
            }
        }
    }

    /** Between the two steps in which a connection enters a loop, a close is refused and changes nothing. */
    @Test
    void aLoopIsNotClosedWhileAConnectionIsMade() throws Exception {
        try (Peers peers = new Peers()) {
            ConnectionLoop loop = peers.clients.openLoop(address(peers), LoopSettings.defaults());
            CompletionQueue room = loop.loop().reserve(8, 8);
            assertThatThrownBy(loop::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is being made or closed");
            assertThat(loop.progress()).isZero();
            loop.loop().release(room, 8);
            loop.close();
            assertThatThrownBy(loop::progress).isInstanceOf(IllegalStateException.class);
        }
    }

    private static ConnectionSettings with(ConnectionLoopGroup loops, Events events) {
        return ConnectionSettings.builder().loops(loops).handler(events).build();
    }

    @Test
    void whatIsStartedAfterTheEndOfALoopFails() throws Exception {
        try (Peers peers = new Peers()) {
            ConnectionLoop own = peers.clients.openLoop(address(peers), LoopSettings.defaults());
            for (ConnectionLoopGroup loops : List.of(own, peers.clients.startLoops(LoopSettings.defaults()))) {
                Events events = new Events();
                Peers.Pair pair = peers.connect(ConnectionSettings.builder().loops(loops).handler(events).build());
                if (loops == own) {
                    own.progress();
                    assertThat(own.arm()).isTrue();
                }
                events.expect("connected");
                pair.close();
                loops.close();
                events.expect("disconnected");
                assertThatThrownBy(() -> Flavour.get(pair.client().async().send(MemorySegment.NULL)))
                        .isInstanceOf(RdmaClosedException.class);
                assertThatThrownBy(() -> Flavour.get(pair.client().async().fetchAndAdd(
                        new RemoteMemory(8, 1, 8), 1)))
                        .isInstanceOf(RdmaClosedException.class);
                assertThatThrownBy(() -> pair.client().queue().send(MemorySegment.NULL))
                        .isInstanceOf(RdmaClosedException.class);
                assertThat(events.isEmpty()).isTrue();
            }
        }
    }

    /** Whoever ends the loop, the handlers are told before. */
    @Test
    void handlersAreToldOfTheEndBeforeTheirLoopEnds() throws Exception {
        for (int round = 0; round < 20; round++) {
            AtomicInteger ends = new AtomicInteger();
            try (Peers peers = new Peers()) {
                ConnectionSettings settings = ConnectionSettings.builder()
                        .loops(peers.clients.startLoops(LoopSettings.defaults()))
                        .handler(new ConnectionHandler() {
                            @Override
                            public void onDisconnect(Connection connection, RdmaException reason) {
                                ends.incrementAndGet();
                            }
                        }).build();
                for (int i = 0; i < 3; i++) {
                    peers.connect(settings);
                }
            }
            assertThat(ends).hasValue(3);
        }
    }

    @Test
    void aLoopOfAnotherManagerIsRefused() throws Exception {
        try (Peers peers = new Peers()) {
            for (ConnectionLoopGroup loops : List.of(peers.servers.openLoop(address(peers), LoopSettings.defaults()),
                    peers.servers.startLoops(LoopSettings.defaults()))) {
                assertThatThrownBy(() -> peers.clients.connect(peers.listener.address(),
                        ConnectionSettings.builder().loops(loops).build(), Peers.TIMEOUT))
                        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("manager");
            }
            assertThatThrownBy(() -> peers.clients.openLoop(InetAddress.getByName("0.0.0.0"), LoopSettings.defaults()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> peers.clients.openLoop(InetAddress.getByName("192.0.2.1"),
                    LoopSettings.defaults())).isInstanceOf(RdmaException.class);
        }
    }

    @Test
    void aGroupGivesItsLoopsInTurn() throws Exception {
        Set<Thread> threads = new HashSet<>();
        Events events = new Events();
        try (Peers peers = new Peers()) {
            Listener listener = serve(peers, peers.servers.startLoops(LoopSettings.builder().threads(2).build()),
                    events);
            List<Connection> clients = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                clients.add(peers.clients.connect(listener.address(), Peers.TIMEOUT));
                threads.add(events.expect("connected").thread());
            }
            assertThat(threads).hasSize(2).noneMatch(Thread::isVirtual);
            peers.servers.close();
            assertThat(threads).noneMatch(Thread::isAlive);
            for (Connection client : clients) {
                client.close();
            }
        }
    }

    @Test
    void acceptAllNeedsAHandler() throws Exception {
        try (Peers peers = new Peers()) {
            assertThatThrownBy(peers.listener::acceptAll).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("handler");
            Listener listener = serve(peers, null, new Events());
            listener.acceptAll();
            listener.close();
            assertThatThrownBy(listener::acceptAll).isInstanceOf(RdmaClosedException.class);
        }
    }

    /** Requests that came before are accepted as well. */
    @Test
    void acceptAllAcceptsWhatWaits() throws Exception {
        Events events = new Events();
        try (Peers peers = new Peers()) {
            Listener listener = peers.servers.listen(new InetSocketAddress(address(peers), 0), 64,
                    ConnectionSettings.builder().handler(events).build());
            List<CompletableFuture<Connection>> connecting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                connecting.add(peers.clients.connectAsync(listener.address(), DEFAULTS, Peers.TIMEOUT));
            }
            listener.nextRequest(Peers.TIMEOUT).accept(Peers.TIMEOUT);
            listener.acceptAll();
            for (CompletableFuture<Connection> future : connecting) {
                Flavour.get(future);
                assertThat(events.next().what()).isEqualTo("connected");
            }
        }
    }

    @Test
    void manyConnectionsAreMadeAtTheSameTime() throws Exception {
        int count = 60;
        Events events = new Events();
        try (Peers peers = new Peers()) {
            Listener listener = serve(peers, peers.servers.startLoops(LoopSettings.defaults()), events);
            List<CompletableFuture<Connection>> connecting = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                connecting.add(peers.clients.connectAsync(listener.address(), DEFAULTS, Peers.TIMEOUT));
            }
            Set<Connection> connections = new HashSet<>();
            for (CompletableFuture<Connection> future : connecting) {
                Connection connection = Flavour.get(future);
                assertThat(connection.isConnected()).isTrue();
                connections.add(connection);
            }
            assertThat(connections).hasSize(count);
            for (int i = 0; i < count; i++) {
                events.expect("connected");
            }
        }
    }

    @Test
    void connectAsyncFailsAsConnectDoes() throws Exception {
        try (Peers peers = new Peers()) {
            // nobody accepts
            assertThatThrownBy(() -> Flavour.get(peers.clients.connectAsync(peers.listener.address(), DEFAULTS,
                    Duration.ofMillis(200)))).isInstanceOf(RdmaTimeoutException.class);
            assertThatThrownBy(() -> Flavour.get(peers.clients.connectAsync(peers.listener.address(), DEFAULTS,
                    Duration.ZERO))).isInstanceOf(RdmaException.class);
            peers.listener.close();
            assertThatThrownBy(() -> Flavour.get(peers.clients.connectAsync(peers.listener.address(), DEFAULTS,
                    Peers.TIMEOUT))).isInstanceOf(RejectedException.class);
            peers.clients.close();
            CompletableFuture<Connection> late = closedIsKnown(peers);
            if (late != null) {
                assertThatThrownBy(() -> Flavour.get(late)).isInstanceOf(RdmaException.class);
            }
        }
    }

    private static CompletableFuture<Connection> closedIsKnown(Peers peers) {
        try {
            return peers.clients.connectAsync(peers.listener.address(), DEFAULTS, Peers.TIMEOUT);
        } catch (IllegalStateException e) {
            return null;
        }
    }

    @Test
    void aClosedManagerEndsWhatIsConnecting() throws Exception {
        try (Peers peers = new Peers()) {
            List<CompletableFuture<Connection>> connecting = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                connecting.add(peers.clients.connectAsync(peers.listener.address(), DEFAULTS, Peers.LONG));
            }
            peers.clients.close();
            for (CompletableFuture<Connection> future : connecting) {
                assertThatThrownBy(() -> Flavour.get(future)).isInstanceOf(RdmaClosedException.class);
            }
        }
    }

    @Test
    void whatIsCancelledLeavesNothing() throws Exception {
        try (Peers peers = new Peers()) {
            peers.connect().close();
            ResourceCounts before = ResourceCounts.settled(Peers.TIMEOUT);
            for (int i = 0; i < 5; i++) {
                CompletableFuture<Connection> connecting = peers.clients.connectAsync(peers.listener.address(),
                        DEFAULTS, Peers.TIMEOUT);
                assertThat(connecting.cancel(true)).isTrue();
                ConnectionRequest request = peers.listener.nextRequest(Peers.TIMEOUT);
                // The client disconnects as soon as it is established, which may overtake its last message.
                assertThatThrownBy(() -> {
                    try (Connection server = request.accept(Peers.TIMEOUT)) {
                        server.receive(Peers.TIMEOUT);
                    }
                }).isInstanceOf(DisconnectedException.class);
                assertThatThrownBy(connecting::get).isInstanceOf(CancellationException.class);
            }
            assertThat(ResourceCounts.await(before, Peers.TIMEOUT)).isEqualTo(before);
        }
    }

    @Test
    void whatHasTimedOutLeavesNothing() throws Exception {
        try (Peers peers = new Peers()) {
            peers.connect().close();
            ResourceCounts before = ResourceCounts.settled(Peers.TIMEOUT);
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> Flavour.get(peers.clients.connectAsync(peers.listener.address(), DEFAULTS,
                        Duration.ofMillis(50)))).isInstanceOf(RdmaTimeoutException.class);
            }
            // The requests die with their clients.
            for (int i = 0; i < 3; i++) {
                peers.listener.nextRequest(Peers.TIMEOUT).close();
            }
            assertThat(ResourceCounts.await(before, Peers.TIMEOUT)).isEqualTo(before);
        }
    }

    @Test
    void aHandlerMayConnect() throws Exception {
        Events events = new Events();
        BlockingQueue<CompletableFuture<Connection>> connecting = new LinkedBlockingQueue<>();
        try (Peers peers = new Peers()) {
            ConnectionLoopGroup loops = peers.clients.startLoops(LoopSettings.defaults());
            Listener listener = serve(peers, null, events);
            peers.clients.connect(listener.address(), ConnectionSettings.builder().loops(loops)
                    .handler(new ConnectionHandler() {
                        @Override
                        public void onConnect(Connection connection) {
                            connecting.add(peers.clients.connectAsync(listener.address(), DEFAULTS, Peers.TIMEOUT));
                        }
                    }).build(), Peers.TIMEOUT);
            events.expect("connected");
            events.expect("connected");
            assertThat(Flavour.get(connecting.poll(1, TimeUnit.SECONDS)).isConnected()).isTrue();
        }
    }
}
