// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Many of everything at once: all of it works, and nothing is left of it. */
@RequiresRdma
class CrowdDeviceTest {
    private static final int LISTENERS = 100;
    private static final int CONNECTIONS = 1000;
    private static final int EVENTS = 1000;
    // the last one of a thousand waits for all others
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private ProtectionDomain domain;
    private CompletionQueue queue;

    /** What librdmacm opens once and keeps. */
    @BeforeAll
    static void warmUp() throws RdmaException {
        new Loopback().close();
    }

    private <T extends AutoCloseable> T closedLater(T resource) {
        open.push(resource);
        return resource;
    }

    private void closeAll() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    private static CmId listen(EventChannel channel) throws RdmaException {
        CmId listener = CmId.open(channel, PortSpace.TCP);
        listener.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
        listener.listen(CONNECTIONS);
        return listener;
    }

    private void makeQueuePair(CmId id) throws RdmaException {
        if (queue == null) {
            domain = closedLater(id.context().allocateProtectionDomain());
            queue = closedLater(id.context().createCompletionQueue(2 * CONNECTIONS));
        }
        closedLater(id);
        closedLater(id.createQueuePair(domain, QueuePairInitAttributes.builder().completionQueue(queue)
                .maxSendRequests(1).maxReceiveRequests(1).build()));
    }

    /** Drives both sides of all connections until so many events of the type have come. */
    private void run(EventChannel channel, CmEventType awaited, int count) throws Exception {
        int left = count;
        while (left > 0) {
            try (CmEvent event = channel.getEvent(LIMIT)) {
                CmId id = event.id();
                switch (event.type()) {
                    case ADDR_RESOLVED -> id.resolveRoute(LIMIT);
                    case ROUTE_RESOLVED -> {
                        makeQueuePair(id);
                        id.connect(ConnectionParameters.defaults());
                    }
                    case CONNECT_REQUEST -> {
                        makeQueuePair(id);
                        id.accept(ConnectionParameters.defaults());
                    }
                    case DISCONNECTED -> id.disconnect();
                    default -> assertThat(event.type()).isIn(CmEventType.ESTABLISHED, CmEventType.TIMEWAIT_EXIT);
                }
                left -= event.type() == awaited ? 1 : 0;
            }
        }
    }

    @Nightly
    @Test
    @Covers({"rdma_listen", "rdma_connect", "rdma_accept", "rdma_disconnect"})
    void aThousandConnectionsToAHundredListeners() throws Exception {
        ResourceCounts before = ResourceCounts.now();
        EventChannel channel = closedLater(EventChannel.open());
        List<CmId> listeners = new ArrayList<>();
        Set<Integer> ports = new HashSet<>();
        for (int i = 0; i < LISTENERS; i++) {
            CmId listener = closedLater(listen(channel));
            listeners.add(listener);
            ports.add(listener.localAddress().getPort());
        }
        assertThat(ports).hasSize(LISTENERS);
        List<CmId> clients = new ArrayList<>();
        Measured opening = Measured.fromNow();
        for (int i = 0; i < CONNECTIONS; i++) {
            CmId client = CmId.open(channel, PortSpace.TCP);
            clients.add(client);
            client.resolveAddress(listeners.get(i % LISTENERS).localAddress(), LIMIT);
        }
        run(channel, CmEventType.ESTABLISHED, 2 * CONNECTIONS);
        opening.print("1,000 connections to 100 listeners");
        assertThat(clients).allMatch(client -> client.state() == CmIdState.CONNECTED);
        for (CmId client : clients) {
            client.disconnect();
        }
        run(channel, CmEventType.DISCONNECTED, 2 * CONNECTIONS);
        closeAll();
        assertThat(ResourceCounts.await(before, LIMIT)).isEqualTo(before);
    }

    @Test
    @Covers({"rdma_get_cm_event", "rdma_ack_cm_event"})
    void aThousandEventsThatAreNotAcknowledgedKeepTheirIdsOpenAndNothingElse() throws Exception {
        ResourceCounts before = ResourceCounts.now();
        List<CmEvent> events = new ArrayList<>();
        try (EventChannel channel = EventChannel.open(); CmId listener = listen(channel)) {
            List<CmId> ids = new ArrayList<>();
            for (int i = 0; i < EVENTS; i++) {
                CmId id = CmId.open(channel, PortSpace.TCP);
                ids.add(id);
                id.resolveAddress(listener.localAddress(), LIMIT);
                events.add(channel.await(id, CmEventType.ADDR_RESOLVED, LIMIT));
            }
            assertThatThrownBy(ids.getFirst()::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("ADDR_RESOLVED");
            assertThatThrownBy(channel::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(" more").satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(4000));
            // others go on
            try (Loopback other = new Loopback(); EventChannel theirs = EventChannel.open()) {
                other.connect(theirs).close();
            }
            for (CmEvent event : events.reversed()) {
                event.close();
            }
            for (CmId id : ids) {
                id.close();
            }
        }
        assertThat(ResourceCounts.await(before, LIMIT)).isEqualTo(before);
    }

    @Test
    @Covers("rdma_destroy_id")
    void aThousandEventsThatNobodyReadsGoWithTheirIds() throws Exception {
        ResourceCounts before = ResourceCounts.now();
        try (EventChannel channel = EventChannel.open(); CmId listener = listen(channel)) {
            List<CmId> ids = new ArrayList<>();
            for (int i = 0; i < EVENTS; i++) {
                CmId id = CmId.open(channel, PortSpace.TCP);
                ids.add(id);
                id.resolveAddress(listener.localAddress(), LIMIT);
            }
            for (CmId id : ids) {
                id.close();
            }
        }
        assertThat(ResourceCounts.await(before, LIMIT)).isEqualTo(before);
    }
}
