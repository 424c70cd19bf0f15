// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The peer moves to another MAC address: the kernel says UNREACHABLE of a connection, and who waits for it learns. */
@RequiresRdma
class NeighbourDeviceTest {
    private final InetAddress address = RdmaTestDevice.get().ipv4();

    @BeforeEach
    void require() {
        RdmaTestDevice.assumeNotIwarp("TCP does not know");
    }

    @AfterEach
    void forget() throws Exception {
        neighbour("del");
    }

    private void move() throws Exception {
        Assumptions.assumeTrue(neighbour("replace", "lladdr", "02:00:00:00:00:99"), "the neighbour cannot be changed");
    }

    private boolean neighbour(String action, String... more) throws Exception {
        List<String> command = new ArrayList<>(List.of("ip", "neigh", action, address.getHostAddress()));
        command.addAll(List.of(more));
        command.addAll(List.of("dev", NetworkInterface.getByInetAddress(address).getName()));
        return new ProcessBuilder(command).start().waitFor() == 0;
    }

    private static void assertEnds(Background<?> waiting) {
        assertThatThrownBy(waiting::result).isInstanceOf(RdmaException.class)
                .isNotInstanceOf(RdmaTimeoutException.class);
    }

    @Test
    void aStreamEnds() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<Integer> reading = Background.call(
                        () -> pair.client().read(ByteBuffer.allocate(1), Streams.TIMEOUT)).awaitAsleep()) {
            move();
            assertEnds(reading);
        }
    }

    @Test
    void anEndpointEnds() throws Exception {
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults());
                Background<?> waiting = Background.call(
                        () -> pair.client.getReceiveCompletion(Loopback.TIMEOUT)).awaitAsleep()) {
            move();
            assertEnds(waiting);
        }
    }
}
