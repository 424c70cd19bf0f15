// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.rdmacm.core.testing.OrdinaryUser;
import io.rdmacm.sockets.forked.FailedServersProgram;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Channels that are over RDMA or TCP, side by side. */
@RequiresRdma
class MixedChannelsDeviceTest {
    private static final long LIMIT = TimeUnit.MINUTES.toMillis(4);

    private final List<AutoCloseable> open = new ArrayList<>();
    private InetAddress rdma;
    private SocketsProvider provider;

    @BeforeEach
    void open() {
        AgentJar.assumeTakesDevice();
        rdma = RdmaTestDevice.get().ipv4();
        provider = with();
    }

    private static SocketsProvider with(String... rules) {
        return new SocketsProvider(new Installation(new Settings(Stream.of(rules).map(Rule::parse).toList(),
                Duration.ofMinutes(4), Duration.ofMinutes(5), true),
                new DeviceNetworks(Path.of("/sys")), null));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : open) {
            one.close();
        }
    }

    private <T extends AutoCloseable> T later(T one) {
        open.add(one);
        return one;
    }

    private ServerSocketChannel listen(SelectorProvider from, InetAddress address) throws IOException {
        return later(from.openServerSocketChannel()).bind(new InetSocketAddress(address, 0));
    }

    private static int port(ServerSocketChannel server) throws IOException {
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    /** Returns the last thing that was made, such as {@code connect /10.1.0.1:9092 RDMA: reason}. */
    private String lastOf(String kind) {
        return Objects.requireNonNull(provider.shared()).connections().getRecent().reversed().stream()
                .filter(line -> line.startsWith(kind)).findFirst().orElse("none");
    }

    private static void exchange(SocketChannel one, SocketChannel other) throws IOException {
        byte[] data = new byte[100_000];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * 7 + (i >> 9));
        }
        try (Background<Void> writing = Background.run(() -> {
            ByteBuffer source = ByteBuffer.wrap(data);
            while (source.hasRemaining()) {
                one.write(source);
            }
        })) {
            ByteBuffer target = ByteBuffer.allocate(data.length);
            while (target.hasRemaining() && other.read(target) >= 0) {
                // read on
            }
            assertThat(target.array()).isEqualTo(data);
            writing.result();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aServerOnAllAddressesServesBothUnderOnePort() throws Exception {
        ServerSocketChannel server = listen(provider, new InetSocketAddress(0).getAddress());
        assertThat(lastOf("listen")).contains("RDMA");
        int port = port(server);

        SocketChannel overRdma = later(provider.openSocketChannel());
        overRdma.connect(new InetSocketAddress(rdma, port));
        assertThat(lastOf("connect")).contains(" RDMA");
        SocketChannel accepted = later(server.accept());
        assertThat(lastOf("accept")).contains(" RDMA");
        exchange(overRdma, accepted);
        exchange(accepted, overRdma);

        SocketChannel local = later(provider.openSocketChannel());
        local.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        assertThat(lastOf("connect")).contains(" TCP: loopback");
        exchange(local, later(server.accept()));

        // Somebody who knows nothing of RDMA.
        SocketChannel plain = later(Installation.jdkProvider().openSocketChannel());
        plain.connect(new InetSocketAddress(rdma, port));
        accepted = later(server.accept());
        assertThat(lastOf("accept")).contains(" TCP");
        exchange(plain, accepted);

        assertThatThrownBy(() -> later(provider.openServerSocketChannel()).bind(new InetSocketAddress(rdma, port)))
                .isInstanceOf(BindException.class);
    }

    @Test
    void aSelectorTakesAllOfThem() throws Exception {
        Selector selector = later(provider.openSelector());
        ServerSocketChannel server = listen(provider, new InetSocketAddress(0).getAddress());
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
        Pipe pipe = provider.openPipe();
        later(pipe.sink());
        later(pipe.source()).configureBlocking(false);
        SelectionKey piped = pipe.source().register(selector, SelectionKey.OP_READ);
        DatagramChannel datagrams = later(provider.openDatagramChannel());
        datagrams.configureBlocking(false);
        datagrams.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        SelectionKey received = datagrams.register(selector, SelectionKey.OP_READ);
        List<SocketChannel> clients = new ArrayList<>();
        for (InetAddress address : List.of(rdma, InetAddress.getLoopbackAddress(), rdma)) {
            SocketChannel client = later(provider.openSocketChannel());
            client.configureBlocking(false);
            client.register(selector, SelectionKey.OP_CONNECT);
            assertThat(client.connect(new InetSocketAddress(address, port(server)))).isFalse();
            assertThat(client.isConnectionPending()).isTrue();
            assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1)))
                    .isInstanceOf(NotYetConnectedException.class);
            clients.add(client);
        }
        int connected = 0;
        int echoed = 0;
        boolean sent = false;
        boolean fromPipe = false;
        boolean fromDatagrams = false;
        while (echoed < clients.size() || !fromPipe || !fromDatagrams) {
            assertThat(selector.select(LIMIT)).isPositive();
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isAcceptable()) {
                    SocketChannel accepted = server.accept();
                    if (accepted != null) {
                        later(accepted).configureBlocking(false);
                        accepted.register(selector, SelectionKey.OP_READ, "server");
                    }
                } else if (key.isConnectable()) {
                    SocketChannel client = (SocketChannel) key.channel();
                    assertThat(client.isConnected()).isFalse();
                    assertThat(client.finishConnect()).isTrue();
                    assertThat(client.isConnected()).isTrue();
                    key.interestOps(SelectionKey.OP_WRITE);
                    connected++;
                } else if (key.isWritable()) {
                    assertThat(((SocketChannel) key.channel()).write(ByteBuffer.allocate(8))).isEqualTo(8);
                    key.interestOps(SelectionKey.OP_READ);
                } else if (key == piped) {
                    fromPipe = pipe.source().read(ByteBuffer.allocate(1)) == 1;
                } else if (key == received) {
                    fromDatagrams = datagrams.receive(ByteBuffer.allocate(1)) != null;
                } else if (key.isReadable()) {
                    ByteBuffer data = ByteBuffer.allocate(8);
                    assertThat(((SocketChannel) key.channel()).read(data)).isEqualTo(8);
                    if (key.attachment() != null) {
                        assertThat(((SocketChannel) key.channel()).write(data.flip())).isEqualTo(8);
                    } else {
                        echoed++;
                    }
                }
            }
            selector.selectedKeys().clear();
            if (!sent && connected == clients.size()) {
                sent = true;
                pipe.sink().write(ByteBuffer.allocate(1));
                datagrams.send(ByteBuffer.allocate(1), datagrams.getLocalAddress());
            }
        }
        assertThat(Objects.requireNonNull(provider.shared()).connections().getCounts())
                .containsEntry("accept RDMA", 2L).containsEntry("accept TCP", 1L)
                .containsEntry("connect TCP: loopback", 1L);
        assertThat(selector.selectNow()).isZero();
    }

    @Test
    void whereNobodyListensOverRdmaItIsTcpAtOnceAndTheNextTimeRightAway() throws Exception {
        ServerSocketChannel server = listen(Installation.jdkProvider(), rdma);
        for (String reason : List.of("TCP: RDMA failed", "TCP: RDMA failed: ")) {
            SocketChannel client = later(provider.openSocketChannel());
            client.connect(server.getLocalAddress());
            assertThat(lastOf("connect")).contains(reason);
            exchange(client, later(server.accept()));
        }
    }

    @Test
    void whoCannotBeAcceptedOverRdmaComesOverTcp(@TempDir Path folder) throws Exception {
        Requirements.requireProgram("prlimit", "util-linux");
        Path errors = folder.resolve("errors");
        try (OrdinaryUser user = new OrdinaryUser()) {
            Process servers = user.jvm(FailedServersProgram.class, "prlimit", "--memlock=65536")
                    .options("-javaagent:" + AgentJar.in(folder)).start(errors, rdma.getHostAddress(), "limited");
            try (BufferedReader told = servers.inputReader()) {
                for (int i = 0; i < 4; i++) {
                    later(provider.openSocketChannel())
                            .connect(new InetSocketAddress(rdma, Integer.parseInt(told.readLine())));
                    assertThat(lastOf("connect")).contains("TCP: RDMA failed");
                }
                assertThat(told.lines().limit(4)).as(Files.readString(errors)).hasSize(4)
                        .allMatch(line -> line.endsWith(" true"));
                while (!Files.readString(errors).contains("the limit of locked memory")) {
                    Thread.yield();
                }
            } finally {
                servers.destroyForcibly().waitFor();
            }
            assertThat(Files.readString(errors)).contains("cannot accept over RDMA").doesNotContain("TCP alone");
        }
    }

    @Test
    void whereNobodyListensAtAllItIsRefused() throws Exception {
        InetSocketAddress free;
        try (ServerSocketChannel server = listen(provider, rdma)) {
            free = (InetSocketAddress) server.getLocalAddress();
        }
        SocketChannel client = later(provider.openSocketChannel());
        assertThatThrownBy(() -> client.connect(free)).isInstanceOf(ConnectException.class);
        assertThat(client.isOpen()).isFalse();
        // The server may come, and then over RDMA.
        assertThat(Objects.requireNonNull(provider.shared()).choice().toConnect(free).way())
                .isEqualTo(Choice.Way.EITHER);
        try (Selector selector = provider.openSelector()) {
            SocketChannel other = later(with().openSocketChannel());
            other.configureBlocking(false);
            SelectionKey key = other.register(selector, SelectionKey.OP_CONNECT);
            other.connect(free);
            assertThat(selector.select(LIMIT)).isOne();
            assertThat(key.isConnectable()).isTrue();
            assertThatThrownBy(other::finishConnect).isInstanceOf(ConnectException.class);
            assertThat(other.isOpen()).isFalse();
        }
    }

    @Test
    void aChannelCanBeClosedWhileItConnects() throws Exception {
        byte[] address = rdma.getAddress();
        address[address.length - 1] ^= 0x40;
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getByAddress(address), 9000);
        try (Selector selector = provider.openSelector()) {
            for (int i = 0; i < 10; i++) {
                SocketChannel client = provider.openSocketChannel();
                client.configureBlocking(false);
                client.register(selector, SelectionKey.OP_CONNECT);
                assertThat(client.connect(nobody)).isFalse();
                selector.selectNow();
                client.close();
                assertThat(client.isConnectionPending()).isFalse();
            }
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
        }
        SocketChannel waiting = later(provider.openSocketChannel());
        try (Background<Boolean> connecting = Background.call(() -> waiting.connect(nobody))) {
            while (!waiting.isConnectionPending()) {
                Thread.yield();
            }
            waiting.close();
            assertThatThrownBy(connecting::result).isInstanceOf(AsynchronousCloseException.class);
        }
        SocketChannel interrupted = later(provider.openSocketChannel());
        try (Background<Boolean> connecting = Background.call(() -> {
            Thread.currentThread().interrupt();
            return interrupted.connect(nobody);
        })) {
            assertThatThrownBy(connecting::result).isInstanceOf(ClosedByInterruptException.class);
        }
        assertThat(interrupted.isOpen()).isFalse();
        Socket socket = later(provider.openSocketChannel()).socket();
        assertThatThrownBy(() -> socket.connect(nobody, 20)).isInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void rulesDecide() throws Exception {
        provider = with("deny listen * *", "only connect " + rdma.getHostAddress() + " *");
        ServerSocketChannel server = listen(provider, rdma);
        assertThat(lastOf("listen")).contains("TCP: rule \"deny listen * *\"");
        SocketChannel client = later(provider.openSocketChannel());
        assertThatThrownBy(() -> client.connect(server.getLocalAddress())).isInstanceOf(ConnectException.class);

        provider = with("only listen * *", "deny connect * *");
        ServerSocketChannel rdmaOnly = listen(provider, rdma);
        assertThat(lastOf("listen")).contains("RDMA: rule");
        SocketChannel overTcp = later(provider.openSocketChannel());
        assertThatThrownBy(() -> overTcp.connect(rdmaOnly.getLocalAddress())).isInstanceOf(ConnectException.class);
        SocketChannel overRdma = later(with().openSocketChannel());
        overRdma.connect(rdmaOnly.getLocalAddress());
        exchange(overRdma, later(rdmaOnly.accept()));
    }

    @Test
    void aServerThatWaitsCanBeClosedAndInterruptedAndTimed() throws Exception {
        ServerSocketChannel closed = listen(provider, rdma);
        try (Background<SocketChannel> accepting = Background.call(closed::accept)) {
            accepting.awaitInside(EventFile.class, "await");
            closed.close();
            assertThatThrownBy(accepting::result).isInstanceOf(AsynchronousCloseException.class);
        }
        ServerSocketChannel interrupted = listen(provider, rdma);
        try (Background<SocketChannel> accepting = Background.call(() -> {
            Thread.currentThread().interrupt();
            return interrupted.accept();
        })) {
            assertThatThrownBy(accepting::result).isInstanceOf(ClosedByInterruptException.class);
        }
        ServerSocketChannel timed = listen(provider, rdma);
        timed.socket().setSoTimeout(20);
        assertThatThrownBy(() -> timed.socket().accept()).isInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void optionsOfTheProgramHoldOnBothWays() throws Exception {
        ServerSocketChannel server = listen(provider, rdma);
        SocketChannel client = later(provider.openSocketChannel());
        var supported = client.supportedOptions();
        client.setOption(StandardSocketOptions.TCP_NODELAY, true).setOption(StandardSocketOptions.SO_RCVBUF, 50_000)
                .setOption(StandardSocketOptions.SO_REUSEPORT, true);
        client.bind(new InetSocketAddress(rdma, 0));
        int port = ((InetSocketAddress) client.getLocalAddress()).getPort();
        client.connect(server.getLocalAddress());

        assertThat(lastOf("connect")).contains(" RDMA");
        assertThat(((InetSocketAddress) client.getLocalAddress()).getPort()).isEqualTo(port);
        assertThat(client.supportedOptions()).isEqualTo(supported);
        assertThat(client.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
        assertThat(client.getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(50_000);
        assertThat(client.getOption(StandardSocketOptions.SO_REUSEPORT)).isTrue();
        SocketChannel accepted = later(server.accept());
        assertThat(accepted.supportedOptions()).isEqualTo(supported);
        for (var option : supported) {
            assertThat(client.getOption(option)).as(option.name()).isNotNull();
            assertThat(accepted.getOption(option)).as(option.name()).isNotNull();
        }
        accepted.setOption(StandardSocketOptions.SO_REUSEPORT, true);
        assertThat(accepted.getOption(StandardSocketOptions.SO_REUSEPORT)).isTrue();
    }

    @Test
    void filesGoThroughThemInBothDirections(@TempDir Path folder) throws Exception {
        byte[] data = new byte[1_000_000];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * 31 + (i >> 11));
        }
        Path source = Files.write(folder.resolve("source"), data);
        Path target = folder.resolve("target");
        ServerSocketChannel server = listen(provider, rdma);
        SocketChannel client = later(provider.openSocketChannel());
        client.connect(server.getLocalAddress());
        SocketChannel accepted = later(server.accept());
        try (Background<Long> sending = Background.call(() -> {
            try (FileChannel file = FileChannel.open(source)) {
                long sent = 0;
                while (sent < data.length) {
                    sent += file.transferTo(sent, data.length - sent, client);
                }
                client.shutdownOutput();
                return sent;
            }
        }); FileChannel file = FileChannel.open(target, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            long received = 0;
            while (received < data.length) {
                received += file.transferFrom(accepted, received, data.length - received);
            }
            assertThat(sending.result()).isEqualTo(data.length);
        }
        assertThat(Files.readAllBytes(target)).isEqualTo(data);
    }
}
