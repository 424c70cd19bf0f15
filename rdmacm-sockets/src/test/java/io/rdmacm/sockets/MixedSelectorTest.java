// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.InputStream;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Channels and selectors over TCP, datagrams and pipes: what the channels of the JDK do, without a device. */
class MixedSelectorTest {
    private static final long LIMIT = TimeUnit.MINUTES.toMillis(4);
    private static final SelectorProvider PROVIDER = new SocketsProvider(new Installation(Settings.DEFAULTS,
            new DeviceNetworks(Path.of("/none")), null));

    private final List<AutoCloseable> open = new ArrayList<>();
    private Selector selector;

    @BeforeEach
    void open() throws Exception {
        selector = PROVIDER.openSelector();
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : open) {
            one.close();
        }
        selector.close();
    }

    private <T extends AutoCloseable> T closedLater(T one) {
        open.add(one);
        return one;
    }

    private ServerSocketChannel listen() throws Exception {
        ServerSocketChannel server = closedLater(PROVIDER.openServerSocketChannel());
        return server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private SelectionKey register(SelectableChannel channel, int ops) throws Exception {
        channel.configureBlocking(false);
        return channel.register(selector, ops);
    }

    private Set<SelectionKey> select() throws Exception {
        selector.selectedKeys().clear();
        assertThat(selector.select(LIMIT)).isPositive();
        return selector.selectedKeys();
    }

    @Test
    void aSelectorTakesAllKinds() throws Exception {
        ServerSocketChannel server = listen();
        SelectionKey accepting = register(server, SelectionKey.OP_ACCEPT);
        DatagramChannel datagrams = closedLater(PROVIDER.openDatagramChannel(StandardProtocolFamily.INET));
        datagrams.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        SelectionKey receiving = register(datagrams, SelectionKey.OP_READ);
        Pipe pipe = PROVIDER.openPipe();
        SelectionKey reading = register(closedLater(pipe.source()), SelectionKey.OP_READ);
        closedLater(pipe.sink());
        assertThat(selector.selectNow()).isZero();

        pipe.sink().write(ByteBuffer.allocate(1));
        assertThat(select()).containsExactly(reading);
        ByteBuffer one = ByteBuffer.allocate(1);
        assertThat(pipe.source().read(one)).isOne();
        datagrams.send(ByteBuffer.allocate(3), datagrams.getLocalAddress());
        assertThat(select()).containsExactly(receiving);
        assertThat(datagrams.receive(ByteBuffer.allocate(3))).isNotNull();
        SocketChannel client = closedLater(PROVIDER.openSocketChannel());
        SelectionKey connecting = register(client, SelectionKey.OP_CONNECT);
        boolean connected = client.connect(server.getLocalAddress());
        while (!connected || !accepting.isAcceptable()) {
            select();
            assertThat(client.isConnected()).isEqualTo(connected);
            if (connecting.isConnectable()) {
                connected = client.finishConnect();
                connecting.interestOps(0);
            }
        }
        SocketChannel accepted = closedLater(server.accept());
        SelectionKey serving = register(accepted, SelectionKey.OP_READ);
        assertThat(client.write(ByteBuffer.allocate(5))).isEqualTo(5);
        assertThat(select()).containsExactly(serving);
        serving.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        select();
        assertThat(serving.readyOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        assertThat(accepted.read(ByteBuffer.allocate(9))).isEqualTo(5);
        connecting.interestOps(SelectionKey.OP_READ);
        serving.interestOps(0);
        accepted.close();
        assertThat(select()).containsExactly(connecting);
        assertThat(client.read(ByteBuffer.allocate(9))).isEqualTo(-1);
        assertThat(selector.keys()).hasSize(4);
    }

    @Test
    void whatIsOfNoInterestNeitherEndsASelectionNorSpins() throws Exception {
        Pipe pipe = PROVIDER.openPipe();
        SelectionKey key = register(closedLater(pipe.source()), SelectionKey.OP_READ);
        pipe.sink().write(ByteBuffer.allocate(1));
        select();
        key.interestOps(0);
        selector.selectedKeys().clear();
        assertThat(selector.select(50)).isZero();
        pipe.sink().close();
        assertThat(selector.select(50)).isZero();
        key.interestOps(SelectionKey.OP_READ);
        assertThat(select()).containsExactly(key);
    }

    @Test
    void theFileOfAClosedChannelIsClosedWhenItsSelectorHasLetGo() throws Exception {
        Path files = Path.of("/proc/self/fd");
        DatagramChannel first = PROVIDER.openDatagramChannel();
        register(first, SelectionKey.OP_READ);
        selector.selectNow();
        long before;
        try (var listed = Files.list(files)) {
            before = listed.count();
        }
        first.close();
        selector.selectNow();
        try (var listed = Files.list(files)) {
            assertThat(listed.count()).isEqualTo(before - 1);
        }
        assertThat(selector.keys()).isEmpty();
    }

    @Test
    void aChannelThatIsClosedLeavesItsSelector() throws Exception {
        ServerSocketChannel server = listen();
        for (int i = 0; i < 20; i++) {
            SocketChannel client = PROVIDER.openSocketChannel();
            client.connect(server.getLocalAddress());
            SocketChannel accepted = server.accept();
            SelectionKey one = register(client, SelectionKey.OP_READ);
            SelectionKey other = register(accepted, SelectionKey.OP_READ);
            selector.selectNow();
            client.close();
            assertThat(one.isValid()).isFalse();
            assertThat(select()).containsExactly(other);
            assertThat(accepted.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            accepted.close();
        }
        selector.selectNow();
        assertThat(selector.keys()).isEmpty();
    }

    @Test
    void aRefusedConnectionIsReported() throws Exception {
        ServerSocketChannel server = listen();
        SocketAddress free = server.getLocalAddress();
        server.close();
        SocketChannel client = closedLater(PROVIDER.openSocketChannel());
        SelectionKey key = register(client, SelectionKey.OP_CONNECT);
        assertThatThrownBy(() -> {
            boolean connected = client.connect(free);
            while (!connected) {
                assertThat(select()).containsExactly(key);
                connected = client.finishConnect();
            }
        }).isInstanceOf(ConnectException.class);
        assertThat(client.isOpen()).isFalse();
        assertThat(key.isValid()).isFalse();
    }

    @Test
    void itsStatesAreThoseOfTheJdk() throws Exception {
        SocketChannel client = closedLater(PROVIDER.openSocketChannel());
        assertThat(client.getLocalAddress()).isNull();
        assertThat(client.getRemoteAddress()).isNull();
        assertThat(client.isConnected()).isFalse();
        assertThat(client.isConnectionPending()).isFalse();
        assertThat(client.supportedOptions()).isEqualTo(closedLater(Installation.jdkProvider().openSocketChannel())
                .supportedOptions());
        assertThatThrownBy(client::finishConnect).isInstanceOf(NoConnectionPendingException.class);
        assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
        assertThatThrownBy(client::shutdownInput).isInstanceOf(NotYetConnectedException.class);
        assertThatThrownBy(client::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
        assertThat(client.socket().isInputShutdown()).isFalse();
        assertThat(client.socket().isOutputShutdown()).isFalse();
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        client.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        assertThat(client.getLocalAddress()).isNotNull();
        ServerSocketChannel server = listen();
        client.connect(server.getLocalAddress());
        assertThat(client.getRemoteAddress()).isEqualTo(server.getLocalAddress());
        assertThat(client.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
        client.shutdownOutput();
        assertThatThrownBy(() -> client.write(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        assertThat(client.isOpen()).isTrue();
        client.close();
        assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        assertThat(client.provider()).isSameAs(PROVIDER);
    }

    @Test
    void anInterruptClosesAChannelThatWaits() throws Exception {
        ServerSocketChannel server = listen();
        SocketChannel client = closedLater(PROVIDER.openSocketChannel());
        client.connect(server.getLocalAddress());
        try (Background<Integer> reading = Background.call(() -> {
            Thread.currentThread().interrupt();
            return client.read(ByteBuffer.allocate(1));
        })) {
            assertThatThrownBy(reading::result).isInstanceOf(ClosedByInterruptException.class);
        }
        assertThat(client.isOpen()).isFalse();
    }

    /** Returns a provider that takes an address of this machine for that of an RDMA device. */
    private static SocketsProvider mistaken(InetAddress address) {
        return new SocketsProvider(new Installation(Settings.DEFAULTS, new DeviceNetworks(Path.of("/none")) {
            @Override
            synchronized List<Of> networks() {
                return List.of(new Of("rxe0", address, new Rule.Network(address, 32)));
            }
        }, null));
    }

    @Test
    void whatRdmaThrowsIsNoConcernOfThePrograms() throws Exception {
        Optional<InetAddress> own = NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress()).findFirst();
        assumeTrue(own.isPresent(), "this machine has no address but loopback");
        SocketsProvider provider = mistaken(own.get());
        ServerSocketChannel server = closedLater(provider.openServerSocketChannel())
                .bind(new InetSocketAddress(own.get(), 0));
        SocketChannel client = closedLater(provider.openSocketChannel());
        client.connect(server.getLocalAddress());
        SocketChannel accepted = closedLater(server.accept());
        assertThat(accepted.write(ByteBuffer.allocate(1))).isOne();
        assertThat(client.read(ByteBuffer.allocate(1))).isOne();
        assertThat(provider.shared().connections().getCounts().keySet())
                .allMatch(sort -> sort.contains(" TCP") && !sort.startsWith("connect TCP: loopback"));
    }

    @Test
    void itsSocketsReadInTime() throws Exception {
        ServerSocketChannel server = listen();
        var client = closedLater(PROVIDER.openSocketChannel()).socket();
        client.connect(server.getLocalAddress(), (int) LIMIT);
        SocketChannel accepted = closedLater(server.accept());
        client.setSoTimeout(5);
        assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        client.getOutputStream().write(new byte[] {1, 2, 3});
        ByteBuffer received = ByteBuffer.allocate(3);
        while (received.hasRemaining()) {
            accepted.read(received);
        }
        accepted.write(received.flip());
        client.setSoTimeout(0);
        assertThat(client.getInputStream().readNBytes(3)).containsExactly(1, 2, 3);
    }

    @Test
    void itsSocketsReadTheEndAfterAShutdown() throws Exception {
        ServerSocketChannel server = listen();
        SocketChannel client = closedLater(PROVIDER.openSocketChannel());
        client.connect(server.getLocalAddress());
        InputStream in = client.socket().getInputStream();
        client.shutdownInput();
        assertThat(in.read()).isEqualTo(-1);
        assertThat(in.available()).isZero();
        client.close();
        assertThatThrownBy(in::read).isInstanceOf(ClosedChannelException.class);
    }
}
