// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** A server and a client, each with a manager of its own, and connections between them. */
final class Peers implements AutoCloseable {
    /** Long enough for the slowest guest; nothing waits that long when all is well. */
    static final Duration TIMEOUT = Duration.ofMinutes(4);
    static final Duration LONG = Duration.ofDays(1);

    final ConnectionManager servers = ConnectionManager.open();
    final ConnectionManager clients = ConnectionManager.open();
    final Listener listener;

    Peers() throws RdmaException {
        this(64, ConnectionSettings.defaults());
    }

    Peers(int backlog, ConnectionSettings settings) throws RdmaException {
        listener = servers.listen(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0), backlog, settings);
    }

    Pair connect() throws Exception {
        return connect(ConnectionSettings.defaults());
    }

    Pair connect(ConnectionSettings clientSettings) throws Exception {
        try (Background<Connection> connecting = Background.call(
                () -> clients.connect(listener.address(), clientSettings, TIMEOUT))) {
            Connection server = listener.accept(TIMEOUT);
            return new Pair(server, connecting.result());
        }
    }

    /** The two ends of a connection. */
    record Pair(Connection server, Connection client) implements AutoCloseable {
        @Override
        public void close() throws RdmaException {
            client.close();
            server.close();
        }
    }

    @Override
    public void close() throws RdmaException {
        clients.close();
        servers.close();
    }
}
