// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.verbs.error.RdmaException;

/** The connection layer: a manager with a listener for the servers, and a manager for the clients. */
record MessageFixture(ConnectionManager servers, Listener listener, ConnectionManager clients)
        implements Closeable {
    /** The maximum length of a message, in bytes. */
    static final int SIZE = 4096;
    /** How many messages each side buffers, that is, how many can be under way before a sender has to wait. */
    static final int BUFFERS = 16;

    private static final int BACKLOG = 16;

    /** Returns the fixture of a worker. */
    static MessageFixture of(Worker worker) throws Exception {
        return worker.shared(MessageFixture.class, () -> open(worker));
    }

    static MessageFixture open(Worker worker) throws RdmaException {
        ConnectionManager servers = ConnectionManager.open();
        return new MessageFixture(servers, servers.listen(worker.anyPort(), BACKLOG, settings(worker).build()),
                ConnectionManager.open());
    }

    /** Returns the settings of both sides. */
    static ConnectionSettings.Builder settings(Worker worker) {
        return ConnectionSettings.builder().messageSize(SIZE).receiveBuffers(BUFFERS).sendBuffers(BUFFERS)
                .handshakeTimeout(worker.timeout()).linger(worker.timeout());
    }

    /** Connects a client. */
    Connection connect(Worker worker) throws RdmaException, InterruptedException {
        return connect(worker, settings(worker).build());
    }

    /** Connects a client with its own settings. */
    Connection connect(Worker worker, ConnectionSettings settings) throws RdmaException, InterruptedException {
        Connection connection = clients.connect(listener.address(), settings, worker.timeout());
        worker.counters().countConnection();
        return connection;
    }

    /** Accepts the next connection. */
    Connection accept(Worker worker) throws RdmaException, InterruptedException {
        return listener.accept(worker.timeout());
    }

    @Override
    public void close() throws RdmaException {
        clients.close();
        servers.close();
    }
}
