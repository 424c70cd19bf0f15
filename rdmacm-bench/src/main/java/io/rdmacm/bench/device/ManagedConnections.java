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

    private final Receives receives;
    private final int count;

    /**
     * Prepares an end.
     *
     * @param receives what the connections share
     * @param count how many are set up at once
     * @param load how often
     * @param client whether this is the end that connects
     */
    ManagedConnections(Receives receives, int count, Load load, boolean client) throws IOException {
        super(load, client);
        this.receives = receives;
        this.count = count;
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
    }

    @Override
    ConnectionSettings settings() throws IOException {
        ConnectionSettings.Builder builder = ConnectionSettings.builder();
        if (receives != Receives.QUEUES) {
            LoopSettings.Builder loops = LoopSettings.builder();
            if (receives == Receives.SHARED) {
                loops.sharedReceives(SHARED_RECEIVES, ConnectionSettings.defaults().messageSize());
            }
            builder.loops(manager.startLoops(loops.build())).receiveBuffers(1).sendBuffers(1).operations(1);
        }
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
