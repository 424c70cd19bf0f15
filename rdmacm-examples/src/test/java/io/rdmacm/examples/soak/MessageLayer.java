// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaClosedException;

/** The connection layer, with a server of handlers, or with large messages and a thread for each client. */
record MessageLayer(boolean large) implements Layer {
    /** What announces large messages. */
    static final int IMMEDIATE = 0x726d4a4c;

    private static final int LARGEST = 1 << 19;
    // of agreed sizes with large messages
    private static final int MAGIC = 0x726d4a32;

    private record Clients(ConnectionManager manager, Worker worker) implements Closeable {
        /** All clients are closed; a connection whose future was cancelled is so a little later. */
        @Override
        public void close() throws IOException {
            long end = System.nanoTime() + worker.timeout().toNanos();
            while (!manager.connections().isEmpty() && System.nanoTime() < end) {
                Thread.yield();
            }
            List<Connection> left = manager.connections();
            manager.close();
            if (!left.isEmpty()) {
                throw new IOException("still open: " + left);
            }
        }
    }

    private ConnectionSettings settings(Worker worker) {
        ConnectionSettings.Builder settings = MessageFixture.settings(worker);
        return large ? settings.largeMessages(LARGEST, 2).build() : settings.build();
    }

    @Override
    public Server serve(Worker worker) throws IOException {
        if (!large) {
            return HandledMessages.Fixture.open(worker);
        }
        ConnectionManager manager = ConnectionManager.open();
        Listener listener = manager.listen(worker.anyPort(), 16, settings(worker));
        return new AcceptingServer<>(worker, manager, listener.address(), () -> listener.accept(worker.timeout()),
                connection -> {
                    while (true) {
                        try (Message message = connection.receive(worker.timeout())) {
                            connection.send(message.memory(), worker.timeout());
                        }
                    }
                });
    }

    private final class MessageClient implements Client {
        private final Worker worker;
        private final ConnectionManager manager;
        // Both are guarded by this object.
        private CompletableFuture<Connection> connecting;
        private boolean closed;

        MessageClient(Worker worker) throws Exception {
            this.worker = worker;
            manager = worker.shared(Clients.class, () -> new Clients(ConnectionManager.open(), worker)).manager;
        }

        private synchronized Future<Connection> begin(InetSocketAddress server) {
            if (closed) {
                throw new CancellationException();
            }
            connecting = manager.connectAsync(server, settings(worker), worker.timeout());
            return connecting;
        }

        @Override
        public void connect(InetSocketAddress server) throws Exception {
            Connection ignored = worker.join(begin(server));
        }

        @Override
        public void exchange(long number, int length) throws Exception {
            Connection connection = connecting.get();
            if (connection.peerLargeMessageSize().isPresent()) {
                // Only native memory can be read by the peer.
                MemorySegment memory = Arena.ofAuto().allocate(length);
                Payload.write(memory, number);
                connection.send(memory, worker.timeout());
            } else {
                Messages.send(worker, connection, number,
                        Payload.HEADER + length % (MessageFixture.SIZE - Payload.HEADER));
            }
            Messages.receive(worker, connection, number);
        }

        @Override
        public void end() throws Exception {
            connecting.get().disconnect(worker.timeout());
        }

        @Override
        public synchronized void close() throws IOException {
            closed = true;
            if (connecting != null && !connecting.cancel(false) && connecting.state() == Future.State.SUCCESS) {
                connecting.resultNow().close();
            }
        }
    }

    @Override
    public Client client(Worker worker, RandomGenerator random) throws Exception {
        return new MessageClient(worker);
    }

    @Override
    public List<Class<? extends Exception>> closed() {
        return List.of(RdmaClosedException.class, CancellationException.class);
    }

    @Override
    public byte[] privateData() {
        return ByteBuffer.allocate(4 * Integer.BYTES).putInt(MAGIC).putInt(MessageFixture.SIZE).putInt(LARGEST)
                .putInt(2).array();
    }

    @Override
    public String toString() {
        return large ? "large-messages" : "messages";
    }
}
