// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.core.RejectedException;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

@RequiresRdma
class AcceptorDeviceTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    @Test
    void theIdOfARequestThatCouldNotBeTakenIsClosed() throws Exception {
        CmLoop loop = CmLoop.start();
        Acceptor<Link> acceptor = Acceptor.listen(loop, new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0),
                new Acceptor.Settings<>("test", false, 1, TIMEOUT, request -> {
                    request.id();
                    throw new OutOfMemoryError("part of a test");
                }));
        acceptor.beginAll();
        try (ConnectionManager clients = ConnectionManager.open()) {
            assertThatThrownBy(() -> clients.connect(acceptor.address(), TIMEOUT))
                    .isInstanceOf(RejectedException.class);
        }
        assertThat(acceptor.close(Link::close)).isTrue();
        assertThat(acceptor.close(Link::close)).isFalse();
        // It would refuse to close its channel while the id is open.
        loop.closeAll();
    }
}
