// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.core.testing.CSocket;
import io.rdmacm.core.testing.NioProvider;
import io.rdmacm.core.testing.NioProvider.Pair;
import io.rdmacm.core.testing.PeerProcess;
import io.rdmacm.core.testing.SelectorEcho;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What channels over RDMA have that those over TCP have not. */
@RequiresRdma
class RdmaChannelsDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(RdmaChannelsDeviceTest::useOnce);

    private static final long LIMIT = TimeUnit.MINUTES.toMillis(4);
    private static final NioProvider RDMA = NioProvider.RDMA;

    private static void useOnce() throws Exception {
        NioProvider.useOnce();
        try (CSocket listener = CSocket.listen(RdmaTestDevice.get().ipv4());
                CSocket.Pair pair = CSocket.pair(listener)) {
            assertThat(pair.client().isNonBlocking()).isTrue();
        }
    }

    @Test
    void settingsAreFixedOnceThereIsAConnection() throws Exception {
        try (ServerSocketChannel server = RDMA.get().openServerSocketChannel()) {
            server.setOption(StandardSocketOptions.SO_RCVBUF, 20_000).setOption(RdmaSocketOptions.RDMA_SQSIZE, 64);
            server.bind(new InetSocketAddress(RDMA.address(), 0));
            assertThatThrownBy(() -> server.setOption(RdmaSocketOptions.RDMA_SQSIZE, 32))
                    .isInstanceOf(SocketException.class).hasMessageContaining("RDMA_SQSIZE");
            try (Pair pair = RDMA.pair(server)) {
                assertThat(pair.server().getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(20_000);
                assertThat(pair.server().getOption(RdmaSocketOptions.RDMA_SQSIZE)).isEqualTo(64);
                for (SocketChannel end : List.of(pair.client(), pair.server())) {
                    assertThatThrownBy(() -> end.setOption(RdmaSocketOptions.RDMA_SQSIZE, 32))
                            .isInstanceOf(SocketException.class);
                    StreamSettings before = end.getOption(RdmaSocketOptions.STREAM_SETTINGS);
                    end.setOption(StandardSocketOptions.SO_SNDBUF, 1 << 20)
                            .setOption(StandardSocketOptions.TCP_NODELAY, true)
                            .setOption(StandardSocketOptions.SO_LINGER, 4);
                    assertThat(end.getOption(RdmaSocketOptions.STREAM_SETTINGS)).isEqualTo(before);
                    end.setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                            .setOption(RdmaSocketOptions.KEEPALIVE_INTERVAL, Duration.ofMinutes(3));
                    assertThat(end.getOption(RdmaSocketOptions.STREAM_SETTINGS).keepAlive())
                            .isEqualTo(Duration.ofMinutes(3));
                    assertThat(end.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(4);
                }
            }
        }
    }

    @Test
    void aCProgramTalksToASelector() throws Exception {
        try (SelectorEcho echo = new SelectorEcho(RDMA); CSocket client = CSocket.open();
                Arena arena = Arena.ofConfined()) {
            client.connect((InetSocketAddress) echo.address());
            assertThat(client.finishConnect()).isZero();
            MemorySegment data = arena.allocate(10_000);
            MemorySegment back = arena.allocate(10_000);
            for (int round = 0; round < 10; round++) {
                data.copyFrom(MemorySegment.ofArray(Streams.data(round, 10_000)));
                client.transferAll(CSocket.Transfer.SEND, data);
                client.transferAll(CSocket.Transfer.RECV, back);
                assertThat(back.mismatch(data)).isEqualTo(-1);
            }
        }
    }

    @Test
    void theEndOfThePeersProcessIsTheEndOfTheStream() throws Exception {
        try (ServerSocketChannel server = RDMA.listen();
                PeerProcess peer = PeerProcess.start("stream="
                        + ((InetSocketAddress) server.getLocalAddress()).getPort())) {
            assertThat(peer.line()).isEqualTo("stream");
            try (SocketChannel accepted = server.accept();
                    Background<Integer> reading = Background.call(() -> accepted.read(ByteBuffer.allocate(1)))) {
                reading.awaitAsleep();
                peer.kill();
                assertThat(reading.result()).isEqualTo(-1);
                assertThat(accepted.read(new ByteBuffer[] {ByteBuffer.allocate(1)})).isEqualTo(-1);
                assertThatThrownBy(() -> accepted.write(ByteBuffer.allocate(1))).isInstanceOf(IOException.class);
            }
        }
    }

    @Test
    void keepAliveIsSwitchedOnWhenTheChannelIsConnected() throws Exception {
        try (Pair pair = RDMA.pair()) {
            pair.server().setOption(RdmaSocketOptions.KEEPALIVE_INTERVAL, Duration.ofMillis(1))
                    .setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            assertThat(RdmaTestDevice.get().sends(500, Streams.TIMEOUT)).isTrue();
        }
    }

    @Test
    void thereAreNoResets() throws Exception {
        for (boolean blocking : new boolean[] {true, false}) {
            try (Pair pair = RDMA.pair()) {
                pair.client().setOption(StandardSocketOptions.SO_LINGER, 0).configureBlocking(blocking);
                pair.client().close();
                assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
        }
    }

    @Test
    void thereIsNoUrgentData() throws Exception {
        try (Pair pair = RDMA.pair()) {
            Socket socket = pair.client().socket();
            socket.setOOBInline(true);
            assertThat(socket.getOOBInline()).isTrue();
            assertThatThrownBy(() -> socket.sendUrgentData(1)).isInstanceOf(SocketException.class);
            assertThat(pair.client().isConnected()).isTrue();
        }
    }

    @Test
    void aConnectFromAnAddressOfTheOtherFamilyIsRefused() throws Exception {
        try (SocketChannel client = RDMA.get().openSocketChannel()) {
            client.bind(new InetSocketAddress(RDMA.address(), 0));
            assertThatThrownBy(() -> client.connect(new InetSocketAddress(RDMA.ipv6Address(), 1)))
                    .isInstanceOf(ConnectException.class).hasMessageContaining("families differ");
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Nightly
    @Test
    void aThousandChannelsWithOneSelector() throws Exception {
        RdmaSelectorProvider provider = new RdmaSelectorProvider(StreamSettings.builder().sendQueueSize(16)
                .receiveQueueSize(16).sendBufferSize(4096).receiveBufferSize(4096).build());
        int pairs = 500;
        int filesBefore = ResourceCounts.now().files();
        List<SocketChannel> clients = new ArrayList<>();
        List<SocketChannel> servers = new ArrayList<>();
        try (Selector selector = provider.openSelector();
                ServerSocketChannel server = provider.openServerSocketChannel()) {
            server.bind(new InetSocketAddress(RDMA.address(), 0), pairs);
            server.configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
            int connected = 0;
            while (connected < pairs || servers.size() < pairs) {
                if (clients.size() < pairs && clients.size() - connected < 8) {
                    SocketChannel client = provider.openSocketChannel();
                    clients.add(client);
                    client.configureBlocking(false);
                    client.register(selector, SelectionKey.OP_CONNECT);
                    client.connect(server.getLocalAddress());
                    continue;
                }
                selector.select(LIMIT);
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isAcceptable()) {
                        SocketChannel accepted = server.accept();
                        servers.add(accepted);
                        accepted.configureBlocking(false);
                        accepted.register(selector, SelectionKey.OP_READ);
                    } else if (((SocketChannel) key.channel()).finishConnect()) {
                        connected++;
                        key.interestOps(SelectionKey.OP_READ);
                    }
                }
                selector.selectedKeys().clear();
            }
            // One for each channel, and some for the selector, the server and the threads that all channels share.
            assertThat(ResourceCounts.now().files() - filesBefore).isLessThan(2 * pairs + 30);
            for (SocketChannel client : clients) {
                assertThat(client.write(ByteBuffer.wrap(new byte[] {1, 2, 3}))).isEqualTo(3);
            }
            int back = 0;
            while (back < 3 * pairs) {
                assertThat(selector.select(LIMIT)).isPositive();
                for (SelectionKey key : selector.selectedKeys()) {
                    SocketChannel channel = (SocketChannel) key.channel();
                    ByteBuffer buffer = ByteBuffer.allocate(10);
                    int length = channel.read(buffer);
                    if (channel.getLocalAddress().equals(server.getLocalAddress())) {
                        channel.write(buffer.flip());
                    } else {
                        back += length;
                    }
                }
                selector.selectedKeys().clear();
            }
            assertThat(back).isEqualTo(3 * pairs);
        } finally {
            for (SocketChannel channel : clients) {
                channel.close();
            }
            for (SocketChannel channel : servers) {
                channel.close();
            }
        }
    }
}
