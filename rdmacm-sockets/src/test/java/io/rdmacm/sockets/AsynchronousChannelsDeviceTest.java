// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AcceptPendingException;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.InterruptedByTimeoutException;
import java.nio.channels.ReadPendingException;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Asynchronous channels that are over RDMA or TCP, side by side. */
@RequiresRdma
class AsynchronousChannelsDeviceTest {
    private final InetAddress rdma = RdmaTestDevice.get().ipv4();
    private final Shared shared = with();
    private final SocketsAsynchronousProvider provider = new SocketsAsynchronousProvider(shared);

    private static Shared with(String... rules) {
        return Objects.requireNonNull(new SocketsProvider(new Installation(
                new Settings(Stream.of(rules).map(Rule::parse).toList(), Duration.ofMinutes(4), Duration.ofMinutes(5),
                        true), new DeviceNetworks(Path.of("/sys")), null)).shared());
    }

    private AsynchronousServerSocketChannel listen(AsynchronousChannelGroup group) throws Exception {
        return provider.openAsynchronousServerSocketChannel(group).bind(new InetSocketAddress(0));
    }

    private InetSocketAddress at(InetAddress address, AsynchronousServerSocketChannel server) throws Exception {
        return new InetSocketAddress(address, ((InetSocketAddress) server.getLocalAddress()).getPort());
    }

    private String last(String kind) {
        return shared.connections().getRecent().reversed().stream().filter(line -> line.startsWith(kind)).findFirst()
                .orElse("none");
    }

    @Test
    void aServerServesBoth() throws Exception {
        AgentJar.assumeTakesDevice();
        try (AsynchronousServerSocketChannel server = listen(null)) {
            for (InetAddress address : List.of(rdma, InetAddress.getLoopbackAddress(), rdma)) {
                String way = address.isLoopbackAddress() ? " TCP" : " RDMA";
                CompletableFuture<AsynchronousSocketChannel> accepting = new CompletableFuture<>();
                server.accept(accepting, AsynchronousEcho.completing());
                try (AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
                    client.connect(at(address, server)).get();
                    assertThat(last("connect")).contains(way);
                    assertThat(client.getRemoteAddress()).isEqualTo(at(address, server));
                    try (AsynchronousSocketChannel accepted = accepting.get()) {
                        assertThat(last("accept")).contains(way);
                        assertThat(accepted.supportedOptions()).containsAll(client.supportedOptions());
                        for (var option : accepted.supportedOptions()) {
                            assertThat(accepted.getOption(option)).as(option.name()).isNotNull();
                        }
                        AsynchronousEcho.exchange(client, accepted);
                    }
                }
            }
        }
    }

    @Test
    void aServerIsClosedWhileItAccepts() throws Exception {
        AsynchronousServerSocketChannel server = listen(null);
        Future<AsynchronousSocketChannel> accepting = server.accept();
        assertThatThrownBy(server::accept).isInstanceOf(AcceptPendingException.class);
        server.close();
        assertThatThrownBy(accepting::get).hasCauseInstanceOf(AsynchronousCloseException.class);
    }

    @Test
    void whoComesWhenNobodyWaitsAnyMoreIsClosed() throws Exception {
        try (AsynchronousServerSocketChannel server = listen(null)) {
            for (InetAddress address : List.of(rdma, InetAddress.getLoopbackAddress())) {
                server.accept().cancel(true);
                assertIsClosed(at(address, server));
            }
        }
    }

    private void assertIsClosed(InetSocketAddress address) throws Exception {
        try (AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            client.connect(address).get();
            assertThat(client.read(ByteBuffer.allocate(1)).get(4, TimeUnit.MINUTES)).isEqualTo(-1);
        }
    }

    @Test
    void aGroupThatIsShutDownTakesNobody() throws Exception {
        AgentJar.assumeTakesDevice();
        InetAddress loopback = InetAddress.getLoopbackAddress();
        AsynchronousChannelGroup group = provider.openAsynchronousChannelGroup(1, Thread.ofPlatform().factory());
        try (AsynchronousServerSocketChannel server = listen(group);
                AsynchronousServerSocketChannel local = provider.openAsynchronousServerSocketChannel(group)
                        .bind(new InetSocketAddress(loopback, 0))) {
            group.shutdown();
            assertTakesNobody(server, rdma);
            assertTakesNobody(server, loopback);
            assertTakesNobody(local, loopback);
        }
        assertThat(group.awaitTermination(4, TimeUnit.MINUTES)).isTrue();
    }

    private void assertTakesNobody(AsynchronousServerSocketChannel server, InetAddress address) throws Exception {
        CompletableFuture<AsynchronousSocketChannel> accepting = new CompletableFuture<>();
        server.accept(accepting, AsynchronousEcho.completing());
        assertIsClosed(at(address, server));
        assertThatThrownBy(accepting::get).cause().isExactlyInstanceOf(IOException.class)
                .hasCauseInstanceOf(ShutdownChannelGroupException.class);
    }

    @Test
    void aChannelConnectsOnce() throws Exception {
        byte[] address = rdma.getAddress();
        address[address.length - 1] ^= 0x40;
        InetAddress nobody = InetAddress.getByAddress(address);
        try (AsynchronousServerSocketChannel server = listen(null);
                AsynchronousSocketChannel client = new SocketsAsynchronousProvider(
                        with("deny connect " + nobody.getHostAddress() + " *")).openAsynchronousSocketChannel(null)) {
            Future<Void> connecting = client.connect(new InetSocketAddress(nobody, 9000));
            assertThatThrownBy(() -> client.connect(at(rdma, server))).isInstanceOf(ConnectionPendingException.class);
            assertThat(connecting).isNotDone();
        }
    }

    @Test
    void aReadOfAChannelThatIsClosedRightAfterItIsTold() throws Exception {
        try (AsynchronousServerSocketChannel server = listen(null)) {
            for (int i = 0; i < 10; i++) {
                Future<AsynchronousSocketChannel> accepting = server.accept();
                AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null);
                client.connect(at(rdma, server)).get();
                Future<Integer> reading = client.read(ByteBuffer.allocate(1));
                client.close();
                assertThatThrownBy(reading::get).hasCauseInstanceOf(AsynchronousCloseException.class);
                assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1)).get())
                        .hasCauseExactlyInstanceOf(ClosedChannelException.class);
                accepting.get().close();
            }
        }
    }

    @Test
    void whereNobodyListensOverRdmaItIsTcp() throws Exception {
        AgentJar.assumeTakesDevice();
        try (AsynchronousServerSocketChannel server = Installation.jdkAsynchronousProvider()
                .openAsynchronousServerSocketChannel(null).bind(new InetSocketAddress(rdma, 0));
                AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            Future<AsynchronousSocketChannel> accepting = server.accept();
            client.connect(server.getLocalAddress()).get();
            assertThat(last("connect")).contains(" TCP: RDMA failed");
            try (AsynchronousSocketChannel accepted = accepting.get()) {
                AsynchronousEcho.exchange(client, accepted);
            }
        }
    }

    @Test
    void operationsEndByTimeByCloseAndWithTheirGroup() throws Exception {
        AsynchronousChannelGroup group = provider.openAsynchronousChannelGroup(1, Thread.ofPlatform().factory());
        AsynchronousServerSocketChannel server = listen(group);
        AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(group);
        Future<AsynchronousSocketChannel> accepting = server.accept();
        client.connect(at(rdma, server)).get();
        AsynchronousSocketChannel accepted = accepting.get();

        Future<Integer> reading = client.read(ByteBuffer.allocate(1));
        assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1))).isInstanceOf(ReadPendingException.class);
        client.close();
        assertThatThrownBy(reading::get).hasCauseInstanceOf(AsynchronousCloseException.class);
        assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1)).get())
                .hasCauseInstanceOf(ClosedChannelException.class);
        assertThat(accepted.read(ByteBuffer.allocate(1)).get()).isEqualTo(-1);

        AsynchronousSocketChannel other = provider.openAsynchronousSocketChannel(group);
        accepting = server.accept();
        other.connect(at(rdma, server)).get();
        CompletableFuture<Integer> timed = new CompletableFuture<>();
        other.read(ByteBuffer.allocate(1), 5, TimeUnit.MILLISECONDS, timed, AsynchronousEcho.completing());
        assertThatThrownBy(timed::get).hasCauseInstanceOf(InterruptedByTimeoutException.class);
        assertThatThrownBy(() -> other.read(ByteBuffer.allocate(1))).isInstanceOf(IllegalStateException.class);

        group.shutdown();
        assertThat(group.isTerminated()).isFalse();
        group.shutdownNow();
        assertThat(other.isOpen()).isFalse();
        assertThat(server.isOpen()).isFalse();
        assertThat(group.awaitTermination(4, TimeUnit.MINUTES)).isTrue();
    }
}
