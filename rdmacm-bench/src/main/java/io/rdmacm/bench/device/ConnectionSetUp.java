// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.verbs.error.RdmaException;

/** Sets up many connections at once through a {@link ConnectionManager}, or accepts them, while the process lives. */
final class ConnectionSetUp {
    private static final int BACKLOG = 1024;
    private static final int SHARED_RECEIVES = 256;
    private static final double NANOS_PER_MICRO = 1000;

    private final ConnectionManager manager;
    private final ConnectionSettings.Builder settings;

    /** Opens a manager. */
    ConnectionSetUp(Receives receives) throws IOException {
        manager = ConnectionManager.open();
        settings = ConnectionSettings.builder();
        if (receives != Receives.QUEUES) {
            LoopSettings.Builder loops = LoopSettings.builder();
            if (receives == Receives.SHARED) {
                loops.sharedReceives(SHARED_RECEIVES, ConnectionSettings.defaults().messageSize());
            }
            settings.loops(manager.startLoops(loops.build())).receiveBuffers(1).sendBuffers(1).operations(1);
        }
    }

    /** What connections share. */
    enum Receives {
        /** The receives, the completion queue and the thread of a loop: as those of cmtime, they post none. */
        SHARED(0),
        /** The completion queue and the thread of a loop: each posts one receive. */
        OWN(1),
        /** Nothing: each has its own completion queue, and the default number of receives. */
        QUEUES(ConnectionSettings.defaults().receiveBuffers());

        private final int posted;

        Receives(int posted) {
            this.posted = posted;
        }

        /** {@return the number of receives that each connection posts} */
        int posted() {
            return posted;
        }

        static Receives of(String id) {
            return valueOf(id.toUpperCase(Locale.ROOT));
        }

        String id() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Accepts connections from now on, and closes them when the client disconnects.
     *
     * @param address the address to listen on
     * @return the port
     */
    int accept(InetAddress address) throws IOException {
        settings.handler(new ConnectionHandler() {
            @Override
            public void onDisconnect(Connection connection, RdmaException reason) {
                try {
                    connection.close();
                } catch (RdmaException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        Listener listener = manager.listen(new InetSocketAddress(address, 0), BACKLOG, settings.build());
        listener.acceptAll();
        return listener.address().getPort();
    }

    /**
     * Connects, and disconnects when all connections are established.
     *
     * @param server the address of the server
     * @param count the number of connections
     * @return the microseconds per connection until all were established
     */
    double connect(InetSocketAddress server, int count) throws IOException {
        ConnectionSettings all = settings.build();
        long start = System.nanoTime();
        List<Connection> connections = connect(manager, server, all, count);
        long nanos = System.nanoTime() - start;
        for (Connection connection : connections) {
            connection.close();
        }
        return nanos / NANOS_PER_MICRO / count;
    }

    /** {@return connections that were set up at once} */
    static List<Connection> connect(ConnectionManager manager, InetSocketAddress server, ConnectionSettings settings,
            int count) throws IOException {
        List<CompletableFuture<Connection>> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            futures.add(manager.connectAsync(server, settings, ConnectionTask.LIMIT));
        }
        try {
            return futures.stream().map(CompletableFuture::join).toList();
        } catch (CompletionException e) {
            throw new IOException(e.getCause());
        }
    }
}
