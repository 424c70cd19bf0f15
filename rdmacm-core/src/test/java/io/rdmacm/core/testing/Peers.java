// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** A server and a client in this JVM, each with a connection manager of its own. */
public final class Peers implements AutoCloseable {
    /** Long enough for the slowest machine. Tests reach it only if they fail. */
    public static final Duration TIMEOUT = Duration.ofMinutes(4);
    /** For waits that something else is to end. */
    public static final Duration LONG = Duration.ofDays(1);

    public final ConnectionManager servers = ConnectionManager.open();
    public final ConnectionManager clients = ConnectionManager.open();
    public final Listener listener;

    /** Starts a server with the default settings. */
    public Peers() throws RdmaException {
        this(64, ConnectionSettings.defaults());
    }

    /** Starts a server with the given backlog and settings. */
    public Peers(int backlog, ConnectionSettings settings) throws RdmaException {
        listener = servers.listen(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0), backlog, settings);
    }

    /** Connects a client with the default settings. */
    public Pair connect() throws Exception {
        return connect(ConnectionSettings.defaults());
    }

    /** Connects a client. */
    public Pair connect(ConnectionSettings clientSettings) throws Exception {
        try (Background<Connection> connecting = Background.call(
                () -> clients.connect(listener.address(), clientSettings, TIMEOUT))) {
            Connection server = listener.accept(TIMEOUT);
            return new Pair(server, connecting.result());
        }
    }

    /** The two ends of a connection. */
    public record Pair(Connection server, Connection client) implements AutoCloseable {
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
