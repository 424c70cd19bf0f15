// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.verbs.error.RdmaException;

/** Sets up many connections at once through a {@link ConnectionManager}, again and again; or accepts them. */
final class ManagedConnections implements End, ConnectionHandler {
    private static final int BACKLOG = 1024;
    private static final int SHARED_RECEIVES = 256;
    private static final double NANOS_PER_MICRO = 1000;

    private final int count;
    private final int times;
    private final ConnectionManager manager;
    private final ConnectionSettings settings;
    // null for a client
    private final Listener listener;
    private InetSocketAddress server;

    /**
     * Prepares an end.
     *
     * @param receives what the connections share
     * @param count how many are set up at once
     * @param load how often
     * @param client whether this is the end that connects
     */
    ManagedConnections(Receives receives, int count, Load load, boolean client) throws IOException {
        this.count = count;
        this.times = load.total();
        manager = ConnectionManager.open();
        ConnectionSettings.Builder builder = ConnectionSettings.builder();
        if (receives != Receives.QUEUES) {
            LoopSettings.Builder loops = LoopSettings.builder();
            if (receives == Receives.SHARED) {
                loops.sharedReceives(SHARED_RECEIVES, ConnectionSettings.defaults().messageSize());
            }
            builder.loops(manager.startLoops(loops.build())).receiveBuffers(1).sendBuffers(1).operations(1);
        }
        settings = (client ? builder : builder.handler(this)).build();
        listener = client ? null : manager.listen(Port.anyPort(), BACKLOG, settings);
        if (listener != null) {
            listener.acceptAll();
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

        String id() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public Serializable address() throws IOException {
        return listener == null ? null : listener.address();
    }

    @Override
    public void connect(Serializable peer) {
        server = (InetSocketAddress) peer;
    }

    /** Connects, and disconnects when all connections are established. */
    @Override
    public Outcome run() throws IOException {
        long nanos = 0;
        for (int i = 0; i < times && listener == null; i++) {
            long start = System.nanoTime();
            List<Connection> connections = connect(manager, server, settings, count);
            nanos = System.nanoTime() - start;
            for (Connection connection : connections) {
                connection.close();
            }
        }
        return listener == null ? Cmtime.rate(nanos / NANOS_PER_MICRO / count) : null;
    }

    /** {@return connections that were set up at once} */
    static List<Connection> connect(ConnectionManager manager, InetSocketAddress server, ConnectionSettings settings,
            int count) throws IOException {
        List<CompletableFuture<Connection>> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            futures.add(manager.connectAsync(server, settings, ConnectionEnd.LIMIT));
        }
        try {
            return futures.stream().map(CompletableFuture::join).toList();
        } catch (CompletionException e) {
            throw new IOException(e.getCause());
        }
    }

    @Override
    public void onDisconnect(Connection connection, RdmaException reason) throws RdmaException {
        connection.close();
    }

    @Override
    public void close() throws IOException {
        manager.close();
    }
}
