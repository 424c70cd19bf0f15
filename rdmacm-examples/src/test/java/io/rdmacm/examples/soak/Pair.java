// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.util.random.RandomGenerator;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaException;

/** Two sides that are connected, both played by one thread. */
record Pair(Side server, Side client) implements AutoCloseable {

    /** A listener and its channel, and the channel of the clients. */
    record Stand(EventChannel servers, CmId listener, EventChannel clients) implements Closeable {
        private static final int BACKLOG = 16;

        /** The one of a stage. */
        static Stand of(Stage stage) throws Exception {
            return stage.kept(Stand.class, () -> {
                EventChannel servers = EventChannel.open();
                CmId listener = CmId.open(servers, PortSpace.TCP);
                listener.bindAddress(stage.anyPort());
                listener.listen(BACKLOG);
                return new Stand(servers, listener, EventChannel.open());
            });
        }

        /** A client id that may connect. */
        CmId resolved(Stage stage) throws RdmaException, InterruptedException {
            CmId id = CmId.open(clients, PortSpace.TCP);
            boolean resolved = false;
            try {
                id.resolveAddress(listener.localAddress(), stage.patience());
                clients.await(id, CmEventType.ADDR_RESOLVED, stage.patience()).close();
                id.resolveRoute(stage.patience());
                clients.await(id, CmEventType.ROUTE_RESOLVED, stage.patience()).close();
                resolved = true;
                return id;
            } finally {
                if (!resolved) {
                    id.close();
                }
            }
        }

        /** The id of the next request. */
        CmId request(Stage stage) throws RdmaException, InterruptedException {
            try (CmEvent request = servers.await(listener, CmEventType.CONNECT_REQUEST, stage.patience())) {
                return request.id();
            }
        }

        @Override
        public void close() throws RdmaException {
            listener.close();
            servers.close();
            clients.close();
        }
    }

    /** Makes the server's side. */
    @FunctionalInterface
    private interface Maker {
        Side make(CmId id) throws RdmaException;
    }

    /** Connects two sides, with as many retries as there are. */
    static Pair connect(Stage stage, RandomGenerator random) throws Exception {
        return connect(stage, random, random.nextBoolean(), ConnectionParameters.defaults());
    }

    /**
     * Connects two sides.
     *
     * @param sharedReceives whether the server has a shared receive queue
     */
    static Pair connect(Stage stage, RandomGenerator random, boolean sharedReceives, ConnectionParameters parameters)
            throws Exception {
        return connect(stage, random, parameters,
                id -> Side.of(stage, id, Side.Kinds.any(random, sharedReceives)));
    }

    /** Connects one more client to a side that has a shared receive queue. */
    static Pair connect(Stage stage, RandomGenerator random, Side first) throws Exception {
        return connect(stage, random, ConnectionParameters.defaults(), id -> Side.beside(first, id));
    }

    private static Pair connect(Stage stage, RandomGenerator random, ConnectionParameters parameters, Maker maker)
            throws Exception {
        Stand stand = Stand.of(stage);
        Side client = Side.of(stage, stand.resolved(stage), Side.Kinds.any(random));
        Side server = null;
        boolean connected = false;
        try {
            client.id().connect(parameters);
            server = maker.make(stand.request(stage));
            server.id().accept(parameters);
            // The client first: taking this event is what makes librdmacm answer the server.
            stand.clients.await(client.id(), CmEventType.ESTABLISHED, stage.patience()).close();
            stand.servers.await(server.id(), CmEventType.ESTABLISHED, stage.patience()).close();
            stage.tally().connected();
            connected = true;
            return new Pair(server, client);
        } finally {
            if (!connected) {
                client.close();
                if (server != null) {
                    server.close();
                }
            }
        }
    }

    /** Ends the connection as it should be: one side disconnects, the other one sees it and answers. */
    void disconnect(Stage stage) throws RdmaException, InterruptedException {
        client.id().disconnect();
        server.id().channel().await(server.id(), CmEventType.DISCONNECTED, stage.patience()).close();
        server.id().disconnect();
        client.id().channel().await(client.id(), CmEventType.DISCONNECTED, stage.patience()).close();
    }

    @Override
    public void close() throws RdmaException {
        client.close();
        server.close();
    }
}
