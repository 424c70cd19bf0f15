// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many ids on one channel, driven by one event loop; and more requests than a listener takes. */
@RequiresRdma
class ManyConnectionsDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(() -> new Loopback().close());

    private static final int CONNECTIONS = 100;

    @Test
    void aHundredConnectionsThroughOneChannel() throws Exception {
        Map<CmId, End> ends = new HashMap<>();
        int established = 0;
        int disconnected = 0;
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            listener.listen(CONNECTIONS);
            List<CmId> clients = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                CmId client = CmId.open(channel, PortSpace.TCP);
                clients.add(client);
                client.resolveAddress(listener.localAddress(), Loopback.TIMEOUT);
            }
            // both sides of all connections, in whatever order their events come
            while (disconnected < 2 * CONNECTIONS) {
                try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                    CmId id = event.id();
                    switch (event.type()) {
                        case ADDR_RESOLVED -> id.resolveRoute(Loopback.TIMEOUT);
                        case ROUTE_RESOLVED -> {
                            ends.put(id, new End(id));
                            id.connect(ConnectionParameters.defaults());
                        }
                        case CONNECT_REQUEST -> {
                            ends.put(id, new End(id));
                            id.accept(ConnectionParameters.defaults());
                        }
                        case ESTABLISHED -> established++;
                        case DISCONNECTED -> {
                            disconnected++;
                            id.disconnect();
                        }
                        case TIMEWAIT_EXIT -> assertThat(disconnected).isPositive();
                        default -> throw new AssertionError(event);
                    }
                }
                if (established == 2 * CONNECTIONS) {
                    established = 0;
                    for (CmId client : clients) {
                        client.disconnect();
                    }
                }
            }
            assertThat(ends).hasSize(2 * CONNECTIONS);
            for (End end : ends.values()) {
                end.close();
            }
        }
    }

    @Test
    void aConnectWaitsWhileTheBacklogIsFullAndGetsThroughAfterwards() throws Exception {
        RdmaTestDevice.assumeNotIwarp("what exceeds the backlog is refused");
        try (EventChannel server = EventChannel.open(); EventChannel channel = EventChannel.open();
                CmId listener = CmId.open(server, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            listener.listen(1);
            try (End first = new End(Loopback.resolved(channel, listener.localAddress()));
                    End second = new End(Loopback.resolved(channel, listener.localAddress()))) {
                Measured overrun = Measured.fromNow();
                first.id.connect(ConnectionParameters.defaults());
                second.id.connect(ConnectionParameters.defaults());
                // the kernel drops what does not fit, and the peer's kernel asks again after some seconds
                assertThatThrownBy(() -> channel.await(second.id, CmEventType.ESTABLISHED, Duration.ofMillis(100)))
                        .isInstanceOf(RdmaTimeoutException.class);
                for (int i = 0; i < 2; i++) {
                    CmEvent request = server.getEvent(Loopback.TIMEOUT);
                    try (CmId id = request.id(); request) {
                        id.reject();
                        assertThat(id.state()).isEqualTo(CmIdState.FAILED);
                    }
                }
                overrun.print("backlog of a listener overrun, until both are taken");
                for (End client : List.of(first, second)) {
                    assertThatThrownBy(() -> channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT))
                            .isInstanceOf(RejectedException.class);
                }
            }
        }
    }
}
