// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.cm.StepTimes.Step;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.ProtectionDomain;

/**
 * The client of cmtime: does each step for all connections before the next one. A step that ends with an event has a
 * virtual thread for each connection, which waits for that event.
 */
final class CmTimeClient {
    private static final int MAX_RETRIES = 7;

    private final CmTime options;
    private final StepTimes times = new StepTimes();
    private final List<Connection> connections = new ArrayList<>();

    CmTimeClient(CmTime options) {
        this.options = options;
        for (int i = 0; i < options.connections; i++) {
            connections.add(new Connection());
        }
    }

    /** A connection, which one thread uses at a time. */
    private static final class Connection {
        private final Resources queues = new Resources();
        private CmId id;
        // null before the route is resolved
        private ProtectionDomain domain;
        // what ended the connection too early, or null
        private Exception failure;
    }

    /** Does something with a connection. */
    @FunctionalInterface
    private interface Action {
        void run(Connection connection) throws IOException, InterruptedException;
    }

    void run() throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open()) {
            AddressInfo address = options.addressToConnect();
            try (Resources open = new Resources();
                    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                open.onClose(this::destroy);
                inTurn(Step.CREATE_ID, connection -> connection.id = CmId.open(channel, PortSpace.TCP));
                connectAndDisconnect(address, threads);
            }
            options.print(times.table(options.connections));
        }
        List<Exception> failures = connections.stream().map(connection -> connection.failure)
                .filter(Objects::nonNull).toList();
        if (!failures.isEmpty()) {
            throw new IOException(failures.size() + " of " + connections.size() + " connections failed, the first: "
                    + failures.getFirst().getMessage(), failures.getFirst());
        }
    }

    private void connectAndDisconnect(AddressInfo address, ExecutorService threads)
            throws IOException, InterruptedException {
        if (address.source().isPresent()) {
            SocketAddress source = address.source().get();
            inTurn(Step.BIND_ADDR, connection -> connection.id.bindAddress(source));
        }
        SocketAddress peer = address.destination().orElseThrow();
        atOnce(threads, Step.RESOLVE_ADDR, connection -> retry(connection, CmEventType.ADDR_RESOLVED,
                began -> began.id.resolveAddress(peer, options.resolveTimeout())));
        atOnce(threads, Step.RESOLVE_ROUTE, connection -> retry(connection, CmEventType.ROUTE_RESOLVED,
                began -> began.id.resolveRoute(options.resolveTimeout())));
        for (Connection connection : connections) {
            if (connection.failure == null) {
                connection.domain = connection.id.context().allocateProtectionDomain();
            }
        }
        inTurn(Step.CREATE_QP,
                connection -> CmTime.createQueuePair(connection.id, connection.domain, connection.queues));
        ConnectionParameters parameters = ConnectionParameters.builder().privateData(address.connectData())
                .responderResources(1).initiatorDepth(1).retryCount(Math.min(options.retries, MAX_RETRIES))
                .rnrRetryCount(0).build();
        atOnce(threads, Step.CONNECT, connection -> {
            connection.id.connect(parameters);
            await(connection, CmEventType.ESTABLISHED);
        });
        atOnce(threads, Step.DISCONNECT, connection -> {
            connection.id.disconnect();
            connection.queues.close();
            await(connection, CmEventType.DISCONNECTED);
        });
    }

    /** Resolves something, and tries again as often as the options say. */
    private void retry(Connection connection, CmEventType expected, Action resolution)
            throws IOException, InterruptedException {
        for (int left = options.retries;; left--) {
            try {
                resolution.run(connection);
                await(connection, expected);
                return;
            } catch (IOException e) {
                if (left == 0) {
                    throw e;
                }
            }
        }
    }

    private void await(Connection connection, CmEventType expected) throws IOException, InterruptedException {
        connection.id.channel().await(connection.id, expected, options.timeout()).close();
    }

    /** Runs a step that ends with its call, for one connection after the other. */
    private void inTurn(Step step, Action action) throws InterruptedException {
        long start = begin(step);
        for (Connection connection : connections) {
            run(step, action, connection);
        }
        times.addTotal(step, System.nanoTime() - start);
    }

    /** Runs a step that ends with an event, for all connections at the same time. */
    private void atOnce(ExecutorService threads, Step step, Action action) throws InterruptedException {
        long start = begin(step);
        threads.invokeAll(connections.stream().map(connection -> (Callable<Void>) () -> {
            run(step, action, connection);
            return null;
        }).toList());
        times.addTotal(step, System.nanoTime() - start);
    }

    private long begin(Step step) {
        options.print(step.title());
        return System.nanoTime();
    }

    private void run(Step step, Action action, Connection connection) throws InterruptedException {
        if (connection.failure == null) {
            long start = System.nanoTime();
            try {
                action.run(connection);
            } catch (IOException | RuntimeException e) {
                connection.failure = e;
            }
            times.add(step, System.nanoTime() - start);
        }
    }

    private void destroy() throws IOException {
        long start = begin(Step.DESTROY);
        for (Connection connection : connections) {
            connection.queues.close();
            if (connection.domain != null) {
                connection.domain.close();
            }
            if (connection.id != null) {
                long startOne = System.nanoTime();
                connection.id.close();
                times.add(Step.DESTROY, System.nanoTime() - startOne);
            }
        }
        times.addTotal(Step.DESTROY, System.nanoTime() - start);
    }
}
