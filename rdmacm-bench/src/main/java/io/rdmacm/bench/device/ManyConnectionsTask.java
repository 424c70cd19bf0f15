// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Usage;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaException;

/**
 * One end of many connections in one loop. The client sets them up and sends a message over each, which the server
 * answers: over some first, so that what those take that follow does not include the code and what all share.
 */
final class ManyConnectionsTask implements PeerTask {
    private static final int AT_ONCE = 100;
    private static final int BACKLOG = 1024;
    private static final int BUFFERS = 4;
    private static final int SHARED_RECEIVES = 1024;
    private static final int LARGEST_MESSAGE = 4096;
    private static final int MESSAGE = 64;
    private static final double NANOS_PER_SECOND = 1e9;

    private final boolean client;
    private final int count;
    private final ConnectionManager manager;
    private final ConnectionSettings settings;
    private final Messages messages;
    // null for a client
    private final Listener listener;
    // null for a server
    private InetSocketAddress server;
    // with the first connections
    private Usage before;

    private ManyConnectionsTask(boolean shared, int count, boolean client) throws IOException {
        this.client = client;
        this.count = count;
        messages = new Messages(client, count);
        manager = ConnectionManager.open();
        boolean complete = false;
        try {
            LoopSettings.Builder loops = LoopSettings.builder();
            if (shared) {
                loops.sharedReceives(SHARED_RECEIVES, LARGEST_MESSAGE);
            }
            settings = ConnectionSettings.builder().messageSize(LARGEST_MESSAGE).sendBuffers(BUFFERS)
                    .operations(BUFFERS).handshakeTimeout(ConnectionTask.LIMIT).handler(messages)
                    .loops(manager.startLoops(loops.build())).build();
            listener = client ? null : manager.listen(
                    new InetSocketAddress(Port.find().requireAddress(), 0), BACKLOG, settings);
            complete = true;
        } finally {
            if (!complete) {
                manager.close();
            }
        }
        if (listener != null) {
            listener.acceptAll();
        }
    }

    /**
     * Prepares an end.
     *
     * @param what {@code shared} or {@code own}, for the receives, and the number of connections
     * @param client whether this is the end that connects
     */
    static ManyConnectionsTask open(String what, boolean client) throws IOException {
        String[] words = what.split(" ");
        return new ManyConnectionsTask(words[0].equals("shared"), Integer.parseInt(words[1]), client);
    }

    @Override
    public String address() throws IOException {
        return client ? "none" : listener.address().getAddress().getHostAddress() + " " + listener.address().getPort();
    }

    /** Sets up the first connections, and uses them. */
    @Override
    public void connect(String peer) throws IOException, InterruptedException {
        if (client) {
            String[] words = peer.split(" ");
            server = new InetSocketAddress(words[0], Integer.parseInt(words[1]));
            messages.send(ConnectionSetUp.connect(manager, server, settings, messages.early));
        }
        messages.first.await();
        before = Usage.now();
    }

    /** Sets up the others; on the server, tells what they use. */
    @Override
    public String run() throws IOException, InterruptedException {
        if (!client) {
            messages.all.await();
            return "used " + Usage.now().minus(before).encode();
        }
        List<Connection> connections = new ArrayList<>();
        long start = System.nanoTime();
        while (connections.size() < count) {
            connections.addAll(ConnectionSetUp.connect(manager, server, settings,
                    Math.min(AT_ONCE, count - connections.size())));
        }
        long connected = System.nanoTime();
        messages.send(connections);
        messages.all.await();
        return "took " + (connected - start) / NANOS_PER_SECOND + " "
                + (System.nanoTime() - connected) / NANOS_PER_SECOND;
    }

    @Override
    public double allocated() {
        return -1;
    }

    @Override
    public void close() throws IOException {
        manager.close();
    }

    /** The handler of either side. */
    private static final class Messages implements ConnectionHandler {
        private final Finish first = new Finish();
        private final Finish all = new Finish();
        private final MemorySegment data = Arena.ofAuto().allocate(MESSAGE);
        private final boolean client;
        private final int early;
        private final int count;
        // only used by the thread of the loop
        private int received;

        Messages(boolean client, int count) {
            this.client = client;
            this.early = Math.min(AT_ONCE, count);
            this.count = count;
        }

        void send(List<Connection> connections) throws RdmaException {
            for (Connection connection : connections) {
                send(connection, data);
            }
        }

        private static void send(Connection connection, MemorySegment message) throws RdmaException {
            if (!connection.queue().send(message)) {
                throw new IllegalStateException("no room for one message");
            }
        }

        @Override
        public void onMessage(Connection connection, Message message) {
            try {
                if (!client) {
                    send(connection, message.memory());
                }
                received++;
                if (received == early) {
                    first.reached();
                } else if (received == early + count) {
                    all.reached();
                }
            } catch (RdmaException | RuntimeException e) {
                failed(e);
            }
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) {
            failed(reason);
        }

        private void failed(Exception reason) {
            first.failed(reason);
            all.failed(reason);
        }
    }
}
