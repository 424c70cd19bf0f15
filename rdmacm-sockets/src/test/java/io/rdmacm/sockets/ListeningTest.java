// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.internal.nio.TimedServerSocketChannel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A server under one port of both kinds. */
class ListeningTest {
    private static final SocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 2181);

    @Test
    void aClientThatIsThereAlreadyFindsRdmaBeforeTcp() throws IOException {
        List<String> order = new ArrayList<>();
        Listening listening = Listening.bind(ADDRESS, 1, new Choice.Decision(Choice.Way.EITHER, "test"),
                new Listening.Sockets() {
                    @Override
                    public void bind(@Nullable SocketAddress local) {
                        order.add("TCP");
                    }

                    @Override
                    public SocketAddress bound() {
                        return ADDRESS;
                    }

                    @Override
                    public TimedServerSocketChannel open() throws IOException {
                        order.add("RDMA");
                        throw new IOException("no device");
                    }
                });

        assertThat(order).containsExactly("RDMA", "TCP");
        assertThat(listening.rdma()).isNull();
        assertThat(listening.reason()).isEqualTo("RDMA failed: no device");
    }
}
