// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.Test;

/** Queue pairs of ids that need more than rdma_create_qp. */
@RequiresRdma
class ExtendedQueuePairDeviceTest {
    private static End extended(CmId id) throws Exception {
        return new End(id, (domain, attributes) -> id.createQueuePair(domain, attributes.toBuilder()
                .sendOperations(EnumSet.of(SendOperation.SEND, SendOperation.RDMA_WRITE)).build()));
    }

    @Test
    @Covers({"rdma_create_qp_ex", "rdma_destroy_qp"})
    void theExtendedSendInterfaceComesWithTheQueuePairOfAnId() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = extended(loopback.resolved(channel))) {
            client.id.connect(ConnectionParameters.defaults());
            try (End server = new End(loopback.request())) {
                server.id.accept(ConnectionParameters.defaults());
                channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();
                loopback.channel.await(server.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();

                assertThat(Rdma.ibv_qp_to_qp_ex(client.queuePair.handle())).isNotEqualTo(MemorySegment.NULL);
                assertThat(Rdma.ibv_qp_to_qp_ex(server.queuePair.handle())).isEqualTo(MemorySegment.NULL);
                assertThat(client.queuePair.state()).isEqualTo(QueuePairState.RTS);
                server.queuePair.postReceive(server.receive.id(3).data(server.region, 0, 100));
                client.write("extended");
                client.queuePair.postSend(client.send.id(4).send().data(client.region, 0, 9));
                assertThat(server.completion(Loopback.TIMEOUT).workRequestId()).isEqualTo(3);
                assertThat(server.read()).isEqualTo("extended");
                assertThat(client.completion(Loopback.TIMEOUT).workRequestId()).isEqualTo(4);
            }
        }
    }
}
