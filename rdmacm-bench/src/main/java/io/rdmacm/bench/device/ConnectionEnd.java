// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.End;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.verbs.error.RdmaException;

/** One end of one or many {@linkplain Connection connections}; a server listens. */
abstract class ConnectionEnd extends End {
    /** The longest time to wait for anything. */
    static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int BACKLOG = 1024;

    final ConnectionManager manager = own(ConnectionManager.open());
    /** What a handler reaches or fails to reach, in the thread of a loop. */
    final CompletableFuture<Void> end = new CompletableFuture<>();
    // null for a client
    Listener listener;
    // null for a server
    InetSocketAddress server;
    private ConnectionSettings settings;

    ConnectionEnd(Load load, boolean client) throws IOException {
        super(load, client);
    }

    /** {@return the settings of all connections of this end; called once} */
    abstract ConnectionSettings settings() throws IOException;

    @Override
    public Serializable address() throws IOException {
        settings = settings();
        if (client) {
            return null;
        }
        listener = manager.listen(Port.anyPort(), BACKLOG, settings);
        return listener.address();
    }

    @Override
    public void connect(Serializable peer) throws IOException, InterruptedException {
        server = (InetSocketAddress) peer;
    }

    /** {@return so many connections with the server, set up at once} */
    List<Connection> connect(int count) throws IOException {
        List<CompletableFuture<Connection>> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            futures.add(manager.connectAsync(server, settings, LIMIT));
        }
        try {
            return futures.stream().map(CompletableFuture::join).toList();
        } catch (CompletionException e) {
            throw new IOException(e.getCause());
        }
    }

    /** Sends a message for which there has to be room. */
    static void send(Connection connection, MemorySegment message) throws RdmaException {
        if (!connection.queue().send(message)) {
            throw new IllegalStateException("no room for one message");
        }
    }

    /** Waits for what a handler reaches or fails to reach. */
    static void await(CompletableFuture<Void> end) throws IOException, InterruptedException {
        try {
            end.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("not finished within " + LIMIT.toSeconds() + " s", e);
        }
    }

    /** What an end that is a handler is told: there is no more to wait for. */
    public void onDisconnect(Connection connection, RdmaException reason) throws RdmaException {
        end.completeExceptionally(reason);
    }
}
