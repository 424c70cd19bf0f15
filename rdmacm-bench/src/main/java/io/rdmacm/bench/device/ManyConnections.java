// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.rdmacm.bench.device.machine.Usage;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaException;

/**
 * One end of many connections in one loop: what they take of memory, files and threads of the server, and the time to
 * set them up. The client sends a message over each, which the server answers: over some first, so that what those take
 * that follow does not include the code and what all share.
 */
final class ManyConnections extends ConnectionEnd implements ConnectionHandler {
    private static final int AT_ONCE = 100;
    private static final int BUFFERS = 4;
    private static final int SHARED_RECEIVES = 1024;
    private static final int LARGEST_MESSAGE = 4096;
    private static final int MESSAGE = 64;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double KIB = 1024;

    private final boolean shared;
    private final int count;
    private final int early;
    private final MemorySegment data = Arena.ofAuto().allocate(MESSAGE);
    private final CompletableFuture<Void> first = new CompletableFuture<>();
    // with the first connections
    private Usage before;
    // only used by the thread of the loop
    private int received;

    /**
     * Prepares an end.
     *
     * @param shared whether the connections share receives, instead of having their own
     * @param load how many connections count
     * @param client whether this is the end that connects
     */
    ManyConnections(boolean shared, Load load, boolean client) throws IOException {
        super(load, client);
        this.shared = shared;
        this.count = load.iterations();
        this.early = Math.min(AT_ONCE, count);
    }

    @Override
    ConnectionSettings settings() throws IOException {
        LoopSettings.Builder loops = LoopSettings.builder();
        if (shared) {
            loops.sharedReceives(SHARED_RECEIVES, LARGEST_MESSAGE);
        }
        return ConnectionSettings.builder().messageSize(LARGEST_MESSAGE).sendBuffers(BUFFERS).operations(BUFFERS)
                .handshakeTimeout(LIMIT).handler(this).loops(manager.startLoops(loops.build())).build();
    }

    /** Sets up the first connections, and uses them. */
    @Override
    public void connect(Serializable peer) throws IOException, InterruptedException {
        super.connect(peer);
        if (client) {
            send(connect(early));
        } else {
            listener.acceptAll();
        }
        await(first);
        before = Usage.now();
    }

    /** Sets up the others; on the server, tells what they use. */
    @Override
    public Outcome run() throws IOException, InterruptedException {
        if (!client) {
            await(end);
            Usage used = Usage.now().minus(before);
            return Outcome.none().and("heap", "B/connection", (double) used.heap() / count)
                    .and("registered", "B/connection", (double) used.registered() / count)
                    .and("resident", "KiB/connection", used.resident() / KIB / count)
                    .and("files", "in all", used.files()).and("threads", "in all", used.threads());
        }
        List<Connection> connections = new ArrayList<>();
        long start = System.nanoTime();
        while (connections.size() < count) {
            connections.addAll(connect(Math.min(AT_ONCE, count - connections.size())));
        }
        long connected = System.nanoTime();
        send(connections);
        await(end);
        return Outcome.none().and("set_up", "s", (connected - start) / NANOS_PER_SECOND)
                .and("exchange", "s", (System.nanoTime() - connected) / NANOS_PER_SECOND);
    }

    private void send(List<Connection> connections) throws RdmaException {
        for (Connection connection : connections) {
            send(connection, data);
        }
    }

    @Override
    public void onMessage(Connection connection, Message message) throws RdmaException {
        if (!client) {
            send(connection, message.memory());
        }
        received++;
        if (received == early) {
            first.complete(null);
        } else if (received == early + count) {
            end.complete(null);
        }
    }

    @Override
    public void onDisconnect(Connection connection, RdmaException reason) throws RdmaException {
        first.completeExceptionally(reason);
        super.onDisconnect(connection, reason);
    }
}
