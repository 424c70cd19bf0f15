// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AcceptPendingException;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.IllegalChannelGroupException;
import java.nio.channels.InterruptedByTimeoutException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

/** Asynchronous channels over TCP: what those of the JDK do, without a device. */
class AsynchronousChannelsTest {
    private final SocketsAsynchronousProvider provider = new SocketsAsynchronousProvider(
            new SocketsProvider(new Installation(Settings.DEFAULTS, new DeviceNetworks(Path.of("/none")), null))
                    .shared());

    private AsynchronousServerSocketChannel listen(AsynchronousChannelGroup group) throws Exception {
        return provider.openAsynchronousServerSocketChannel(group)
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @Test
    void theyAreThoseOfTheJdk() throws Exception {
        try (AsynchronousServerSocketChannel server = listen(null);
                AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            assertThat(client.provider()).isSameAs(provider);
            assertThat(client.getRemoteAddress()).isNull();
            assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            Future<AsynchronousSocketChannel> accepting = server.accept();
            assertThatThrownBy(server::accept).isInstanceOf(AcceptPendingException.class);
            client.connect(server.getLocalAddress()).get();
            try (AsynchronousSocketChannel accepted = accepting.get()) {
                assertThat(client.getRemoteAddress()).isEqualTo(server.getLocalAddress());
                CompletableFuture<Integer> reading = new CompletableFuture<>();
                ByteBuffer one = ByteBuffer.allocate(1);
                accepted.read(one, 0, TimeUnit.SECONDS, reading, AsynchronousEcho.completing());
                client.write(ByteBuffer.allocate(1)).get();
                assertThat(reading.get()).isOne();
                AsynchronousEcho.exchange(client, accepted);
            }
        }
    }

    @Test
    void whoComesWhenNobodyWaitsAnyMoreIsClosed() throws Exception {
        try (AsynchronousServerSocketChannel server = listen(null);
                AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            server.accept().cancel(true);
            client.connect(server.getLocalAddress()).get();
            assertThat(client.read(ByteBuffer.allocate(1)).get(4, TimeUnit.MINUTES)).isEqualTo(-1);
        }
    }

    @Test
    void aReadEndsInTime() throws Exception {
        try (AsynchronousServerSocketChannel server = listen(null);
                AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            client.connect(server.getLocalAddress()).get();
            CompletableFuture<Integer> reading = new CompletableFuture<>();
            client.read(ByteBuffer.allocate(1), 5, TimeUnit.MILLISECONDS, reading, AsynchronousEcho.completing());
            assertThatThrownBy(reading::get).hasCauseInstanceOf(InterruptedByTimeoutException.class);
        }
    }

    @Test
    void aRefusedConnectionClosesTheChannel() throws Exception {
        AsynchronousServerSocketChannel server = listen(null);
        var free = server.getLocalAddress();
        server.close();
        try (AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(null)) {
            assertThatThrownBy(() -> client.connect(free).get()).hasCauseInstanceOf(ConnectException.class);
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Test
    void groupsEndWithTheirChannels() throws Exception {
        AsynchronousChannelGroup group = provider.openAsynchronousChannelGroup(1, Thread.ofPlatform().factory());
        AsynchronousServerSocketChannel server = listen(group);
        group.shutdown();
        assertThat(group.isShutdown()).isTrue();
        assertThat(group.isTerminated()).isFalse();
        assertThatThrownBy(() -> provider.openAsynchronousSocketChannel(group))
                .isInstanceOf(ShutdownChannelGroupException.class);
        server.close();
        assertThat(group.awaitTermination(4, TimeUnit.MINUTES)).isTrue();
        assertThat(group.isTerminated()).isTrue();

        AsynchronousChannelGroup other = provider.openAsynchronousChannelGroup(Executors.newCachedThreadPool(), 1);
        AsynchronousServerSocketChannel open = listen(other);
        other.shutdownNow();
        assertThat(open.isOpen()).isFalse();
        assertThat(other.awaitTermination(4, TimeUnit.MINUTES)).isTrue();

        AsynchronousChannelGroup foreign = AsynchronousChannelGroup.withFixedThreadPool(1,
                Thread.ofPlatform().factory());
        assertThatThrownBy(() -> provider.openAsynchronousSocketChannel(foreign))
                .isInstanceOf(IllegalChannelGroupException.class);
        foreign.shutdownNow();
    }
}
