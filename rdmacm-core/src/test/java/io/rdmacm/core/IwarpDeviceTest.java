// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Set;

import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** What an iWARP device lacks is told by type, and the rest works. */
@RequiresRdma
class IwarpDeviceTest {
    @Test
    void whatTheDeviceLacksIsUnsupported() throws Exception {
        Assumptions.assumeTrue(RdmaTestDevice.get().isIwarp(), "the device is not one of iWARP");
        try (EventChannel channel = EventChannel.open(); Loopback loopback = new Loopback();
                Loopback.Pair pair = loopback.connect(channel)) {
            End client = pair.client();
            long address = pair.server().region.remoteAddress();
            int key = pair.server().region.remoteKey();
            SendRequests requests = SendRequests.allocate(3, 1);
            for (SendRequest request : List.of(requests.get(0), requests.get(2))) {
                request.send().data(client.region, 0, 8);
            }
            SendRequest exceeding = requests.get(1).data(client.region, 0, 8);
            for (Runnable operation : List.<Runnable>of(() -> exceeding.fetchAndAdd(address, key, 1),
                    () -> exceeding.rdmaWriteWithImmediate(address, key, 1), () -> exceeding.sendWithImmediate(1))) {
                operation.run();
                assertThatExceptionOfType(RdmaUnsupportedException.class)
                        .isThrownBy(() -> client.queuePair.postSend(exceeding));
                // libsiw says nothing of a request that follows others, and nothing of these may be posted.
                assertThatExceptionOfType(RdmaUnsupportedException.class)
                        .isThrownBy(() -> client.queuePair.postSend(requests, 0, 3))
                        .withMessageContaining("neither immediate values nor atomic operations");
            }
            SendRequest scattered = SendRequests.allocate(1, 2).get(0).rdmaRead(address, key)
                    .data(0, client.region, 0, 8).data(1, client.region, 64, 8);
            assertThatIllegalArgumentException().isThrownBy(() -> client.queuePair.postSend(scattered))
                    .withMessageContaining("the read of a SoftiWARP device allows 1");
            // The queue pair goes on.
            client.sendMessagesTo(pair.server());
        }
    }

    @Test
    void queuePairsAreNotConnectedByHand() throws Exception {
        Assumptions.assumeTrue(RdmaTestDevice.get().isIwarp(), "the device is not one of iWARP");
        try (EventChannel channel = EventChannel.open(); Loopback loopback = new Loopback();
                End end = new End(Loopback.resolved(channel, loopback.address()))) {
            for (QueuePairAttributes step : List.of(QueuePairTransitions.Rc.rtrToRts(0, AckTimeout.ofCode(14), 7, 6, 4),
                    QueuePairTransitions.Ud.initToRtr())) {
                assertThatExceptionOfType(RdmaUnsupportedException.class)
                        .isThrownBy(() -> end.queuePair.modify(step)).withMessageContaining("connection manager");
            }
        }
    }

    /** Over iWARP, a listener is one of TCP, which anybody can connect to. */
    @Test
    void tcpClientsHoldUpNobody() throws Exception {
        Assumptions.assumeTrue(RdmaTestDevice.get().isIwarp(), "the device is not one of iWARP");
        try (Peers peers = new Peers(4, ConnectionSettings.defaults());
                SocketChannel silent = SocketChannel.open(peers.listener.address());
                SocketChannel babbling = SocketChannel.open(peers.listener.address())) {
            babbling.write(ByteBuffer.allocate(4096));
            for (int i = 0; i < 3; i++) {
                try (Peers.Pair pair = peers.connect()) {
                    pair.client().send(new byte[1], Peers.TIMEOUT);
                    pair.server().receive(Peers.TIMEOUT).close();
                }
            }
            assertThat(silent.isConnected()).isTrue();
        }
    }

    /** SoftiWARP takes it, and neither sends nor flushes it. */
    @Test
    void whatIsPostedAfterTheEndHoldsUpNoWait() throws Exception {
        Assumptions.assumeTrue(RdmaTestDevice.get().isIwarp(), "the device is not one of iWARP");
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults())) {
            pair.client.postReceive(1, pair.clientMemory, 0, 16);
            pair.server.id().disconnect();
            assertThat(pair.client.getReceiveCompletion(Loopback.TIMEOUT).status())
                    .isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
            pair.client.postSend(2, pair.clientMemory, 0, 16, Set.of(SendFlag.SIGNALED));
            assertThatExceptionOfType(DisconnectedException.class)
                    .isThrownBy(() -> pair.client.getSendCompletion(Loopback.TIMEOUT));
        }
    }
}
