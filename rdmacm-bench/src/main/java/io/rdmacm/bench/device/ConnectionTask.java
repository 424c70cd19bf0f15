// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.Allocation;
import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.WaitPolicy;

/** One end of a trial over a {@link Connection}. */
abstract class ConnectionTask implements PeerTask {
    /** The longest time to wait for anything. */
    static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int RECEIVES = 64;
    // the defaults, and the depth of the streams
    private static final int IN_FLIGHT = 16;
    private static final int BACKLOG = 1;

    private final Trial trial;
    private final boolean client;
    private final int warmUp;
    private final Port port;
    private final ConnectionManager manager;
    private final ConnectionSettings settings;
    // null for a client
    private final Listener listener;
    private final Allocation allocation = new Allocation();
    private Connection connection;

    /**
     * Prepares an end; a server listens.
     *
     * @param trial what is measured
     * @param client whether this is the side that measures
     * @param warmUp how many operations precede those that count
     * @param handler what handles messages in the thread of a loop; null if this side receives them itself
     * @param loop whether a loop drives the connection, with or without a handler
     */
    ConnectionTask(Trial trial, boolean client, int warmUp, ConnectionHandler handler, boolean loop)
            throws IOException {
        this.trial = trial;
        this.client = client;
        this.warmUp = warmUp;
        port = Port.find();
        manager = ConnectionManager.open();
        boolean complete = false;
        try {
            settings = settings(handler, loop);
            listener = client ? null
                    : manager.listen(new InetSocketAddress(port.requireAddress(), 0), BACKLOG, settings);
            complete = true;
        } finally {
            if (!complete) {
                manager.close();
            }
        }
    }

    /**
     * Prepares an end of the right kind.
     *
     * @param trial what is measured
     * @param client whether this is the side that measures
     * @param warmUp how many operations precede those that count
     */
    static ConnectionTask open(Trial trial, boolean client, int warmUp) throws IOException {
        return switch (trial.pattern()) {
            case ROUND_TRIP -> trial.way() == Trial.Way.RECEIVE ? new ReceivingRoundTrips(trial, client, warmUp)
                    : HandledRoundTrips.open(trial, client, warmUp);
            case STREAM -> trial.way() == Trial.Way.RECEIVE ? new CopyingStream(trial, client, warmUp)
                    : client ? new OperationStream(trial, warmUp) : HandledStream.open(trial, warmUp);
            case READS -> client ? new OperationStream(trial, warmUp) : new ReadTarget(trial, warmUp);
        };
    }

    private ConnectionSettings settings(ConnectionHandler handler, boolean loop) throws IOException {
        WaitPolicy policy = switch (trial.polling()) {
            case BUSY, YIELD -> WaitPolicy.spinAlways();
            case EVENTS -> WaitPolicy.sleepAtOnce();
            case AWAIT -> WaitPolicy.defaults();
        };
        ConnectionSettings.Builder builder = ConnectionSettings.builder().messageSize(trial.size())
                .receiveBuffers(RECEIVES).sendBuffers(IN_FLIGHT).operations(IN_FLIGHT).waiting(policy)
                .handler(handler).parameters(ConnectionParameters.builder().responderResources(port.reads())
                        .initiatorDepth(port.reads()).build());
        if (loop) {
            builder.loops(manager.startLoops(LoopSettings.builder().waiting(policy).build()));
        }
        return builder.build();
    }

    /** {@return the address of the port} */
    @Override
    public String address() throws IOException {
        return client ? "none" : listener.address().getAddress().getHostAddress() + " " + listener.address().getPort();
    }

    @Override
    public void connect(String peer) throws IOException, InterruptedException {
        if (client) {
            String[] words = peer.split(" ");
            connection = manager.connect(new InetSocketAddress(words[0], Integer.parseInt(words[1])), settings, LIMIT);
        } else {
            connection = listener.accept(LIMIT);
        }
        connected();
    }

    /** Prepares what needs a connection. */
    void connected() throws IOException, InterruptedException {
    }

    Trial trial() {
        return trial;
    }

    boolean isClient() {
        return client;
    }

    int warmUp() {
        return warmUp;
    }

    /** {@return how many operations there are, with those that do not count} */
    int total() {
        return warmUp + trial.iterations();
    }

    Connection connection() {
        return connection;
    }

    Allocation allocation() {
        return allocation;
    }

    @Override
    public double allocated() {
        return allocation.each();
    }

    /** Frees what was made with the connection. */
    void release() throws IOException {
    }

    @Override
    public void close() throws IOException {
        if (connection != null) {
            connection.close();
        }
        release();
        manager.close();
    }
}
