// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.cm.StepTimes.Step;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.ProtectionDomain;

/**
 * The client of cmtime. It starts each step for all connections, one after the other, while a thread reads the events
 * that end the step; the next step starts when the last connection has ended this one.
 */
final class CmTimeClient {
    private static final int MAX_RETRIES = 7;

    private final CmTime options;
    private final StepTimes times;
    private final List<Connection> connections = new ArrayList<>();
    private final Map<CmId, Connection> connectionsById = new HashMap<>();
    private SocketAddress peer;
    // how many connections have not finished the step; guarded by this
    private int waiting;

    CmTimeClient(CmTime options) {
        this.options = options;
        this.times = new StepTimes(options.connections());
    }

    /** A connection. Its mutable fields are guarded by the client. */
    private static final class Connection {
        private final int index;
        private final CmId id;
        private final Resources queues = new Resources();
        // null before the route is resolved
        private ProtectionDomain domain;
        private int retries;
        // the step whose event is awaited, or null
        private Step pending;
        // what ended the connection too early, or null
        private IOException failure;

        Connection(int index, CmId id) {
            this.index = index;
            this.id = id;
        }
    }

    /** Does something with a connection. */
    @FunctionalInterface
    private interface Action {
        void run(Connection connection) throws IOException;
    }

    void run() throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open()) {
            AddressInfo address = options.addressToConnect();
            peer = address.destination().orElseThrow();
            try (Resources open = new Resources()) {
                open.onClose(this::destroy);
                create(channel);
                try (EventThread events = new EventThread(channel, this::handle)) {
                    connectAndDisconnect(address);
                    events.check();
                }
            }
            options.print(times.table());
        }
        requireNoFailures();
    }

    private void create(EventChannel channel) throws IOException {
        options.print("creating id");
        times.begin(Step.CREATE_ID);
        for (int i = 0; i < options.connections(); i++) {
            times.begin(Step.CREATE_ID, i);
            Connection connection = new Connection(i, CmId.open(channel, PortSpace.TCP));
            times.end(Step.CREATE_ID, i);
            connections.add(connection);
            connectionsById.put(connection.id, connection);
        }
        times.end(Step.CREATE_ID);
    }

    private void connectAndDisconnect(AddressInfo address) throws IOException, InterruptedException {
        if (address.source().isPresent()) {
            options.print("binding source address");
            atOnce(Step.BIND_ADDR, connection -> connection.id.bindAddress(address.source().orElseThrow()));
        }
        options.print("resolving address");
        untilEvents(Step.RESOLVE_ADDR, connection -> connection.id.resolveAddress(peer, options.resolveTimeout()));
        options.print("resolving route");
        untilEvents(Step.RESOLVE_ROUTE, connection -> connection.id.resolveRoute(options.resolveTimeout()));
        options.print("creating qp");
        for (Connection connection : connections) {
            if (connection.failure == null) {
                connection.domain = connection.id.context().allocateProtectionDomain();
            }
        }
        atOnce(Step.CREATE_QP,
                connection -> CmTime.createQueuePair(connection.id, connection.domain, connection.queues));
        options.print("connecting");
        ConnectionParameters parameters = ConnectionParameters.builder().privateData(address.connectData())
                .responderResources(1).initiatorDepth(1).retryCount(Math.min(options.retries(), MAX_RETRIES))
                .rnrRetryCount(0).build();
        untilEvents(Step.CONNECT, connection -> connection.id.connect(parameters));
        options.print("disconnecting");
        untilEvents(Step.DISCONNECT, connection -> {
            connection.id.disconnect();
            connection.queues.close();
        });
    }

    /** Runs a step that ends when its call returns, without an event. */
    private void atOnce(Step step, Action action) throws IOException, InterruptedException {
        untilEvents(step, connection -> {
            action.run(connection);
            finished(connection, null);
        });
    }

    /** Runs a step that ends with an event. */
    private void untilEvents(Step step, Action action) throws IOException, InterruptedException {
        times.begin(step);
        for (Connection connection : connections) {
            if (begin(step, connection)) {
                try {
                    action.run(connection);
                } catch (IOException e) {
                    finished(connection, e);
                }
            }
        }
        awaitAll(step);
        times.end(step);
    }

    private synchronized boolean begin(Step step, Connection connection) {
        if (connection.failure != null) {
            return false;
        }
        connection.retries = options.retries();
        connection.pending = step;
        waiting++;
        times.begin(step, connection.index);
        return true;
    }

    private synchronized void finished(Connection connection, IOException failure) {
        if (connection.failure == null) {
            connection.failure = failure;
        }
        if (connection.pending != null) {
            times.end(connection.pending, connection.index);
            connection.pending = null;
            waiting--;
            notifyAll();
        }
    }

    private synchronized void awaitAll(Step step) throws IOException, InterruptedException {
        long end = System.nanoTime() + options.timeout().toNanos();
        while (waiting > 0) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                throw new IOException(waiting + " of " + connections.size() + " connections have not finished " + step
                        + " within " + options.timeout().toSeconds() + " seconds");
            }
            wait(left);
        }
    }

    /** Handles an event; called by the event thread. */
    private void handle(CmEvent event) throws IOException {
        Connection connection = connectionsById.get(event.id());
        switch (event.type()) {
            case ADDR_RESOLVED, ROUTE_RESOLVED, ESTABLISHED -> finished(connection, null);
            case DISCONNECTED -> finished(connection, pending(connection) == Step.DISCONNECT
                    ? null
                    : event.failure("connection " + connection.index));
            case ADDR_ERROR, ROUTE_ERROR -> {
                IOException failure = event.failure("connection " + connection.index);
                if (!retry(connection, event.type())) {
                    finished(connection, failure);
                }
            }
            case CONNECT_ERROR, UNREACHABLE, REJECTED, DEVICE_REMOVAL -> finished(connection,
                    event.failure("connection " + connection.index));
            default -> { }
        }
    }

    private boolean retry(Connection connection, CmEventType failed) throws IOException {
        synchronized (this) {
            if (connection.retries-- <= 0) {
                return false;
            }
        }
        if (failed == CmEventType.ADDR_ERROR) {
            connection.id.resolveAddress(peer, options.resolveTimeout());
        } else {
            connection.id.resolveRoute(options.resolveTimeout());
        }
        return true;
    }

    private synchronized Step pending(Connection connection) {
        return connection.pending;
    }

    private void destroy() throws IOException {
        options.print("destroying id");
        times.begin(Step.DESTROY);
        for (Connection connection : connections) {
            connection.queues.close();
            if (connection.domain != null) {
                connection.domain.close();
            }
            times.begin(Step.DESTROY, connection.index);
            connection.id.close();
            times.end(Step.DESTROY, connection.index);
        }
        times.end(Step.DESTROY);
    }

    private void requireNoFailures() throws IOException {
        List<IOException> failures = connections.stream().map(connection -> connection.failure)
                .filter(Objects::nonNull).toList();
        if (!failures.isEmpty()) {
            throw new IOException(failures.size() + " of " + connections.size() + " connections failed, the first: "
                    + failures.getFirst().getMessage(), failures.getFirst());
        }
    }
}
