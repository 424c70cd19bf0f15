// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
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
            SendRequest request = SendRequests.allocate(1, 1).get(0).data(client.region, 0, 8);
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(
                    () -> client.queuePair.postSend(request.fetchAndAdd(address, key, 1)))
                    .withCauseInstanceOf(WorkRequestException.class);
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(
                    () -> client.queuePair.postSend(request.rdmaWriteWithImmediate(address, key, 1)));
            // The queue pair goes on.
            pair.client().sendMessagesTo(pair.server());
        }
    }

    @Test
    void nobodyListens() throws Exception {
        try (EventChannel channel = EventChannel.open(); Loopback loopback = new Loopback();
                End end = new End(Loopback.resolved(channel, loopback.address()))) {
            loopback.listener.close();
            assertThatExceptionOfType(RejectedException.class).isThrownBy(() -> {
                end.id.connect(ConnectionParameters.defaults());
                channel.await(end.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT);
            });
        }
    }
}
