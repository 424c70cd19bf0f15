// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.testing.Events;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.WorkCompletionException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What handlers are told, and what they may do, with and without a loop. */
@RequiresRdma
@SuppressWarnings("try")
class HandlersDeviceTest {
    /** Who drives the connections of the server. */
    enum Driver {
        NONE(0), ONE_THREAD(1), TWO_THREADS(2);

        private final int threads;

        Driver(int threads) {
            this.threads = threads;
        }
    }

    /** A server whose connections have a handler. */
    private static final class Served implements AutoCloseable {
        private final Peers peers = new Peers();
        private final Listener listener;

        Served(Driver driver, ConnectionHandler handler) throws RdmaException {
            this(driver, handler, ConnectionSettings.builder());
        }

        Served(Driver driver, ConnectionHandler handler, ConnectionSettings.Builder settings) throws RdmaException {
            if (driver.threads > 0) {
                settings.loops(peers.servers.startLoops(LoopSettings.builder().threads(driver.threads).build()));
            }
            listener = peers.servers.listen(new InetSocketAddress(peers.listener.address().getAddress(), 0), 64,
                    settings.handler(handler).build());
            listener.acceptAll();
        }

        Connection connect() throws Exception {
            return peers.clients.connect(listener.address(), Peers.TIMEOUT);
        }

        @Override
        public void close() throws RdmaException {
            peers.close();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T taken = queue.poll(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        assertThat(taken).isNotNull();
        return taken;
    }

    private static String receive(Connection connection) throws Exception {
        try (Message message = connection.receive(Peers.TIMEOUT)) {
            return new String(message.toArray(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerIsToldTheWholeLifeOfAConnection(Driver driver) throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        Events events = new Events();
        try (Served served = new Served(driver, events); Connection client = served.connect()) {
            Connection server = events.expect("connected").connection();
            assertThat(server.peerAddress()).isEqualTo(client.localAddress());
            assertThat(server.isConnected()).isTrue();
            for (int i = 0; i < 100; i++) {
                client.send(bytes("number " + i), Peers.TIMEOUT);
            }
            try (MemoryRegion remote = server.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE);
                    MemoryRegion local = client.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
                client.writeWithImmediate(local, 0, 33, remote.remoteMemory(), -5,
                        Peers.TIMEOUT);
            }
            client.send(bytes("last"), Peers.TIMEOUT);
            client.close();
            for (int i = 0; i < 100; i++) {
                assertThat(events.expect("message number " + i).connection()).isSameAs(server);
            }
            events.expect("immediate -5 33");
            events.expect("message last");
            Events.Event end = events.expect("disconnected");
            assertThat(end.reason()).isInstanceOf(DisconnectedException.class);
            assertThat(end.connection()).isSameAs(server);
            assertThat(end.thread().isVirtual()).isFalse();
            server.close();
            assertThat(events.isEmpty()).isTrue();
        }
        assertThat(events.isEmpty()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void aConnectionWithAHandlerCannotBeReceivedFrom(Driver driver) throws Exception {
        Events events = new Events();
        try (Served served = new Served(driver, events); Connection client = served.connect()) {
            Connection server = events.expect("connected").connection();
            assertThatThrownBy(() -> server.receive(Peers.TIMEOUT)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("handler");
            assertThatThrownBy(server::tryReceive).isInstanceOf(IllegalStateException.class);
            // but used from other threads
            server.send(bytes("answer"), Peers.TIMEOUT);
            assertThat(receive(client)).isEqualTo("answer");
        }
    }

    @ParameterizedTest
    @EnumSource
    void theReasonOfTheEndIsTold(Driver driver) throws Exception {
        Events events = new Events();
        try (Served served = new Served(driver, events, ConnectionSettings.builder().messageSize(64))) {
            // closed by this side
            try (Connection client = served.connect()) {
                Connection server = events.expect("connected").connection();
                server.close();
                assertThat(events.expect("disconnected").reason()).isInstanceOf(RdmaClosedException.class);
                server.close();
            }
            // broken by the peer
            try (Connection client = served.connect()) {
                Connection server = events.expect("connected").connection();
                client.send(new byte[65], Peers.TIMEOUT);
                assertThat(events.expect("disconnected").reason()).isInstanceOf(WorkCompletionException.class);
                server.close();
            }
            // disconnected by this side
            try (Connection client = served.connect()) {
                Connection server = events.expect("connected").connection();
                server.disconnect(Peers.TIMEOUT);
                assertThat(events.expect("disconnected").reason()).isInstanceOf(DisconnectedException.class);
                server.close();
            }
            // closed by the manager
            try (Connection client = served.connect()) {
                events.expect("connected");
                served.peers.servers.close();
                assertThat(events.expect("disconnected").reason()).isInstanceOf(RdmaClosedException.class);
            }
            assertThat(events.isEmpty()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageThatAHandlerHasKeptIsNotTheNextOne(Driver driver) throws Exception {
        BlockingQueue<Throwable> thrown = new LinkedBlockingQueue<>();
        ConnectionHandler handler = new ConnectionHandler() {
            private Message kept;

            @Override
            public void onMessage(Connection connection, Message message) {
                if (kept == null) {
                    kept = message;
                } else {
                    thrown.add(catchThrowable(kept::toArray));
                }
            }
        };
        try (Served served = new Served(driver, handler); Connection client = served.connect()) {
            client.send(new byte[1], Peers.TIMEOUT);
            client.send(new byte[2], Peers.TIMEOUT);
            assertThat(take(thrown)).isInstanceOf(IllegalStateException.class).hasMessage("Message is closed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageIsClosedAfterTheHandlerUnlessItIsRetained(Driver driver) throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        BlockingQueue<Message> passed = new LinkedBlockingQueue<>();
        BlockingQueue<Message> retained = new LinkedBlockingQueue<>();
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onMessage(Connection connection, Message message) {
                if (message.length() > 1) {
                    Message kept = message.retain();
                    assertThatThrownBy(message::memory).isInstanceOf(IllegalStateException.class);
                    retained.add(kept);
                }
                passed.add(message);
            }
        };
        ConnectionSettings.Builder few = ConnectionSettings.builder().receiveBuffers(2);
        try (Served served = new Served(driver, handler, few); Connection client = served.connect()) {
            client.send(bytes("kept"), Peers.TIMEOUT);
            Message kept = take(retained);
            // With one buffer left, these must each have been given back.
            for (int i = 0; i < 10; i++) {
                client.send(bytes("x"), Peers.TIMEOUT);
            }
            for (int i = 0; i < 10; i++) {
                take(passed);
            }
            Message closed = take(passed);
            try (Background<Void> closing = Background.run(() -> {
                while (isOpen(closed)) {
                    Thread.yield();
                }
            })) {
                closing.result();
            }
            assertThat(new String(kept.toArray(), StandardCharsets.UTF_8)).isEqualTo("kept");
            client.close();
            served.peers.servers.close();
            assertThat(new String(kept.toArray(), StandardCharsets.UTF_8)).isEqualTo("kept");
            kept.close();
            assertThatThrownBy(kept::retain).isInstanceOf(IllegalStateException.class);
        }
    }

    /** Sends a series of messages, as many at a time as there is room for. */
    private static final class Series implements ConnectionHandler {
        private static final int COUNT = 500;

        private int sent;
        private volatile int refused;
        private volatile OutgoingMessage held;

        @Override
        public void onConnect(Connection connection) throws Exception {
            // With a buffer less, which comes back without any completion.
            held = connection.message(1, Duration.ZERO);
            onWritable(connection);
        }

        @Override
        public void onWritable(Connection connection) throws Exception {
            while (sent < COUNT) {
                if (!connection.queue().send(MemorySegment.ofArray(bytes("number " + sent)))) {
                    refused++;
                    return;
                }
                sent++;
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerIsToldWhenThereIsRoomAgain(Driver driver) throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        for (int buffers : new int[] {1, 4}) {
            Series series = new Series();
            ConnectionSettings.Builder few = ConnectionSettings.builder().sendBuffers(buffers).operations(2);
            try (Served served = new Served(driver, series, few); Connection client = served.connect()) {
                if (buffers == 1) {
                    while (series.held == null || series.refused == 0) {
                        Thread.onSpinWait();
                    }
                    series.held.close();
                }
                for (int i = 0; i < Series.COUNT; i++) {
                    assertThat(receive(client)).isEqualTo("number " + i);
                }
                assertThat(series.refused).isPositive();
            }
        }
    }

    private static boolean isOpen(Message message) {
        try {
            return message.length() >= 0;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerThatThrowsIsCalledAgain(Driver driver) throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        Events events = new Events() {
            private int calls;

            @Override
            public void onConnect(Connection connection) {
                super.onConnect(connection);
                throw new ArithmeticException("thrown by a test");
            }

            @Override
            public void onMessage(Connection connection, Message message) {
                super.onMessage(connection, message);
                if (calls++ % 2 == 0) {
                    throw new IllegalStateException("thrown by a test");
                }
                throw new ArithmeticException("thrown by a test");
            }

            @Override
            public void onDisconnect(Connection connection, RdmaException reason) {
                super.onDisconnect(connection, reason);
                throw new IllegalArgumentException("thrown by a test");
            }
        };
        ConnectionSettings.Builder few = ConnectionSettings.builder().receiveBuffers(2);
        try (Served served = new Served(driver, events, few); Connection client = served.connect();
                MemoryRegion region = client.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            sendSix(client, events);
            CompletableFuture<Long> told = new CompletableFuture<>();
            assertThat(client.queue().send(region, 0, 1, (connection, context, failure) -> {
                throw new ArithmeticException("thrown by a test");
            }, 0)).isTrue();
            assertThat(client.queue().send(region, 0, 1, (connection, context, failure) -> told.complete(context), 7))
                    .isTrue();
            assertThat(Flavour.get(told)).isEqualTo(7);
            client.close();
            events.next();
            events.next();
            events.expect("disconnected");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerThatInterruptsItsThreadIsCalledAgain(Driver driver) throws Exception {
        Events events = new Events() {
            @Override
            public void onMessage(Connection connection, Message message) {
                super.onMessage(connection, message);
                Thread.currentThread().interrupt();
            }
        };
        try (Served served = new Served(driver, events); Connection client = served.connect()) {
            sendSix(client, events);
            client.close();
            events.expect("disconnected");
        }
    }

    private static void sendSix(Connection client, Events events) throws Exception {
        events.expect("connected");
        for (int i = 0; i < 6; i++) {
            client.send(bytes("" + i), Peers.TIMEOUT);
            events.expect("message " + i);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerMustNotWait(Driver driver) throws Exception {
        BlockingQueue<Exception> thrown = new LinkedBlockingQueue<>();
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onMessage(Connection connection, Message message) {
                for (Background.Action wait : List.<Background.Action>of(
                        () -> connection.fetchAndAdd(new RemoteMemory(8, 1, 8), 1, Peers.TIMEOUT),
                        () -> connection.message(1, Peers.TIMEOUT).send(Peers.TIMEOUT),
                        () -> {
                            for (int i = 0; i < 64; i++) {
                                connection.send(new byte[1], Peers.TIMEOUT);
                            }
                        })) {
                    try {
                        wait.run();
                        thrown.add(new Exception("nothing"));
                    } catch (Exception e) {
                        thrown.add(e);
                    }
                }
            }
        };
        try (Served served = new Served(driver, handler); Connection client = served.connect()) {
            client.send(new byte[1], Peers.TIMEOUT);
            assertThat(take(thrown)).isInstanceOf(IllegalStateException.class).hasMessageContaining("handler");
            // there was room
            assertThat(take(thrown)).hasMessage("nothing");
            assertThat(take(thrown)).isInstanceOf(IllegalStateException.class).hasMessageContaining("handler");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerAnswers(Driver driver) throws Exception {
        ConnectionHandler echo = new ConnectionHandler() {
            @Override
            public void onMessage(Connection connection, Message message) {
                try {
                    assertThat(connection.queue().send(message.memory())).isTrue();
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
            }
        };
        // An answer may arrive long before its own acknowledgement.
        ConnectionSettings.Builder room = ConnectionSettings.builder().sendBuffers(200).operations(200);
        try (Served served = new Served(driver, echo, room); Connection client = served.connect()) {
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 10; i++) {
                    client.send(bytes(round + "." + i), Peers.TIMEOUT);
                }
                for (int i = 0; i < 10; i++) {
                    assertThat(receive(client)).isEqualTo(round + "." + i);
                }
            }
        }
    }

    /** What a handler starts is posted when it returns. */
    @ParameterizedTest
    @EnumSource
    void aHandlerMayStartFutures(Driver driver) throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        BlockingQueue<CompletableFuture<Void>> futures = new LinkedBlockingQueue<>();
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onMessage(Connection connection, Message message) {
                for (int i = 0; i < 50; i++) {
                    futures.add(connection.async().send(MemorySegment.ofArray(new byte[i])));
                }
            }
        };
        try (Served served = new Served(driver, handler); Connection client = served.connect()) {
            client.send(new byte[1], Peers.TIMEOUT);
            for (int i = 0; i < 50; i++) {
                try (Message message = client.receive(Peers.TIMEOUT)) {
                    assertThat(message.length()).isEqualTo(i);
                }
            }
            for (int i = 0; i < 50; i++) {
                Flavour.get(take(futures));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerMayCloseItsConnection(Driver driver) throws Exception {
        for (String when : List.of("connected", "message", "disconnected")) {
            Events events = new Events() {
                private void closeIf(String now, Connection connection) {
                    if (when.equals(now)) {
                        try {
                            connection.close();
                        } catch (RdmaException e) {
                            throw new AssertionError(e);
                        }
                    }
                }

                @Override
                public void onConnect(Connection connection) {
                    super.onConnect(connection);
                    closeIf("connected", connection);
                }

                @Override
                public void onMessage(Connection connection, Message message) {
                    super.onMessage(connection, message);
                    closeIf("message", connection);
                }

                @Override
                public void onDisconnect(Connection connection, RdmaException reason) {
                    super.onDisconnect(connection, reason);
                    closeIf("disconnected", connection);
                }
            };
            try (Served served = new Served(driver, events); Connection client = served.connect()) {
                Connection server = events.expect("connected").connection();
                if (!when.equals("connected")) {
                    client.send(bytes("1"), Peers.TIMEOUT);
                    events.expect("message 1");
                }
                if (when.equals("disconnected")) {
                    client.close();
                } else {
                    assertThatThrownBy(() -> client.receive(Peers.TIMEOUT)).isInstanceOf(DisconnectedException.class);
                }
                events.expect("disconnected");
                // another thread has done the rest, or this one does
                server.close();
                assertThat(server.isConnected()).isFalse();
                assertThat(events.isEmpty()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void ofTwoThatCloseAtTheSameTimeEachIsToldOnce(Driver driver) throws Exception {
        Events atServer = new Events();
        Events atClient = new Events();
        try (Served served = new Served(driver, atServer)) {
            for (int i = 0; i < 20; i++) {
                Connection client = served.peers.clients.connect(served.listener.address(),
                        ConnectionSettings.builder().handler(atClient).build(), Peers.TIMEOUT);
                Connection server = atServer.expect("connected").connection();
                atClient.expect("connected");
                CyclicBarrier together = new CyclicBarrier(2);
                try (Background<Void> closing = Background.run(() -> {
                    together.await();
                    server.close();
                })) {
                    together.await();
                    client.close();
                    closing.result();
                }
                atServer.expect("disconnected");
                atClient.expect("disconnected");
            }
        }
        assertThat(atServer.isEmpty()).isTrue();
        assertThat(atClient.isEmpty()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void manyConnectionsAreServedInTheirOrder(Driver driver) throws Exception {
        int clients = 12;
        int messages = 60;
        BlockingQueue<String> wrong = new LinkedBlockingQueue<>();
        BlockingQueue<Integer> done = new LinkedBlockingQueue<>();
        ConnectionHandler counting = new ConnectionHandler() {
            private final Map<Connection, Integer> next = new ConcurrentHashMap<>();

            @Override
            public void onConnect(Connection connection) {
                next.put(connection, 0);
            }

            @Override
            public void onMessage(Connection connection, Message message) {
                int expected = next.get(connection);
                if (message.length() != expected) {
                    wrong.add(message.length() + " instead of " + expected);
                }
                next.put(connection, expected + 1);
            }

            @Override
            public void onDisconnect(Connection connection, RdmaException reason) {
                done.add(next.get(connection));
            }
        };
        try (Served served = new Served(driver, counting)) {
            List<CompletableFuture<Connection>> connecting = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                connecting.add(served.peers.clients.connectAsync(served.listener.address(),
                        ConnectionSettings.defaults(), Peers.TIMEOUT));
            }
            List<Connection> connections = new ArrayList<>();
            for (CompletableFuture<Connection> future : connecting) {
                connections.add(Flavour.get(future));
            }
            for (int i = 0; i < messages; i++) {
                for (Connection connection : connections) {
                    connection.send(new byte[i], Peers.TIMEOUT);
                }
            }
            for (Connection connection : connections) {
                connection.close();
            }
            for (int i = 0; i < clients; i++) {
                assertThat(take(done)).isEqualTo(messages);
            }
            assertThat(wrong).isEmpty();
        }
    }

    /** The client as well: its handler is called by a thread that only waits for something else of the connection. */
    @ParameterizedTest
    @EnumSource
    void clientsHaveHandlersToo(Driver driver) throws Exception {
        Events events = new Events();
        try (Peers peers = new Peers()) {
            ConnectionSettings.Builder settings = ConnectionSettings.builder().handler(events);
            if (driver.threads > 0) {
                settings.loops(peers.clients.startLoops(LoopSettings.builder().threads(driver.threads).build()));
            }
            try (Peers.Pair pair = peers.connect(settings.build())) {
                events.expect("connected");
                pair.server().send(bytes("1"), Peers.TIMEOUT);
                events.expect("message 1");
                pair.client().send(new byte[3], Peers.TIMEOUT);
                pair.server().receive(Peers.TIMEOUT).close();
                pair.server().close();
                events.expect("disconnected");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerThatConnectsAnewDoesNotHoldUpTheClose(Driver driver) throws Exception {
        BlockingQueue<CompletableFuture<Connection>> again = new LinkedBlockingQueue<>();
        BlockingQueue<Background<Void>> closing = new LinkedBlockingQueue<>();
        try (Peers peers = new Peers()) {
            ConnectionHandler handler = new ConnectionHandler() {
                @Override
                public void onDisconnect(Connection connection, RdmaException reason) {
                    if (driver == Driver.ONE_THREAD) {
                        try {
                            closing.take().awaitInside(CmLoop.class, "join");
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }
                    again.add(peers.clients.connectAsync(peers.listener.address(), ConnectionSettings.defaults(),
                            Duration.ofSeconds(1)));
                }
            };
            ConnectionSettings.Builder settings = ConnectionSettings.builder().handler(handler);
            if (driver.threads > 0) {
                settings.loops(peers.clients.startLoops(LoopSettings.builder().threads(driver.threads).build()));
            }
            peers.connect(settings.build());
            Background<Void> close = Background.run(peers.clients::close);
            closing.add(close);
            close.result();
            assertThatThrownBy(() -> Flavour.get(take(again))).isInstanceOf(RdmaClosedException.class);
        }
    }
}
