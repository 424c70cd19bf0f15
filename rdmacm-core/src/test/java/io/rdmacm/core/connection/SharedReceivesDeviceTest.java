// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Connections of a loop that share their receive buffers, and what becomes of the buffers. */
@RequiresRdma
class SharedReceivesDeviceTest {
    private static final int RECEIVES = 32;
    // other than that of the buffers for sending, so that each has a pool of its own
    private static final int SIZE = 1024;
    private static final LoopSettings SHARED = LoopSettings.builder().sharedReceives(RECEIVES, SIZE).build();

    /** The pool of a manager for buffers of a size. */
    private static RegisteredPool pool(ConnectionManager manager, InetSocketAddress address, int size)
            throws RdmaException {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(address.getAddress(), 0));
            return manager.device(id).pool(size);
        }
    }

    private static Listener serve(Peers peers, ConnectionLoopGroup loops, ConnectionHandler handler)
            throws RdmaException {
        Listener listener = peers.servers.listen(new InetSocketAddress(peers.listener.address().getAddress(), 0), 128,
                ConnectionSettings.builder().loops(loops).handler(handler).linger(Duration.ofMillis(100)).build());
        if (handler != null) {
            listener.acceptAll();
        }
        return listener;
    }

    private static List<Connection> connect(Peers peers, Listener listener, int count) throws Exception {
        List<CompletableFuture<Connection>> connecting = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            connecting.add(peers.clients.connectAsync(listener.address(), ConnectionSettings.defaults(),
                    Peers.TIMEOUT));
        }
        List<Connection> connections = new ArrayList<>();
        for (CompletableFuture<Connection> future : connecting) {
            connections.add(Flavour.get(future));
        }
        return connections;
    }

    private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T taken = queue.poll(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        assertThat(taken).isNotNull();
        return taken;
    }

    /** Keeps the messages that are longer than one byte. */
    private static final class Keeper implements ConnectionHandler {
        private final BlockingQueue<Message> kept = new LinkedBlockingQueue<>();
        private final BlockingQueue<Integer> passed = new LinkedBlockingQueue<>();
        private final AtomicInteger ended = new AtomicInteger();

        @Override
        public void onMessage(Connection connection, Message message) {
            int length = message.length();
            if (length > 1) {
                kept.add(message.retain());
            } else {
                passed.add(length);
            }
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) {
            ended.incrementAndGet();
        }
    }

    @Test
    void manyConnectionsShareFewBuffers() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        Keeper keeper = new Keeper();
        try (Peers peers = new Peers()) {
            Listener listener = serve(peers, peers.servers.startLoops(SHARED), keeper);
            List<Connection> clients = connect(peers, listener, 16);
            RegisteredPool pool = pool(peers.servers, listener.address(), SIZE);
            assertThat(pool.taken()).isEqualTo(RECEIVES);
            for (int i = 0; i < 10; i++) {
                for (Connection client : clients) {
                    client.send(new byte[1], Peers.TIMEOUT);
                }
            }
            for (int i = 0; i < 10 * clients.size(); i++) {
                take(keeper.passed);
            }
            // Half of them are posted when more are taken, and a batch of completions may wait for its handlers.
            assertThat(pool.taken()).isLessThanOrEqualTo(3 * RECEIVES);
            assertThat(pool(peers.servers, listener.address(), 4096).taken()).isZero();
        }
    }

    @Test
    void memoryGrowsOnlyWithTheMessagesThatAreHeld() throws Exception {
        Keeper keeper = new Keeper();
        try (Peers peers = new Peers()) {
            Listener listener = serve(peers, peers.servers.startLoops(SHARED), keeper);
            Connection holding = connect(peers, listener, 1).getFirst();
            Connection fast = connect(peers, listener, 1).getFirst();
            RegisteredPool pool = pool(peers.servers, listener.address(), SIZE);
            List<Message> held = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                holding.send(new byte[] {(byte) i, 1}, Peers.TIMEOUT);
                fast.send(new byte[1], Peers.TIMEOUT);
                held.add(take(keeper.kept));
                take(keeper.passed);
            }
            int most = pool.taken();
            assertThat(most).isBetween(300 + RECEIVES / 2, 300 + 3 * RECEIVES);
            for (int i = 0; i < held.size(); i++) {
                assertThat(held.get(i).toArray()).containsExactly((byte) i, 1);
                held.get(i).close();
            }
            for (int i = 0; i < 300; i++) {
                holding.send(new byte[2], Peers.TIMEOUT);
                fast.send(new byte[1], Peers.TIMEOUT);
                take(keeper.passed);
                held.set(i, take(keeper.kept));
            }
            assertThat(pool.taken()).isLessThanOrEqualTo(most + RECEIVES);
            for (Message message : held) {
                message.close();
            }
        }
    }

    @Test
    void aConnectionThatIsNotReceivedFromHoldsUpNoOther() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        try (Peers peers = new Peers()) {
            Listener listener = serve(peers, peers.servers.startLoops(SHARED), null);
            List<Connection> clients = new ArrayList<>();
            List<Connection> servers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                CompletableFuture<Connection> connecting = peers.clients.connectAsync(listener.address(),
                        ConnectionSettings.defaults(), Peers.TIMEOUT);
                servers.add(listener.accept(Peers.TIMEOUT));
                clients.add(Flavour.get(connecting));
            }
            for (int i = 0; i < 10 * RECEIVES; i++) {
                clients.get(0).send(new byte[1], Peers.TIMEOUT);
            }
            clients.get(0).disconnect(Peers.TIMEOUT);
            for (int i = 0; i < 100; i++) {
                clients.get(1).send(new byte[i], Peers.TIMEOUT);
                try (Message message = servers.get(1).receive(Peers.TIMEOUT)) {
                    assertThat(message.length()).isEqualTo(i);
                }
            }
            for (int i = 0; i < 10 * RECEIVES; i++) {
                servers.get(0).receive(Peers.TIMEOUT).close();
            }
        }
    }

    @Test
    void aHeldMessageOutlivesConnectionLoopAndManager() throws Exception {
        Keeper keeper = new Keeper();
        try (Peers peers = new Peers()) {
            ConnectionLoopGroup loops = peers.servers.startLoops(SHARED);
            Listener listener = serve(peers, loops, keeper);
            Connection client = connect(peers, listener, 1).getFirst();
            RegisteredPool pool = pool(peers.servers, listener.address(), SIZE);
            for (int i = 0; i < 3; i++) {
                client.send(new byte[] {3, (byte) i}, Peers.TIMEOUT);
            }
            List<Message> held = List.of(take(keeper.kept), take(keeper.kept), take(keeper.kept));
            client.close();
            while (keeper.ended.get() == 0) {
                Thread.yield();
            }
            listener.close();
            peers.servers.close();
            assertThat(pool.isOpen()).isFalse();
            for (int i = 0; i < 3; i++) {
                assertThat(held.get(i).toArray()).containsExactly(3, i);
                held.get(i).close();
                held.get(i).close();
            }
        }
    }

    @Test
    void aMessageThatIsHeldWhenItsLoopEndsGivesItsMemoryBack() throws Exception {
        try (Peers peers = new Peers()) {
            ConnectionLoopGroup loops = peers.servers.startLoops(SHARED);
            Listener listener = serve(peers, loops, null);
            CompletableFuture<Connection> connecting = peers.clients.connectAsync(listener.address(),
                    ConnectionSettings.defaults(), Peers.TIMEOUT);
            Connection server = listener.accept(Peers.TIMEOUT);
            Connection client = Flavour.get(connecting);
            client.send(new byte[] {1, 2}, Peers.TIMEOUT);
            Message held = server.receive(Peers.TIMEOUT);
            client.send(new byte[] {3}, Peers.TIMEOUT);
            client.close();
            assertThatThrownBy(loops::close).isInstanceOf(IllegalStateException.class);
            server.close();
            loops.close();
            RegisteredPool pool = pool(peers.servers, listener.address(), SIZE);
            assertThat(pool.taken()).isEqualTo(1);
            assertThat(held.toArray()).containsExactly(1, 2);
            held.close();
            assertThat(pool.taken()).isZero();
        }
    }

    /** Neither those that arrived nor those whose receive failed. */
    @Test
    void connectionsThatEndLeaveNoBuffersBehind() throws Exception {
        try (Peers peers = new Peers()) {
            Listener listener = serve(peers, peers.servers.startLoops(SHARED), null);
            RegisteredPool pool = null;
            int before = 0;
            for (int i = 0; i < 40; i++) {
                CompletableFuture<Connection> connecting = peers.clients.connectAsync(listener.address(),
                        ConnectionSettings.builder().linger(Duration.ofMillis(200)).build(), Peers.TIMEOUT);
                try (Connection server = listener.accept(Peers.TIMEOUT); Connection client = Flavour.get(connecting)) {
                    for (int j = 0; j < 8; j++) {
                        client.send(new byte[SIZE], Peers.TIMEOUT);
                    }
                    // too long: breaks the connection
                    client.send(new byte[SIZE + 1], Peers.TIMEOUT);
                    for (int j = 0; j < 4; j++) {
                        server.receive(Peers.TIMEOUT).close();
                    }
                    while (server.isConnected()) {
                        Message next = server.tryReceive();
                        if (next != null) {
                            next.close();
                            break;
                        }
                    }
                }
                if (i == 10) {
                    pool = pool(peers.servers, listener.address(), SIZE);
                    before = pool.taken();
                }
            }
            assertThat(pool.taken()).isLessThanOrEqualTo(before);
        }
    }

    @Test
    void aConnectionWithBuffersOfItsOwnGivesAllBack() throws Exception {
        ConnectionSettings settings = ConnectionSettings.builder().messageSize(2048).build();
        try (Peers peers = new Peers(4, settings)) {
            for (int i = 0; i < 3; i++) {
                Peers.Pair pair = peers.connect();
                RegisteredPool pool = pool(peers.servers, peers.listener.address(), 2048);
                assertThat(pool.taken()).isEqualTo(settings.receiveBuffers());
                for (int j = 0; j < 5; j++) {
                    pair.client().send(new byte[j], Peers.TIMEOUT);
                    pair.server().send(new byte[j], Peers.TIMEOUT);
                }
                Message held = pair.server().receive(Peers.TIMEOUT);
                OutgoingMessage unsent = pair.server().message(1, Peers.TIMEOUT);
                pair.close();
                assertThat(pool.taken()).isEqualTo(2);
                held.close();
                unsent.memory().fill((byte) 1);
                unsent.close();
                unsent.close();
                assertThat(pool.taken()).isZero();
            }
        }
    }
}
