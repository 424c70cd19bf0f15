// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;

import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.core.testing.Loopback;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a port space says about private data is what the calls of its ids accept. */
@FakeRdmaCm.With
class PrivateDataLimitTest {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.7", 7174);

    @ParameterizedTest
    @CsvSource({"TCP, 56, 196, 148", "IB, 56, 196, 148", "UDP, 180, 136, 136", "IPOIB, 180, 136, 136"})
    void theLimitsOfAPortSpace(PortSpace portSpace, int connect, int accept, int reject) {
        assertThat(portSpace.maxConnectPrivateData()).isEqualTo(connect);
        assertThat(portSpace.maxAcceptPrivateData()).isEqualTo(accept);
        assertThat(portSpace.maxRejectPrivateData()).isEqualTo(reject);
    }

    @ParameterizedTest
    @CsvSource({"TCP", "UDP"})
    void theLimitIsAcceptedAndOneByteMoreIsRefused(PortSpace portSpace) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, portSpace)) {
            id.resolveAddress(ADDRESS, Loopback.TIMEOUT);
            happens(id, CmEventType.ADDR_RESOLVED);
            id.resolveRoute(Loopback.TIMEOUT);
            happens(id, CmEventType.ROUTE_RESOLVED);
            int limit = portSpace.maxConnectPrivateData();
            assertThatThrownBy(() -> id.connect(withData(limit + 1))).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("connect takes at most " + limit);
            id.connect(withData(limit));
        }
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, portSpace)) {
            listener.bindAddress(ADDRESS);
            listener.listen(1);
            try (CmId id = requested(listener)) {
                int limit = portSpace.maxAcceptPrivateData();
                assertThatThrownBy(() -> id.accept(withData(limit + 1))).isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("accept takes at most " + limit);
                id.accept(withData(limit));
            }
            try (CmId id = requested(listener)) {
                int limit = portSpace.maxRejectPrivateData();
                assertThatThrownBy(() -> id.reject(new byte[limit + 1])).isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("reject takes at most " + limit);
                id.reject(new byte[limit]);
            }
        }
    }

    private static ConnectionParameters withData(int bytes) {
        return ConnectionParameters.builder().queuePairNumber(5).privateData(new byte[bytes]).build();
    }

    private static void happens(CmId id, CmEventType type) throws Exception {
        FakeRdmaCm.event(id, type);
        id.channel().await(id, type, Loopback.TIMEOUT).close();
    }

    private static CmId requested(CmId listener) throws Exception {
        FakeRdmaCm.event(listener, CmEventType.CONNECT_REQUEST);
        try (CmEvent event = listener.channel().getEvent(Loopback.TIMEOUT)) {
            return event.id();
        }
    }
}
