// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.RdmaException;

/**
 * Sets up many connections at once, stage by stage as cmtime does, again and again; or accepts them, and closes them
 * when the client disconnects. As cmtime creates them, each has a queue pair for one send and one receive, and all
 * share two completion queues with a channel each.
 */
final class BareConnections extends End {
    private static final Duration RESOLVE = Duration.ofSeconds(2);
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int RETRIES = 2;

    private final int count;
    private final EventChannel channel = own(EventChannel.open());
    private final Map<CmId, QueuePair> pairs = new HashMap<>();
    private final Map<String, Double> stages = new LinkedHashMap<>();
    // what all share, made for the first connection
    private ProtectionDomain domain;
    private QueuePairInitAttributes attributes;
    private InetSocketAddress server;

    /**
     * Prepares an end.
     *
     * @param count how many connections are set up at once
     * @param load how often
     * @param client whether this is the end that connects
     */
    BareConnections(int count, Load load, boolean client) throws IOException {
        super(load, client);
        this.count = count;
    }

    @Override
    public Serializable address() throws IOException {
        if (client) {
            return null;
        }
        CmId listener = own(CmId.open(channel, PortSpace.TCP));
        listener.bindAddress(Port.anyPort());
        listener.listen(0);
        return listener.localAddress();
    }

    @Override
    public void connect(Serializable peer) {
        server = (InetSocketAddress) peer;
    }

    @Override
    public Outcome run() throws IOException, InterruptedException {
        if (!client) {
            serve();
            return null;
        }
        for (int i = 0; i < load.total(); i++) {
            setUp();
        }
        return Cmtime.outcome(stages);
    }

    private void setUp() throws IOException, InterruptedException {
        List<CmId> ids = new ArrayList<>();
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            ids.add(CmId.open(channel, PortSpace.TCP));
        }
        record("create id", start);
        stage("resolve addr", ids, id -> id.resolveAddress(server, RESOLVE), CmEventType.ADDR_RESOLVED);
        stage("resolve route", ids, id -> id.resolveRoute(RESOLVE), CmEventType.ROUTE_RESOLVED);
        stage("create qp", ids, this::createQueuePair, null);
        ConnectionParameters parameters = ConnectionParameters.builder().responderResources(1).initiatorDepth(1)
                .retryCount(RETRIES).build();
        stage("connect", ids, id -> id.connect(parameters), CmEventType.ESTABLISHED);
        stage("disconnect", ids, id -> {
            id.disconnect();
            pairs.remove(id).close();
        }, CmEventType.DISCONNECTED);
        start = System.nanoTime();
        for (CmId id : ids) {
            id.close();
        }
        record("destroy", start);
    }

    /** A step of one connection. */
    @FunctionalInterface
    private interface Step {
        void run(CmId id) throws RdmaException;
    }

    private void stage(String name, List<CmId> ids, Step step, CmEventType answer)
            throws IOException, InterruptedException {
        long start = System.nanoTime();
        for (CmId id : ids) {
            step.run(id);
        }
        for (int answers = 0; answer != null && answers < count;) {
            try (CmEvent event = channel.getEvent(LIMIT)) {
                if (event.type() == answer) {
                    answers++;
                } else if (event.type() != CmEventType.TIMEWAIT_EXIT) {
                    throw event.failure(name);
                }
            }
        }
        record(name, start);
    }

    private void record(String name, long start) {
        stages.put(name, (System.nanoTime() - start) / 1e3 / count);
    }

    private void createQueuePair(CmId id) throws RdmaException {
        if (domain == null) {
            domain = own(id.context().allocateProtectionDomain());
            attributes = QueuePairInitAttributes.builder().sendCompletionQueue(queue(id))
                    .receiveCompletionQueue(queue(id)).maxSendRequests(1).maxReceiveRequests(1).build();
        }
        pairs.put(id, id.createQueuePair(domain, attributes));
    }

    private CompletionQueue queue(CmId id) throws RdmaException {
        return own(id.context().createCompletionQueue(1, own(id.context().createCompletionChannel())));
    }

    private void serve() throws RdmaException, InterruptedException {
        for (int left = load.total() * count; left > 0;) {
            CmId gone = null;
            try (CmEvent event = channel.getEvent(LIMIT)) {
                if (event.type() == CmEventType.CONNECT_REQUEST) {
                    createQueuePair(event.id());
                    event.id().accept(ConnectionParameters.defaults());
                } else if (event.type() == CmEventType.DISCONNECTED) {
                    gone = event.id();
                }
            }
            if (gone != null) {
                gone.disconnect();
                pairs.remove(gone).close();
                gone.close();
                left--;
            }
        }
    }
}
