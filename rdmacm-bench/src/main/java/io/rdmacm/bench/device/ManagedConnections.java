// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;
import java.util.List;

import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.verbs.error.RdmaException;

/** Sets up many connections at once through a connection manager, again and again; or accepts them. */
final class ManagedConnections extends ConnectionEnd implements ConnectionHandler {
    private static final int SHARED_RECEIVES = 256;
    private static final double NANOS_PER_MICRO = 1000;

    private final boolean shared;
    private final int count;

    /**
     * Prepares an end.
     *
     * @param shared whether the connections share the receives of a loop: as those of cmtime, they post none. If not,
     *         each posts one. They always share its completion queue and its thread.
     * @param count how many are set up at once
     * @param load how often
     * @param client whether this is the end that connects
     */
    ManagedConnections(boolean shared, int count, Load load, boolean client) throws IOException {
        super(load, client);
        this.shared = shared;
        this.count = count;
    }

    @Override
    ConnectionSettings settings() throws IOException {
        LoopSettings.Builder loops = LoopSettings.builder();
        if (shared) {
            loops.sharedReceives(SHARED_RECEIVES, ConnectionSettings.defaults().messageSize());
        }
        ConnectionSettings.Builder builder = ConnectionSettings.builder().loops(manager.startLoops(loops.build()))
                .receiveBuffers(1).sendBuffers(1).operations(1);
        return (client ? builder : builder.handler(this)).build();
    }

    @Override
    public void connect(Serializable peer) throws IOException, InterruptedException {
        super.connect(peer);
        if (!client) {
            listener.acceptAll();
        }
    }

    /** Connects, and disconnects when all connections are established. */
    @Override
    public Outcome run() throws IOException {
        if (!client) {
            return null;
        }
        long nanos = 0;
        for (int i = 0; i < load.total(); i++) {
            long start = System.nanoTime();
            List<Connection> connections = connect(count);
            nanos = System.nanoTime() - start;
            for (Connection connection : connections) {
                connection.close();
            }
        }
        return Cmtime.rate(nanos / NANOS_PER_MICRO / count);
    }

    @Override
    public void onDisconnect(Connection connection, RdmaException reason) throws RdmaException {
        connection.close();
    }
}
