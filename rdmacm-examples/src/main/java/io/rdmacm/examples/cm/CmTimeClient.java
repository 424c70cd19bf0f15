// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.cm.StepTimes.Step;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.EventThread;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.ProtectionDomain;

/**
 * The client of cmtime. It starts each step for all connections, one after the other, while a thread reads the events
 * that end the step; the next step starts when the last connection has ended this one.
 */
final class CmTimeClient {
    private static final int MAX_RETRIES = 7;

    private final CmTime options;
    private final Console console;
    private final StepTimes times;
    private final List<Node> nodes = new ArrayList<>();
    private final Map<CmId, Node> nodesById = new HashMap<>();
    private SocketAddress peer;
    // how many connections have not finished the step; guarded by this
    private int waiting;

    CmTimeClient(CmTime options, Console console) {
        this.options = options;
        this.console = console;
        this.times = new StepTimes(options.connections());
    }

    /** A connection. Its mutable fields are guarded by the client. */
    private static final class Node {
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

        Node(int index, CmId id) {
            this.index = index;
            this.id = id;
        }
    }

    /** Does something with a connection. */
    @FunctionalInterface
    private interface Action {
        void run(Node node) throws IOException;
    }

    void run() throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open()) {
            AddressInfo address = options.addressToConnect();
            peer = address.destination().orElseThrow();
            try (Resources open = new Resources()) {
                open.onClose(this::destroy);
                create(channel);
                try (EventThread events = EventThread.start(channel, this::handle)) {
                    connectAndDisconnect(address);
                    events.check();
                }
            }
            console.print(times.table());
        }
        requireNoFailures();
    }

    private void create(EventChannel channel) throws IOException {
        console.print("creating id");
        times.begin(Step.CREATE_ID);
        for (int i = 0; i < options.connections(); i++) {
            times.begin(Step.CREATE_ID, i);
            Node node = new Node(i, CmId.open(channel, PortSpace.TCP));
            times.end(Step.CREATE_ID, i);
            nodes.add(node);
            nodesById.put(node.id, node);
        }
        times.end(Step.CREATE_ID);
    }

    private void connectAndDisconnect(AddressInfo address) throws IOException, InterruptedException {
        if (address.source().isPresent()) {
            console.print("binding source address");
            atOnce(Step.BIND_ADDR, node -> node.id.bindAddress(address.source().orElseThrow()));
        }
        console.print("resolving address");
        untilEvents(Step.RESOLVE_ADDR, node -> node.id.resolveAddress(peer, options.resolveTimeout()));
        console.print("resolving route");
        untilEvents(Step.RESOLVE_ROUTE, node -> node.id.resolveRoute(options.resolveTimeout()));
        console.print("creating qp");
        for (Node node : nodes) {
            if (node.failure == null) {
                node.domain = node.id.context().allocateProtectionDomain();
            }
        }
        atOnce(Step.CREATE_QP, node -> TimedQueues.create(node.id, node.domain, node.queues));
        console.print("connecting");
        ConnectionParameters parameters = ConnectionParameters.builder().privateData(address.connectData())
                .responderResources(1).initiatorDepth(1).retryCount(Math.min(options.retries(), MAX_RETRIES))
                .rnrRetryCount(0).build();
        untilEvents(Step.CONNECT, node -> node.id.connect(parameters));
        console.print("disconnecting");
        untilEvents(Step.DISCONNECT, node -> {
            node.id.disconnect();
            node.queues.close();
        });
    }

    /** Runs a step that ends when its call returns, without an event. */
    private void atOnce(Step step, Action action) throws IOException, InterruptedException {
        untilEvents(step, node -> {
            action.run(node);
            finished(node, null);
        });
    }

    /** Runs a step that ends with an event. */
    private void untilEvents(Step step, Action action) throws IOException, InterruptedException {
        times.begin(step);
        for (Node node : nodes) {
            if (begin(step, node)) {
                try {
                    action.run(node);
                } catch (IOException e) {
                    finished(node, e);
                }
            }
        }
        awaitAll(step);
        times.end(step);
    }

    private synchronized boolean begin(Step step, Node node) {
        if (node.failure != null) {
            return false;
        }
        node.retries = options.retries();
        node.pending = step;
        waiting++;
        times.begin(step, node.index);
        return true;
    }

    private synchronized void finished(Node node, IOException failure) {
        if (node.failure == null) {
            node.failure = failure;
        }
        if (node.pending != null) {
            times.end(node.pending, node.index);
            node.pending = null;
            waiting--;
            notifyAll();
        }
    }

    private synchronized void awaitAll(Step step) throws IOException, InterruptedException {
        long end = System.nanoTime() + options.timeout().toNanos();
        while (waiting > 0) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                throw new IOException(waiting + " of " + nodes.size() + " connections have not finished " + step
                        + " within " + options.timeout().toSeconds() + " seconds");
            }
            wait(left);
        }
    }

    /** Handles an event; called by the event thread. */
    private void handle(CmEvent event) throws IOException {
        Node node = nodesById.get(event.id());
        switch (event.type()) {
            case ADDR_RESOLVED, ROUTE_RESOLVED, ESTABLISHED -> finished(node, null);
            case DISCONNECTED -> finished(node, pending(node) == Step.DISCONNECT
                    ? null
                    : event.failure("connection " + node.index));
            case ADDR_ERROR, ROUTE_ERROR -> {
                IOException failure = event.failure("connection " + node.index);
                if (!retry(node, event.type())) {
                    finished(node, failure);
                }
            }
            case CONNECT_ERROR, UNREACHABLE, REJECTED, DEVICE_REMOVAL -> finished(node,
                    event.failure("connection " + node.index));
            default -> { }
        }
    }

    private boolean retry(Node node, CmEventType failed) throws IOException {
        synchronized (this) {
            if (node.retries-- <= 0) {
                return false;
            }
        }
        if (failed == CmEventType.ADDR_ERROR) {
            node.id.resolveAddress(peer, options.resolveTimeout());
        } else {
            node.id.resolveRoute(options.resolveTimeout());
        }
        return true;
    }

    private synchronized Step pending(Node node) {
        return node.pending;
    }

    private void destroy() throws IOException {
        console.print("destroying id");
        times.begin(Step.DESTROY);
        for (Node node : nodes) {
            node.queues.close();
            if (node.domain != null) {
                node.domain.close();
            }
            times.begin(Step.DESTROY, node.index);
            node.id.close();
            times.end(Step.DESTROY, node.index);
        }
        times.end(Step.DESTROY);
    }

    private void requireNoFailures() throws IOException {
        List<IOException> failures = new ArrayList<>();
        for (Node node : nodes) {
            if (node.failure != null) {
                failures.add(node.failure);
            }
        }
        if (!failures.isEmpty()) {
            throw new IOException(failures.size() + " of " + nodes.size() + " connections failed, the first: "
                    + failures.getFirst().getMessage(), failures.getFirst());
        }
    }
}
