// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaException;

/** Sets up many connections at once, stage by stage as cmtime does, and measures the time of each stage. */
final class ConnectionClient {
    private static final Duration RESOLVE = Duration.ofSeconds(2);
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int RETRIES = 2;

    private final EventChannel channel;
    private final int count;
    private final Map<String, Double> stages = new LinkedHashMap<>();
    private final List<CmId> ids = new ArrayList<>();
    private final Map<CmId, QueuePair> pairs = new LinkedHashMap<>();
    // shared by all connections, created with the first one
    private ConnectionQueues queues;

    private ConnectionClient(EventChannel channel, int count) {
        this.channel = channel;
        this.count = count;
    }

    /**
     * Connects and disconnects all connections.
     *
     * @param server the address of the server
     * @param count the number of connections
     * @return the microseconds per connection of each stage, by the stage names of cmtime
     */
    static Map<String, Double> run(InetSocketAddress server, int count) throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open()) {
            ConnectionClient client = new ConnectionClient(channel, count);
            try {
                client.run(server);
            } finally {
                client.closeAll();
            }
            return client.stages;
        }
    }

    /** A step of one connection. */
    @FunctionalInterface
    private interface Step {
        void run(CmId id) throws RdmaException;
    }

    private void run(InetSocketAddress server) throws IOException, InterruptedException {
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            ids.add(CmId.open(channel, PortSpace.TCP));
        }
        record("create id", start);
        stage("resolve addr", id -> id.resolveAddress(server, RESOLVE), CmEventType.ADDR_RESOLVED);
        stage("resolve route", id -> id.resolveRoute(RESOLVE), CmEventType.ROUTE_RESOLVED);
        // cmtime uses the protection domain that librdmacm creates with the first id
        try (ProtectionDomain domain = ids.getFirst().context().allocateProtectionDomain()) {
            stage("create qp", id -> createQueuePair(id, domain), null);
            ConnectionParameters parameters = ConnectionParameters.builder().responderResources(1).initiatorDepth(1)
                    .retryCount(RETRIES).build();
            stage("connect", id -> id.connect(parameters), CmEventType.ESTABLISHED);
            stage("disconnect", this::disconnect, CmEventType.DISCONNECTED);
        } finally {
            closeQueues();
        }
        start = System.nanoTime();
        closeAll();
        record("destroy", start);
    }

    private void createQueuePair(CmId id, ProtectionDomain domain) throws RdmaException {
        if (queues == null) {
            queues = new ConnectionQueues(id.context(), domain);
        }
        pairs.put(id, queues.createQueuePair(id));
    }

    private void disconnect(CmId id) throws RdmaException {
        id.disconnect();
        pairs.remove(id).close();
    }

    private void stage(String name, Step step, CmEventType answer) throws IOException, InterruptedException {
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

    private void closeQueues() throws RdmaException {
        for (QueuePair pair : pairs.values()) {
            pair.close();
        }
        pairs.clear();
        if (queues != null) {
            queues.close();
        }
    }

    private void closeAll() throws RdmaException {
        for (CmId id : ids) {
            id.close();
        }
        ids.clear();
    }
}
