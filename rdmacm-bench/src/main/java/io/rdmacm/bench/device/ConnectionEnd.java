// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.verbs.error.RdmaException;

/** One end of a {@link Connection}. */
final class ConnectionEnd implements End {
    /** The longest time to wait for anything. */
    static final Duration LIMIT = Duration.ofMinutes(2);
    /** The size of the receive buffers where messages are larger. */
    static final int SMALL_MESSAGE = 1024;

    private static final int RECEIVES = 64;
    // the defaults, and the depth of the streams
    private static final int IN_FLIGHT = 16;
    private static final int LARGE_MESSAGES = 2;
    private static final int BACKLOG = 1;

    private final ConnectionWork work;
    private final ConnectionManager manager;
    private final ConnectionSettings settings;
    // null for a client
    private final Listener listener;
    private Connection connection;

    /** Prepares an end; a server listens. */
    ConnectionEnd(ConnectionTrial trial, Load load, boolean client, ConnectionWork work) throws IOException {
        this.work = work;
        manager = ConnectionManager.open();
        boolean complete = false;
        try {
            settings = settings(trial, load);
            listener = client ? null : manager.listen(Port.anyPort(), BACKLOG, settings);
            complete = true;
        } finally {
            if (!complete) {
                manager.close();
            }
        }
    }

    private ConnectionSettings settings(ConnectionTrial trial, Load load) throws IOException {
        WaitPolicy policy = switch (trial.polling()) {
            case BUSY, YIELD -> WaitPolicy.spinAlways();
            case EVENTS -> WaitPolicy.sleepAtOnce();
            case AWAIT -> WaitPolicy.defaults();
        };
        int reads = Port.find().reads();
        ConnectionSettings.Builder builder = ConnectionSettings.builder().messageSize(load.size())
                .receiveBuffers(RECEIVES).sendBuffers(IN_FLIGHT).operations(IN_FLIGHT).waiting(policy)
                .handler(work.handler()).parameters(ConnectionParameters.builder().responderResources(reads)
                        .initiatorDepth(reads).build());
        if (trial.pattern() == ConnectionTrial.Pattern.LARGE) {
            builder.messageSize(SMALL_MESSAGE).largeMessages(load.size(), LARGE_MESSAGES);
        }
        if (work.loop()) {
            builder.loops(manager.startLoops(LoopSettings.builder().waiting(policy).build()));
        }
        return builder.build();
    }

    @Override
    public Serializable address() throws IOException {
        return listener == null ? null : listener.address();
    }

    @Override
    public void connect(Serializable peer) throws IOException, InterruptedException {
        connection = listener == null ? manager.connect((InetSocketAddress) peer, settings, LIMIT)
                : listener.accept(LIMIT);
        work.connected(connection);
    }

    @Override
    public Outcome run() throws IOException, InterruptedException {
        return work.run(connection);
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

    @Override
    public void close() throws IOException {
        if (connection != null) {
            connection.close();
        }
        work.close();
        manager.close();
    }
}
