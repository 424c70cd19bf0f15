// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaException;

/** Connections that carry messages; one loop drives both ends of all. */
final class OpenConnections extends OpenEnds<Connection> {
    private static final Duration LIMIT = Duration.ofSeconds(LIMIT_SECONDS);
    private static final int SHARED_RECEIVES = 1024;
    private static final int LARGEST_MESSAGE = 4096;
    private static final int BUFFERS = 4;

    private final ConnectionManager manager = ConnectionManager.open();
    private final Listener listener;
    private final ConnectionSettings settings;
    private final MemorySegment data = Arena.ofAuto().allocate(MESSAGE);

    /**
     * Creates the end that listens.
     *
     * @param shared whether all share receives, instead of having their own
     */
    OpenConnections(boolean shared) throws IOException {
        LoopSettings.Builder loops = LoopSettings.builder();
        if (shared) {
            loops.sharedReceives(SHARED_RECEIVES, LARGEST_MESSAGE);
        }
        ConnectionSettings.Builder builder = ConnectionSettings.builder().messageSize(LARGEST_MESSAGE)
                .sendBuffers(BUFFERS).operations(BUFFERS).handshakeTimeout(LIMIT)
                .loops(manager.startLoops(loops.build()));
        listener = manager.listen(Port.anyPort(), AT_ONCE, builder.handler(new Echo()).build());
        listener.acceptAll();
        settings = builder.handler(new Answers()).build();
    }

    /** Sends back what it receives. */
    private static final class Echo implements ConnectionHandler {
        @Override
        public void onMessage(Connection connection, Message message) throws RdmaException {
            connection.queue().send(message.memory());
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) throws RdmaException {
            connection.close();
        }
    }

    /** Takes what is sent back. */
    private final class Answers implements ConnectionHandler {
        @Override
        public void onMessage(Connection connection, Message message) {
            answered.release(message.length());
        }
    }

    @Override
    Callable<Connection> connect() {
        var connecting = manager.connectAsync(listener.address(), settings, LIMIT);
        return () -> {
            Connection connection = connecting.get();
            connection.queue().send(data);
            return connection;
        };
    }

    @Override
    void close(Connection connection) throws RdmaException {
        connection.close();
    }

    @Override
    public void close() throws IOException {
        manager.close();
    }
}
