// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;

import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The cases of the tests of pyverbs for the connection manager, under their names. */
@RequiresRdma
class CmPeerCasesDeviceTest {
    @Test
    @DisplayName("CMTestCase.test_rdmacm_async_traffic")
    @Covers({"rdma_create_event_channel", "rdma_destroy_event_channel", "rdma_create_id", "rdma_destroy_id",
        "rdma_bind_addr", "rdma_listen", "rdma_resolve_addr", "rdma_resolve_route", "rdma_create_qp",
        "rdma_destroy_qp", "rdma_connect", "rdma_accept", "rdma_get_cm_event", "rdma_ack_cm_event",
        "rdma_get_local_addr", "rdma_get_peer_addr"})
    void asyncTraffic() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open()) {
            CmId id = CmId.open(channel, PortSpace.TCP);
            id.options().ackTimeout(AckTimeout.ofCode(21));
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            channel.await(id, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            id.resolveRoute(Loopback.TIMEOUT);
            channel.await(id, CmEventType.ROUTE_RESOLVED, Loopback.TIMEOUT).close();
            try (End client = new End(id)) {
                client.id.connect(ConnectionParameters.defaults());
                try (End server = new End(loopback.request())) {
                    server.id.accept(ConnectionParameters.defaults());
                    channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();
                    loopback.channel.await(server.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();
                    assertThat(server.id.peerAddress()).isEqualTo(client.id.localAddress());
                    client.sendMessagesTo(server);
                    server.sendMessagesTo(client);
                }
            }
        }
    }

    @Test
    @DisplayName("CMTestCase.test_rdmacm_async_reject_traffic")
    @Covers("rdma_reject")
    void asyncReject() throws Exception {
        byte[] words = {9, 8, 7};
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = new End(loopback.resolved(channel))) {
            client.id.connect(ConnectionParameters.defaults());
            try (CmId server = loopback.request()) {
                server.reject(words);
            }
            assertThatThrownBy(() -> channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT))
                    .isInstanceOfSatisfying(RejectedException.class,
                            e -> assertThat(Arrays.copyOf(e.privateData(), 3)).isEqualTo(words));
        }
    }

    @Test
    @DisplayName("CMTestCase.test_rdmacm_async_traffic_external_qp")
    @Covers({"rdma_init_qp_attr", "rdma_establish"})
    void asyncTrafficExternalQueuePair() throws Exception {
        RdmaTestDevice.assumeConnectedByHand();
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = new End(loopback.resolved(channel), ProtectionDomain::createQueuePair)) {
            client.id.modifyQueuePair(client.queuePair, QueuePairState.INIT);
            client.id.connect(numbered(client));
            try (End server = new End(loopback.request(), ProtectionDomain::createQueuePair)) {
                server.id.modifyQueuePair(server.queuePair, QueuePairState.INIT);
                server.id.modifyQueuePair(server.queuePair, QueuePairState.RTR);
                server.id.modifyQueuePair(server.queuePair, QueuePairState.RTS);
                server.id.accept(numbered(server));
                try (CmEvent response = channel.await(client.id, CmEventType.CONNECT_RESPONSE, Loopback.TIMEOUT)) {
                    assertThat(response.connectionParameters().queuePairNumber())
                            .isEqualTo(server.queuePair.number());
                }
                assertThat(client.id.state()).isEqualTo(CmIdState.RESPONDED);
                client.id.modifyQueuePair(client.queuePair, QueuePairState.RTR);
                client.id.modifyQueuePair(client.queuePair, QueuePairState.RTS);
                client.id.establish();
                loopback.channel.await(server.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();
                client.sendMessagesTo(server);
            }
        }
    }

    @Test
    @DisplayName("CMTestCase.test_rdmacm_async_read")
    void asyncRead() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                Loopback.Pair pair = loopback.connect(channel)) {
            pair.server().write("read from afar");
            pair.client().queuePair.postSend(pair.client().send
                    .rdmaRead(pair.server().region.remoteAddress(), pair.server().region.remoteKey())
                    .data(pair.client().region, 0, 64));
            assertThat(pair.client().completion(Loopback.TIMEOUT).opcode())
                    .isEqualTo(WorkCompletionOpcode.RDMA_READ);
            assertThat(pair.client().read()).isEqualTo("read from afar");
        }
    }

    @Test
    @DisplayName("CMTestCase.test_rdmacm_async_write")
    void asyncWrite() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                Loopback.Pair pair = loopback.connect(channel)) {
            pair.client().write("written from afar");
            pair.client().queuePair.postSend(pair.client().send
                    .rdmaWrite(pair.server().region.remoteAddress(), pair.server().region.remoteKey())
                    .data(pair.client().region, 0, 64));
            assertThat(pair.client().completion(Loopback.TIMEOUT).opcode())
                    .isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
            assertThat(pair.server().read()).isEqualTo("written from afar");
        }
    }

    private static ConnectionParameters numbered(End end) {
        return ConnectionParameters.builder().queuePairNumber(end.queuePair.number()).build();
    }
}
