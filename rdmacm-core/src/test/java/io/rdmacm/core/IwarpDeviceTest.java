// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
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
            SendRequests requests = SendRequests.allocate(2, 1);
            requests.get(0).send().data(client.region, 0, 8);
            SendRequest second = requests.get(1).data(client.region, 0, 8);
            pair.server().queuePair.postReceive(pair.server().receive.data(pair.server().region, 0, 8));

            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(
                    () -> client.queuePair.postSend(second.fetchAndAdd(address, key, 1)));
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(
                    () -> client.queuePair.postSend(second.rdmaWriteWithImmediate(address, key, 1)));
            // The request before it has been posted.
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(
                    () -> client.queuePair.postSend(requests, 0, 2)).satisfies(e -> assertThat(e.getCause())
                            .isInstanceOfSatisfying(WorkRequestException.class,
                                    refused -> assertThat(refused.failedIndex()).isOne()));
            assertThat(pair.server().completion(Loopback.TIMEOUT).byteLength()).isEqualTo(8);
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
