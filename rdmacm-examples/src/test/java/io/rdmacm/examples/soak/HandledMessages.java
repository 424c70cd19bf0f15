// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.connection.OutgoingMessage;
import io.rdmacm.verbs.error.RdmaException;

/** The connection layer: a server of handlers that share their receives, and a client that sends in all ways. */
final class HandledMessages implements Scenario {
    private final int max;

    /**
     * Creates the scenario.
     *
     * @param max the most messages per connection
     */
    HandledMessages(int max) {
        this.max = max;
    }

    /** Sends each message back, and closes what has ended. */
    private static final class Echo implements ConnectionHandler {
        @Override
        public void onMessage(Connection connection, Message message) {
            connection.async().send(MemorySegment.ofArray(message.toArray()));
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) {
            try {
                connection.close();
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** A server whose handlers are called by a thread of the library, and a manager for the clients. */
    record Fixture(ConnectionManager servers, Listener listener, ConnectionManager clients)
            implements Layer.Server {
        @Override
        public InetSocketAddress address() {
            return listener.address();
        }

        static Fixture open(Worker worker) throws RdmaException {
            ConnectionManager servers = ConnectionManager.open();
            ConnectionSettings settings = MessageFixture.settings(worker).handler(new Echo())
                    .loops(servers.startLoops(LoopSettings.builder().sharedReceives(64, MessageFixture.SIZE).build()))
                    .build();
            Listener listener = servers.listen(worker.anyPort(), 16, settings);
            listener.acceptAll();
            return new Fixture(servers, listener, ConnectionManager.open());
        }

        @Override
        public void close() throws RdmaException {
            clients.close();
            servers.close();
        }
    }

    /** Returns the fixture of a worker. */
    static Fixture fixture(Worker worker) throws Exception {
        return worker.shared(Fixture.class, () -> Fixture.open(worker));
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        Fixture fixture = fixture(worker);
        long first = random.nextLong();
        int count = 1 + random.nextInt(max);
        int sizes = 1 + random.nextInt(MessageFixture.SIZE - Payload.HEADER);
        try (Connection connection = fixture.clients.connectAsync(fixture.listener.address(),
                MessageFixture.settings(worker).build(), worker.timeout())
                .get(worker.timeout().toMillis(), TimeUnit.MILLISECONDS)) {
            worker.counters().countConnection();
            CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
            int received = 0;
            for (int sent = 0; sent < count; sent++) {
                long number = first + sent;
                int size = Payload.HEADER + Math.floorMod(number, sizes);
                switch (random.nextInt(3)) {
                    case 0 -> Messages.send(worker, connection, number, size);
                    case 1 -> fillIn(worker, connection, number, size);
                    default -> {
                        MemorySegment memory = MemorySegment.ofArray(new byte[size]);
                        Payload.write(memory, number);
                        last = connection.async().send(memory);
                    }
                }
                if (sent - received + 1 == MessageFixture.BUFFERS / 2) {
                    Messages.receive(worker, connection, first + received++);
                }
            }
            while (received < count) {
                Messages.receive(worker, connection, first + received++);
            }
            last.get(worker.timeout().toMillis(), TimeUnit.MILLISECONDS);
            LossException.unless(connection.counters().messagesSent() == count, "%s of %s messages were sent",
                    connection.counters(), count);
        }
    }

    private static void fillIn(Worker worker, Connection connection, long number, int size) throws Exception {
        try (OutgoingMessage message = connection.message(size, worker.timeout())) {
            Payload.write(message.memory(), number);
            message.send(worker.timeout());
        }
    }
}
