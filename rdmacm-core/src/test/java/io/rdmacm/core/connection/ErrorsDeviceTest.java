// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.testing.Events;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An Error in code of the program ends the connection that it was called for, and holds up no other. */
@RequiresRdma
class ErrorsDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(() -> {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            pair.client().send(new byte[1], Peers.TIMEOUT);
        }
    });

    private static final int HUGE = 1 << 30;

    /** What goes wrong in a handler. */
    enum Fault {
        STACK(StackOverflowError.class) {
            @Override
            void happen(Connection connection) {
                overflow();
            }
        },
        /** Inside the library, with the lock that the connections of a loop share. */
        STACK_IN_THE_LIBRARY(StackOverflowError.class) {
            @Override
            void happen(Connection connection) throws RdmaException {
                connection.isConnected();
                connection.queue().send(MemorySegment.ofArray(new byte[1]));
                happen(connection);
            }
        },
        MEMORY(OutOfMemoryError.class) {
            @Override
            void happen(Connection connection) {
                long[][] most = new long[HUGE / Long.BYTES][];
                for (int i = 0; i < most.length; i++) {
                    most[i] = new long[HUGE];
                }
            }
        },
        IN_AN_OPERATION_HANDLER(StackOverflowError.class) {
            @Override
            void happen(Connection connection) throws RdmaException {
                try (MemoryRegion region = connection.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
                    connection.queue().send(region, 0, 0, (ignored, context, failure) -> overflow(), 0);
                }
            }
        };

        private final Class<? extends Error> type;

        Fault(Class<? extends Error> type) {
            this.type = type;
        }

        abstract void happen(Connection connection) throws RdmaException;
    }

    private static int overflow() {
        return overflow() + 1;
    }

    /** A server whose connections share a loop, or have none, and the fault that happens to some. */
    private static final class Served implements AutoCloseable {
        private final Peers peers = new Peers();
        private final Events events;
        private final Listener listener;

        Served(boolean loop, Events events) throws RdmaException {
            this.events = events;
            ConnectionSettings.Builder settings = ConnectionSettings.builder().handler(events);
            if (loop) {
                settings.loops(peers.servers.startLoops(LoopSettings.defaults()));
            }
            listener = peers.servers.listen(new InetSocketAddress(peers.listener.address().getAddress(), 0), 64,
                    settings.build());
            listener.acceptAll();
        }

        Connection connect() throws Exception {
            Connection client = peers.clients.connect(listener.address(), Peers.TIMEOUT);
            events.expect("connected");
            return client;
        }

        /** Checks that one connection has ended, for the given reason, and that others have not. */
        void expectEnd(Class<? extends Error> reason, Connection ended, Connection other) throws Exception {
            Events.Event end = events.expect("disconnected");
            assertThat(end.reason()).hasRootCauseInstanceOf(reason);
            assertThat(end.connection().peerAddress()).isEqualTo(ended.localAddress());
            assertThatThrownBy(() -> {
                while (true) {
                    ended.receive(Peers.TIMEOUT).close();
                }
            }).isInstanceOf(DisconnectedException.class);
            end.connection().close();
            other.send("still".getBytes(), Peers.TIMEOUT);
            events.expect("message still");
            connect().send("new".getBytes(), Peers.TIMEOUT);
            events.expect("message new");
        }

        @Override
        public void close() throws RdmaException {
            peers.close();
        }
    }

    /** Lets a fault happen when a message is its name. */
    private static final class Faulty extends Events {
        @Override
        public void onMessage(Connection connection, Message message) {
            String text = new String(message.toArray());
            if (Character.isUpperCase(text.charAt(0))) {
                try {
                    Fault.valueOf(text).happen(connection);
                } catch (RdmaException e) {
                    throw new IllegalStateException(e);
                }
            } else {
                super.onMessage(connection, message);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void anErrorEndsItsConnectionInALoop(Fault fault) throws Exception {
        anErrorEndsItsConnection(true, fault);
    }

    @ParameterizedTest
    @EnumSource
    void anErrorEndsItsConnectionWithoutALoop(Fault fault) throws Exception {
        anErrorEndsItsConnection(false, fault);
    }

    private static void anErrorEndsItsConnection(boolean loop, Fault fault) throws Exception {
        try (Served served = new Served(loop, new Faulty()); Connection other = served.connect();
                Connection client = served.connect()) {
            client.send(fault.name().getBytes(), Peers.TIMEOUT);
            served.expectEnd(fault.type, client, other);
        }
    }

    /** The future of the action fails; the connection has nothing to do with it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anErrorInADependentActionHoldsUpNothing(boolean loop) throws Exception {
        CompletableFuture<CompletableFuture<Integer>> action = new CompletableFuture<>();
        Events events = new Events() {
            @Override
            public void onConnect(Connection connection) {
                super.onConnect(connection);
                action.complete(connection.async().send(MemorySegment.ofArray(new byte[1]))
                        .thenApply(ignored -> overflow()));
            }
        };
        try (Served served = new Served(loop, events); Connection client = served.connect()) {
            CompletableFuture<Integer> failed = action.get(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            assertThatThrownBy(() -> failed.get(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class).hasCauseInstanceOf(StackOverflowError.class);
            client.receive(Peers.TIMEOUT).close();
            client.send("still".getBytes(), Peers.TIMEOUT);
            events.expect("message still");
        }
    }

    @Test
    void anErrorInWhatDependsOnAConnectHoldsUpNoOtherConnect() throws Exception {
        try (Peers peers = new Peers()) {
            CompletableFuture<Integer> failed = peers.clients.connectAsync(peers.listener.address(),
                    ConnectionSettings.defaults(), Peers.TIMEOUT).thenApply(ignored -> overflow());
            peers.listener.accept(Peers.TIMEOUT);
            assertThatThrownBy(() -> failed.get(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class).hasCauseInstanceOf(StackOverflowError.class);
            peers.connect().close();
        }
    }

    /** What is closed where the stack is used up, and then a little higher, until that succeeds. */
    enum Closed {
        CONNECTION {
            @Override
            AutoCloseable of(Peers peers, Connection connection) {
                return connection;
            }
        },
        LISTENER {
            @Override
            AutoCloseable of(Peers peers, Connection connection) {
                return peers.listener;
            }
        },
        MANAGER {
            @Override
            AutoCloseable of(Peers peers, Connection connection) {
                return peers.servers;
            }
        };

        abstract AutoCloseable of(Peers peers, Connection connection);
    }

    @ParameterizedTest
    @EnumSource
    void aCloseThatOverflowedTheStackIsCarriedOnWith(Closed closed) throws Exception {
        // Each time at hundreds of depths.
        for (int i = 0; i < 3; i++) {
            Peers peers = new Peers();
            Peers.Pair pair = peers.connect();
            AutoCloseable object = closed.of(peers, pair.server());
            try (Background<Boolean> closing = Background.call(() -> closeDeepDown(object))) {
                assertThat(closing.result()).isTrue();
            }
            object.close();
            if (closed != Closed.LISTENER) {
                assertThatThrownBy(() -> pair.client().receive(Peers.TIMEOUT))
                        .isInstanceOf(DisconnectedException.class);
            }
            peers.close();
        }
    }

    @Test
    void aCloseInALoopThatOverflowedTheStackHoldsUpNoOther() throws Exception {
        try (Peers peers = new Peers()) {
            ConnectionSettings inLoop = ConnectionSettings.builder()
                    .loops(peers.clients.startLoops(LoopSettings.defaults())).build();
            try (Peers.Pair other = peers.connect(inLoop)) {
                for (int i = 0; i < 3; i++) {
                    Peers.Pair pair = peers.connect(inLoop);
                    try (Background<Boolean> closing = Background.call(() -> closeDeepDown(pair.client()))) {
                        assertThat(closing.result()).isTrue();
                    }
                    assertThatThrownBy(() -> pair.server().receive(Peers.TIMEOUT))
                            .isInstanceOf(DisconnectedException.class);
                    pair.close();
                    other.client().send(new byte[1], Peers.TIMEOUT);
                    other.server().receive(Peers.TIMEOUT).close();
                }
            }
        }
    }

    private static boolean closeDeepDown(AutoCloseable object) throws Exception {
        boolean closed = false;
        try {
            closed = closeDeepDown(object);
            if (!closed) {
                object.close();
                closed = true;
            }
        } catch (StackOverflowError e) {
            // The caller has more stack.
        }
        return closed;
    }
}
