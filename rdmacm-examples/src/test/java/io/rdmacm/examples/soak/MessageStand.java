// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.verbs.error.RdmaException;

/** A server's and a client's side of the connection layer. */
record MessageStand(ConnectionManager servers, Listener listener, ConnectionManager clients)
        implements Closeable {
    /** The longest message. */
    static final int SIZE = 4096;
    /** How many messages fit between the two without anybody waiting. */
    static final int BUFFERS = 16;

    private static final int BACKLOG = 16;

    /** The one of a stage. */
    static MessageStand of(Stage stage) throws Exception {
        return stage.kept(MessageStand.class, () -> open(stage));
    }

    static MessageStand open(Stage stage) throws RdmaException {
        ConnectionManager servers = ConnectionManager.open();
        return new MessageStand(servers, servers.listen(stage.anyPort(), BACKLOG, settings(stage).build()),
                ConnectionManager.open());
    }

    /** What both sides are made with. */
    static ConnectionSettings.Builder settings(Stage stage) {
        return ConnectionSettings.builder().messageSize(SIZE).receiveBuffers(BUFFERS).sendBuffers(BUFFERS)
                .handshakeTimeout(stage.patience()).linger(stage.patience());
    }

    /** A client's connection. */
    Connection connect(Stage stage) throws RdmaException, InterruptedException {
        return connect(stage, settings(stage).build());
    }

    /** A client's connection. */
    Connection connect(Stage stage, ConnectionSettings settings) throws RdmaException, InterruptedException {
        Connection connection = clients.connect(listener.address(), settings, stage.patience());
        stage.tally().connected();
        return connection;
    }

    /** A server's connection. */
    Connection accept(Stage stage) throws RdmaException, InterruptedException {
        return listener.accept(stage.patience());
    }

    @Override
    public void close() throws RdmaException {
        clients.close();
        servers.close();
    }
}
