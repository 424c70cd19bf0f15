// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Link-local addresses, which are the only ones of some networks, and mean nothing without their interface. */
@RequiresRdma
class LinkLocalDeviceTest {
    private final NetworkInterface network = RdmaTestDevice.get().networkInterface();

    private InetSocketAddress address() {
        Inet6Address found = network.inetAddresses().filter(InetAddress::isLinkLocalAddress)
                .filter(Inet6Address.class::isInstance).map(Inet6Address.class::cast).findFirst().orElse(null);
        Assumptions.assumeTrue(found != null, "the device has no link-local address");
        return new InetSocketAddress(found, 0);
    }

    private void assertHasScope(InetSocketAddress address) {
        assertThat(((Inet6Address) address.getAddress()).getScopeId()).as(address.toString())
                .isEqualTo(network.getIndex());
    }

    @Test
    void messages() throws Exception {
        try (Peers peers = new Peers(); Listener listener = peers.servers.listen(address());
                Background<Connection> connecting = Background.call(
                        () -> peers.clients.connect(listener.address(), Peers.TIMEOUT));
                Connection server = listener.accept(Peers.TIMEOUT); Connection client = connecting.result()) {
            for (Connection each : new Connection[] {server, client}) {
                assertHasScope(each.localAddress());
                assertHasScope(each.peerAddress());
            }
            client.send(new byte[] {7}, Peers.TIMEOUT);
            try (Message message = server.receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).containsExactly(7);
            }
        }
    }

    /** The way back is the address that the server was told. */
    @Test
    void streams() throws Exception {
        try (RdmaStreamServer listener = RdmaStreamServer.listen(address());
                RdmaStream client = RdmaStream.connect(listener.localAddress(), Streams.TIMEOUT);
                RdmaStream server = listener.accept(Streams.TIMEOUT);
                RdmaStreamServer other = RdmaStreamServer.listen(new InetSocketAddress(
                        client.localAddress().getAddress(), 0));
                RdmaStream back = RdmaStream.connect(new InetSocketAddress(server.peerAddress().getAddress(),
                        other.localAddress().getPort()), Streams.TIMEOUT);
                RdmaStream there = other.accept(Streams.TIMEOUT)) {
            back.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), Streams.TIMEOUT);
            assertThat(Streams.read(there, 3)).containsExactly(1, 2, 3);
        }
    }

    @Test
    void channels() throws Exception {
        try (ServerSocketChannel listener = RdmaSelectorProvider.instance().openServerSocketChannel();
                SocketChannel client = RdmaSelectorProvider.instance().openSocketChannel()) {
            listener.bind(address());
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertHasScope((InetSocketAddress) server.getRemoteAddress());
                client.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
                ByteBuffer read = ByteBuffer.allocate(3);
                while (read.hasRemaining()) {
                    server.read(read);
                }
                assertThat(read.array()).containsExactly(1, 2, 3);
            }
        }
    }

    @Test
    void withoutItsInterfaceOneCannotBeBoundAndThatIsSaid() throws Exception {
        byte[] bytes = address().getAddress().getAddress();
        InetSocketAddress unscoped = new InetSocketAddress(Inet6Address.getByAddress(null, bytes, -1), 7471);
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            assertThatThrownBy(() -> id.bindAddress(unscoped)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("needs the name of its interface");
        }
    }
}
