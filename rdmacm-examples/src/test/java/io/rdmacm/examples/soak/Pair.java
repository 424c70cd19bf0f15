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

/** The two sides of a connection, both driven by one thread. */
record Pair(Side server, Side client) implements AutoCloseable {

    /** A listener with its channel, and the channel of the clients. */
    record Fixture(EventChannel servers, CmId listener, EventChannel clients) implements Closeable {
        private static final int BACKLOG = 16;

        /** Returns the fixture of a worker. */
        static Fixture of(Worker worker) throws Exception {
            return worker.shared(Fixture.class, () -> {
                EventChannel servers = EventChannel.open();
                CmId listener = CmId.open(servers, PortSpace.TCP);
                listener.bindAddress(worker.anyPort());
                listener.listen(BACKLOG);
                return new Fixture(servers, listener, EventChannel.open());
            });
        }

        /** Creates a client id with address and route resolved. */
        CmId resolved(Worker worker) throws RdmaException, InterruptedException {
            CmId id = CmId.open(clients, PortSpace.TCP);
            boolean resolved = false;
            try {
                id.resolveAddress(listener.localAddress(), worker.timeout());
                clients.await(id, CmEventType.ADDR_RESOLVED, worker.timeout()).close();
                id.resolveRoute(worker.timeout());
                clients.await(id, CmEventType.ROUTE_RESOLVED, worker.timeout()).close();
                resolved = true;
                return id;
            } finally {
                if (!resolved) {
                    id.close();
                }
            }
        }

        /** Returns the id of the next connection request. */
        CmId request(Worker worker) throws RdmaException, InterruptedException {
            try (CmEvent request = servers.await(listener, CmEventType.CONNECT_REQUEST, worker.timeout())) {
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

    /** Creates the server's side. */
    @FunctionalInterface
    private interface Maker {
        Side make(CmId id) throws RdmaException;
    }

    /** Connects two sides of random kinds, with unlimited RNR retries. */
    static Pair connect(Worker worker, RandomGenerator random) throws Exception {
        return connect(worker, random, random.nextBoolean(), ConnectionParameters.defaults());
    }

    /**
     * Connects two sides.
     *
     * @param sharedReceives whether the server has a shared receive queue
     */
    static Pair connect(Worker worker, RandomGenerator random, boolean sharedReceives, ConnectionParameters parameters)
            throws Exception {
        return connect(worker, random, parameters,
                id -> Side.of(worker, id, Side.Kinds.any(random, sharedReceives)));
    }

    /** Connects one more client to a side that has a shared receive queue. */
    static Pair connect(Worker worker, RandomGenerator random, Side first) throws Exception {
        return connect(worker, random, ConnectionParameters.defaults(), id -> Side.beside(first, id));
    }

    private static Pair connect(Worker worker, RandomGenerator random, ConnectionParameters parameters, Maker maker)
            throws Exception {
        Fixture fixture = Fixture.of(worker);
        Side client = Side.of(worker, fixture.resolved(worker), Side.Kinds.any(random));
        Side server = null;
        boolean connected = false;
        try {
            client.id().connect(parameters);
            server = maker.make(fixture.request(worker));
            server.id().accept(parameters);
            // The client first: reading this event makes librdmacm answer the server.
            fixture.clients.await(client.id(), CmEventType.ESTABLISHED, worker.timeout()).close();
            fixture.servers.await(server.id(), CmEventType.ESTABLISHED, worker.timeout()).close();
            worker.counters().countConnection();
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

    /** Disconnects in order: one side disconnects, the other one sees it and answers. */
    void disconnect(Worker worker) throws RdmaException, InterruptedException {
        client.id().disconnect();
        server.id().channel().await(server.id(), CmEventType.DISCONNECTED, worker.timeout()).close();
        server.id().disconnect();
        client.id().channel().await(client.id(), CmEventType.DISCONNECTED, worker.timeout()).close();
    }

    @Override
    public void close() throws RdmaException {
        client.close();
        server.close();
    }
}
