// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.core.testing.NioProvider;
import io.rdmacm.core.testing.NioProvider.Pair;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs for channels in blocking mode, over TCP with the JDK and over RDMA. */
@RequiresRdma
class BlockingChannelsDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(NioProvider::useOnce);

    private static final int MEBIBYTE = 1 << 20;

    @ParameterizedTest
    @EnumSource
    void everythingThatIsWrittenComesBack(NioProvider provider) throws Exception {
        byte[] data = bytes(MEBIBYTE);
        ByteBuffer back = ByteBuffer.allocate(data.length);
        try (ServerSocketChannel server = provider.listen();
                Background<Void> echo = Background.run(() -> echoOne(server));
                SocketChannel client = provider.get().openSocketChannel()) {
            assertThat(client.connect(server.getLocalAddress())).isTrue();
            try (Background<Void> writing = Background.run(() -> {
                ByteBuffer source = ByteBuffer.wrap(data);
                while (source.hasRemaining()) {
                    client.write(source);
                }
                client.shutdownOutput();
            })) {
                while (client.read(back) >= 0 && back.hasRemaining()) {
                    assertThat(back.position()).isPositive();
                }
                writing.result();
            }
            assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            echo.result();
        }
        assertThat(back.array()).isEqualTo(data);
    }

    private static void echoOne(ServerSocketChannel server) throws IOException {
        try (SocketChannel channel = server.accept()) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(10_000);
            while (channel.read(buffer) >= 0) {
                buffer.flip();
                channel.write(buffer);
                assertThat(buffer.hasRemaining()).isFalse();
                buffer.clear();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void eachDirectionEndsByItself(NioProvider provider) throws IOException {
        try (Pair pair = provider.pair()) {
            pair.client().write(bytes("question"));
            pair.client().shutdownOutput();

            assertThat(readAll(pair.server())).isEqualTo("question");
            assertThatThrownBy(() -> pair.client().write(bytes("more"))).isInstanceOf(ClosedChannelException.class);
            assertThat(pair.client().isOpen()).isTrue();

            pair.server().write(bytes("answer"));
            pair.server().close();
            assertThat(readAll(pair.client())).isEqualTo("answer");
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsReadAfterTheInputWasShutDown(NioProvider provider) throws IOException {
        try (Pair pair = provider.pair()) {
            assertThat(pair.server().shutdownInput()).isSameAs(pair.server());
            assertThat(pair.server().shutdownInput()).isSameAs(pair.server());

            assertThat(pair.server().read(ByteBuffer.allocate(10))).isEqualTo(-1);
            assertThat(pair.server().read(new ByteBuffer[] {ByteBuffer.allocate(10)})).isEqualTo(-1);
            pair.server().write(bytes("still"));
            assertThat(read(pair.client(), 5)).isEqualTo("still");
        }
    }

    @ParameterizedTest
    @EnumSource
    void buffersAreGatheredAndScattered(NioProvider provider) throws IOException {
        try (Pair pair = provider.pair()) {
            ByteBuffer[] sources = {bytes("not this"), bytes("ab"), ByteBuffer.allocateDirect(0), bytes("cde"),
                bytes("nor that")};

            assertThat(pair.client().write(sources, 1, 3)).isEqualTo(5);

            ByteBuffer[] targets = {ByteBuffer.allocate(1), ByteBuffer.allocateDirect(3), ByteBuffer.allocate(10)};
            long total = 0;
            while (total < 5) {
                total += pair.server().read(targets);
            }
            assertThat(string(targets[0]) + "|" + string(targets[1]) + "|" + string(targets[2])).isEqualTo("a|bcd|e");
            assertThat(sources[0].remaining()).isEqualTo(8);
            assertThat(sources[4].remaining()).isEqualTo(8);
            assertThat(pair.server().read(new ByteBuffer[0])).isZero();
            assertThatThrownBy(() -> pair.server().read(targets, 2, 2)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> pair.server().read(bytes("x").asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingCanBeWrittenEvenWhenThePeerHasClosed(NioProvider provider) throws IOException {
        for (boolean blocking : new boolean[] {true, false}) {
            try (Pair pair = provider.pair()) {
                pair.server().close();
                assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
                pair.client().configureBlocking(blocking);
                assertThat(pair.client().write(ByteBuffer.allocate(0))).isZero();
                assertThat(pair.client().write(new ByteBuffer[] {ByteBuffer.allocate(0), ByteBuffer.allocate(0)}))
                        .isZero();
                pair.client().shutdownOutput();
                assertThatThrownBy(() -> pair.client().write(ByteBuffer.allocate(0)))
                        .isInstanceOf(ClosedChannelException.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotPossibleYetOrAnyMoreIsRefused(NioProvider provider) throws IOException {
        SocketChannel channel = provider.get().openSocketChannel();
        assertThatThrownBy(() -> channel.read(bytes("x"))).isInstanceOf(NotYetConnectedException.class);
        assertThatThrownBy(() -> channel.write(bytes("x"))).isInstanceOf(NotYetConnectedException.class);
        assertThatThrownBy(channel::shutdownInput).isInstanceOf(NotYetConnectedException.class);
        assertThatThrownBy(channel::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
        assertThatThrownBy(channel::finishConnect).isInstanceOf(NoConnectionPendingException.class);
        assertThatThrownBy(() -> channel.connect(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> channel.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                .isInstanceOf(UnresolvedAddressException.class);
        assertThatThrownBy(() -> channel.connect(new SocketAddress() { }))
                .isInstanceOf(UnsupportedAddressTypeException.class);
        assertThat(channel.isOpen()).isTrue();
        assertThat(channel.getLocalAddress()).isNull();
        assertThat(channel.getRemoteAddress()).isNull();
        channel.close();
        channel.close();
        assertThatThrownBy(() -> channel.read(bytes("x"))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> channel.write(bytes("x"))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(channel::finishConnect).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(channel::getLocalAddress).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> channel.bind(null)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> channel.connect(new InetSocketAddress(provider.address(), 1)))
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> channel.getOption(StandardSocketOptions.SO_LINGER))
                .isInstanceOf(ClosedChannelException.class);

        try (Pair pair = provider.pair()) {
            assertThatThrownBy(() -> pair.client().connect(new InetSocketAddress(provider.address(), 1)))
                    .isInstanceOf(AlreadyConnectedException.class);
            assertThatThrownBy(() -> pair.client().bind(null)).isInstanceOf(AlreadyBoundException.class);
            assertThat(pair.client().finishConnect()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatAServerCannotDoIsRefused(NioProvider provider) throws IOException {
        ServerSocketChannel server = provider.get().openServerSocketChannel();
        assertThatThrownBy(server::accept).isInstanceOf(NotYetBoundException.class);
        assertThat(server.getLocalAddress()).isNull();
        server.bind(new InetSocketAddress(provider.address(), 0));
        assertThatThrownBy(() -> server.bind(null)).isInstanceOf(AlreadyBoundException.class);
        server.close();
        assertThatThrownBy(server::accept).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> server.bind(null)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(server::getLocalAddress).isInstanceOf(ClosedChannelException.class);
    }

    @ParameterizedTest
    @EnumSource
    void bothEndsKnowBothAddresses(NioProvider provider) throws IOException {
        try (ServerSocketChannel server = provider.listen(); Pair pair = provider.pair(server)) {
            assertThat(pair.client().getRemoteAddress()).isEqualTo(server.getLocalAddress());
            assertThat(pair.server().getRemoteAddress()).isEqualTo(pair.client().getLocalAddress());
            assertThat(pair.server().getLocalAddress()).isEqualTo(server.getLocalAddress());
            assertThat(pair.client().isConnected()).isTrue();
            assertThat(pair.client().isConnectionPending()).isFalse();
            assertThat(pair.client().provider()).isSameAs(provider.get());
            assertThat(pair.server().provider()).isSameAs(provider.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void theNameThatTheProgramConnectsToIsKept(NioProvider provider) throws IOException {
        try (ServerSocketChannel server = provider.listen();
                SocketChannel client = provider.get().openSocketChannel()) {
            // Without DNS, which knows no such name.
            InetAddress named = InetAddress.getByAddress("host.example", provider.address().getAddress());
            client.connect(new InetSocketAddress(named, ((InetSocketAddress) server.getLocalAddress()).getPort()));
            server.accept().close();

            assertThat(client.getRemoteAddress()).isEqualTo(server.getLocalAddress());
            assertThat(((InetSocketAddress) client.getRemoteAddress()).getHostString()).isEqualTo("host.example");
            assertThat(client.socket().getInetAddress().getHostName()).isEqualTo("host.example");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientMayBindFirst(NioProvider provider) throws Exception {
        try (ServerSocketChannel server = provider.listen();
                SocketChannel client = provider.get().openSocketChannel(StandardProtocolFamily.INET)) {
            client.bind(new InetSocketAddress(provider.address(), 0));
            InetSocketAddress local = (InetSocketAddress) client.getLocalAddress();
            assertThat(local.getPort()).isPositive();
            assertThatThrownBy(() -> client.bind(null)).isInstanceOf(AlreadyBoundException.class);
            assertThatThrownBy(() -> client.connect(new InetSocketAddress(InetAddress.getByName("::1"), 1)))
                    .isInstanceOf(UnsupportedAddressTypeException.class);

            client.connect(server.getLocalAddress());
            try (SocketChannel accepted = server.accept()) {
                assertThat(accepted.getRemoteAddress()).isEqualTo(local);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void whereNobodyListensAConnectIsRefused(NioProvider provider) throws IOException {
        InetSocketAddress free;
        try (ServerSocketChannel server = provider.listen()) {
            free = (InetSocketAddress) server.getLocalAddress();
        }
        SocketChannel client = provider.get().openSocketChannel();

        assertThatThrownBy(() -> client.connect(free)).isInstanceOf(ConnectException.class)
                .hasMessageContaining("refused");
        assertThat(client.isOpen()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void aPortIsBoundOnce(NioProvider provider) throws IOException {
        try (ServerSocketChannel server = provider.listen();
                ServerSocketChannel other = provider.get().openServerSocketChannel()) {
            assertThatThrownBy(() -> other.bind(server.getLocalAddress())).isInstanceOf(BindException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptClosesTheChannel(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair()) {
            CountDownLatch begun = new CountDownLatch(1);
            AtomicBoolean status = new AtomicBoolean();
            Background<Void> reading = Background.run(() -> {
                begun.countDown();
                assertThatThrownBy(() -> pair.client().read(ByteBuffer.allocate(1)))
                        .isInstanceOf(ClosedByInterruptException.class);
                status.set(Thread.interrupted());
            });
            begun.await();
            reading.interrupt();
            reading.result();
            assertThat(status).isTrue();
            assertThat(pair.client().isOpen()).isFalse();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
        try (ServerSocketChannel server = provider.listen()) {
            Background<Void> accepting = Background.run(() -> assertThatThrownBy(server::accept)
                    .isInstanceOf(ClosedByInterruptException.class));
            accepting.interrupt();
            accepting.result();
            assertThat(server.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptedThreadClosesAtOnce(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> pair.client().write(bytes("x"))).isInstanceOf(ClosedByInterruptException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(pair.client().isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCloseEndsTheWaitOfAnotherThread(NioProvider provider) throws Exception {
        Pair pair = provider.pair();
        CountDownLatch begun = new CountDownLatch(2);
        ServerSocketChannel server = provider.listen();
        try (Background<Void> reading = Background.run(() -> assertThatThrownBy(
                        () -> pair.client().read(ByteBuffer.allocate(1)))
                        .isInstanceOf(AsynchronousCloseException.class));
                Background<Void> writing = Background.run(() -> {
                    begun.countDown();
                    assertThatThrownBy(() -> {
                        while (true) {
                            pair.client().write(ByteBuffer.allocate(MEBIBYTE));
                        }
                    }).isInstanceOf(ClosedChannelException.class);
                });
                Background<Void> accepting = Background.run(() -> {
                    begun.countDown();
                    assertThatThrownBy(server::accept).isInstanceOf(ClosedChannelException.class);
                })) {
            reading.awaitAsleep();
            begun.await();
            pair.client().close();
            server.close();
            reading.result();
            writing.result();
            accepting.result();
        }
        pair.close();
    }

    @ParameterizedTest
    @EnumSource
    void optionsAreKept(NioProvider provider) throws IOException {
        try (SocketChannel channel = provider.get().openSocketChannel();
                ServerSocketChannel server = provider.get().openServerSocketChannel()) {
            assertThat(channel.supportedOptions()).contains(StandardSocketOptions.SO_RCVBUF,
                    StandardSocketOptions.SO_SNDBUF, StandardSocketOptions.TCP_NODELAY,
                    StandardSocketOptions.SO_KEEPALIVE, StandardSocketOptions.SO_LINGER,
                    StandardSocketOptions.SO_REUSEADDR);
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isFalse();
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(-1);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true)
                    .setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                    .setOption(StandardSocketOptions.SO_REUSEADDR, true)
                    .setOption(StandardSocketOptions.SO_LINGER, 3)
                    .setOption(StandardSocketOptions.SO_SNDBUF, 100_000)
                    .setOption(StandardSocketOptions.SO_RCVBUF, 100_000);
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_REUSEADDR)).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(3);
            assertThat(channel.getOption(StandardSocketOptions.SO_SNDBUF)).isGreaterThanOrEqualTo(100_000);
            assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isGreaterThanOrEqualTo(100_000);
            channel.setOption(StandardSocketOptions.SO_LINGER, -5);
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(-1);
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_SNDBUF, null))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channel.setOption(null, 1)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> channel.getOption(StandardSocketOptions.IP_MULTICAST_TTL))
                    .isInstanceOf(UnsupportedOperationException.class);

            server.setOption(StandardSocketOptions.SO_REUSEADDR, true)
                    .setOption(StandardSocketOptions.SO_RCVBUF, 65536);
            assertThat(server.getOption(StandardSocketOptions.SO_RCVBUF)).isGreaterThanOrEqualTo(65536);
            assertThatThrownBy(() -> server.setOption(StandardSocketOptions.TCP_NODELAY, true))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLingeringCloseDeliversWhatWasWritten(NioProvider provider) throws Exception {
        byte[] data = bytes(50_000);
        try (Pair pair = provider.pair()) {
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 200);
            pair.client().write(ByteBuffer.wrap(data));
            pair.client().close();

            assertThat(readAll(pair.server())).hasSize(data.length);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theSocketsOfChannels(NioProvider provider) throws Exception {
        try (ServerSocketChannel listening = provider.get().openServerSocketChannel();
                SocketChannel connecting = provider.get().openSocketChannel()) {
            ServerSocket server = listening.socket();
            assertThat(server.isBound()).isFalse();
            assertThat(server).hasToString("ServerSocket[unbound]").isSameAs(listening.socket());
            server.bind(new InetSocketAddress(provider.address(), 0), 5);
            assertThat(server.isBound()).isTrue();
            assertThat(server.getLocalSocketAddress()).isEqualTo(listening.getLocalAddress());
            Socket client = connecting.socket();
            assertThat(client).hasToString("Socket[unconnected]").isSameAs(connecting.socket());
            assertThat(client.getChannel()).isSameAs(connecting);
            assertThatThrownBy(client::getInputStream).isInstanceOf(SocketException.class);

            client.connect(server.getLocalSocketAddress(), 60_000);
            try (Socket accepted = server.accept()) {
                assertThat(client.getRemoteSocketAddress()).isEqualTo(server.getLocalSocketAddress());
                assertThat(client.getPort()).isEqualTo(server.getLocalPort());
                assertThat(accepted.getPort()).isEqualTo(client.getLocalPort());
                assertThat(accepted.getInetAddress()).isEqualTo(client.getLocalAddress());
                client.setTcpNoDelay(true);
                assertThat(client.getTcpNoDelay()).isTrue();
                client.getOutputStream().write("hello".getBytes());
                InputStream in = accepted.getInputStream();
                assertThat(in.read()).isEqualTo('h');
                assertThat(in.readNBytes(4)).isEqualTo("ello".getBytes());

                accepted.setSoTimeout(20);
                assertThatThrownBy(in::read).isInstanceOf(SocketTimeoutException.class);
                assertThat(accepted.isClosed()).isFalse();
                connecting.configureBlocking(false);
                assertThatThrownBy(() -> client.getOutputStream().write(1))
                        .isInstanceOf(IllegalBlockingModeException.class);
                client.shutdownOutput();
                assertThat(client.isOutputShutdown()).isTrue();
                assertThat(in.read()).isEqualTo(-1);
                client.close();
                assertThat(client.isClosed()).isTrue();
                assertThat(connecting.isOpen()).isFalse();
                assertThat(client.isConnected()).isFalse();
                assertThatThrownBy(client::getSoLinger).isInstanceOf(SocketException.class)
                        .hasMessage("Socket is closed");
            }
            server.setSoTimeout(20);
            assertThatThrownBy(server::accept).isInstanceOf(SocketTimeoutException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatOneThreadWritesStaysTogether(NioProvider provider) throws Exception {
        int length = 200_000;
        int rounds = 10;
        try (Pair pair = provider.pair();
                Background<Void> one = Background.run(() -> writeRepeatedly(pair.client(), 'a', length, rounds));
                Background<Void> other = Background.run(() -> gatherRepeatedly(pair.client(), 'b', length, rounds))) {
            byte[] block = new byte[length];
            for (int i = 0; i < 2 * rounds; i++) {
                ByteBuffer target = ByteBuffer.wrap(block);
                while (target.hasRemaining()) {
                    assertThat(pair.server().read(target)).isPositive();
                }
                assertThat(new String(block)).isEqualTo(Character.toString(block[0]).repeat(length));
            }
            one.result();
            other.result();
        }
    }

    private static void writeRepeatedly(SocketChannel channel, char letter, int length, int rounds)
            throws IOException {
        for (int i = 0; i < rounds; i++) {
            assertThat(channel.write(bytes(Character.toString(letter).repeat(length)))).isEqualTo(length);
        }
    }

    private static void gatherRepeatedly(SocketChannel channel, char letter, int length, int rounds)
            throws IOException {
        ByteBuffer half = bytes(Character.toString(letter).repeat(length / 2));
        for (int i = 0; i < rounds; i++) {
            assertThat(channel.write(new ByteBuffer[] {half.duplicate(), half.duplicate()})).isEqualTo(length);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theModeDoesNotChangeUnderAWriter(NioProvider provider) throws Exception {
        int length = 20 * MEBIBYTE;
        try (Pair pair = provider.pair();
                Background<Integer> writing = Background.call(() -> pair.client().write(ByteBuffer.allocate(length)))) {
            writing.awaitAsleep();
            try (Background<Void> changing = Background.run(() -> pair.client().configureBlocking(false))) {
                changing.awaitWaiting();
                ByteBuffer target = ByteBuffer.allocate(length);
                while (target.hasRemaining() && pair.server().read(target) >= 0) {
                    assertThat(pair.server().isOpen()).isTrue();
                }
                assertThat(writing.result()).isEqualTo(length);
                changing.result();
                assertThat(pair.client().isBlocking()).isFalse();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void endingTheOutputEndsAWrite(NioProvider provider) throws Exception {
        // TCP may have taken a part of the data: the JDK's write returns then, and the next one throws.
        Class<? extends IOException> expected = provider == NioProvider.RDMA ? AsynchronousCloseException.class
                : ClosedChannelException.class;
        try (Pair pair = provider.pair();
                Background<Void> writing = Background.run(() -> assertThatThrownBy(() -> {
                    while (true) {
                        pair.client().write(ByteBuffer.allocate(MEBIBYTE));
                    }
                }).isInstanceOf(expected))) {
            writing.awaitAsleep();
            pair.client().shutdownOutput();
            writing.result();
            assertThat(pair.client().isOpen()).isTrue();
            assertThatThrownBy(() -> pair.client().write(bytes("x"))).isInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void endingTheInputEndsARead(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair();
                Background<String> reading = Background.call(() -> pair.client().read(ByteBuffer.allocate(1)) + " "
                        + (pair.client().socket().isInputShutdown() || provider == NioProvider.JDK))) {
            reading.awaitAsleep();
            pair.client().shutdownInput();
            // The JDK may tell only after its read.
            assertThat(reading.result()).isEqualTo("-1 true");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWildcardTakesWhatItsFamilySays(NioProvider provider) throws Exception {
        assumeWildcardTakesBoth(provider);
        InetAddress four = provider.address();
        InetAddress six = provider.ipv6Address();
        assertThat(accepts(provider, null, null, four)).isTrue();
        assertThat(accepts(provider, null, null, six)).isTrue();
        assertThat(accepts(provider, StandardProtocolFamily.INET6, "0.0.0.0", six)).isTrue();
        assertThat(accepts(provider, StandardProtocolFamily.INET6, "0.0.0.0", four)).isTrue();
        assertThat(accepts(provider, StandardProtocolFamily.INET6, "::", four)).isTrue();
        assertThat(accepts(provider, StandardProtocolFamily.INET, null, four)).isTrue();
        assertThat(accepts(provider, StandardProtocolFamily.INET, "0.0.0.0", six)).isFalse();
    }

    private static void assumeWildcardTakesBoth(NioProvider provider) {
        if (provider == NioProvider.RDMA) {
            RdmaTestDevice.assumeNotIwarp("its IPv6 wildcard takes no IPv4");
        }
    }

    private static boolean accepts(NioProvider provider, StandardProtocolFamily family, String local,
            InetAddress address) throws Exception {
        try (ServerSocketChannel server = family == null ? provider.get().openServerSocketChannel()
                : provider.get().openServerSocketChannel(family)) {
            server.bind(local == null ? null : new InetSocketAddress(InetAddress.getByName(local), 0));
            InetSocketAddress bound = (InetSocketAddress) server.getLocalAddress();
            assertThat(bound.getAddress().isAnyLocalAddress()).isTrue();
            SocketChannel client = provider.get().openSocketChannel();
            try (client) {
                client.connect(new InetSocketAddress(address, bound.getPort()));
                try (SocketChannel accepted = server.accept()) {
                    assertThat(accepted.getRemoteAddress()).isEqualTo(client.getLocalAddress());
                }
                return true;
            } catch (ConnectException e) {
                return false;
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientOfAnyAddressConnectsToBothFamilies(NioProvider provider) throws Exception {
        for (InetAddress address : List.of(provider.address(), provider.ipv6Address())) {
            if (provider == NioProvider.RDMA && address.isLinkLocalAddress()) {
                RdmaTestDevice.assumeNotIwarp("bound to a wildcard, it reaches no link-local address");
            }
            for (InetSocketAddress any : Arrays.asList(null, new InetSocketAddress("0.0.0.0", 0),
                    new InetSocketAddress("::", 0))) {
                try (ServerSocketChannel server = provider.get().openServerSocketChannel();
                        SocketChannel client = provider.get().openSocketChannel()) {
                    server.bind(new InetSocketAddress(address, 0));
                    client.bind(any);
                    int port = ((InetSocketAddress) client.getLocalAddress()).getPort();
                    client.connect(server.getLocalAddress());
                    try (SocketChannel accepted = server.accept()) {
                        assertThat(accepted.getRemoteAddress()).isEqualTo(new InetSocketAddress(address, port));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theWildcardIsThisHost(NioProvider provider) throws Exception {
        assumeWildcardTakesBoth(provider);
        for (String any : List.of("0.0.0.0", "::")) {
            try (ServerSocketChannel server = provider.get().openServerSocketChannel();
                    SocketChannel client = provider.get().openSocketChannel()) {
                server.bind(null);
                int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
                client.connect(new InetSocketAddress(any, port));
                try (SocketChannel accepted = server.accept()) {
                    assertThat(accepted.getRemoteAddress()).isEqualTo(client.getLocalAddress());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aConnectOfASocketEndsInTime(NioProvider provider) throws Exception {
        if (provider == NioProvider.RDMA) {
            RdmaTestDevice.assumeNotIwarp("it holds up all connects until TCP gives up");
        }
        InetSocketAddress nobody = new InetSocketAddress(NioProvider.nobody(), 7);
        Socket socket = provider.get().openSocketChannel().socket();
        assertThatThrownBy(() -> socket.connect(nobody, 100)).isInstanceOf(SocketTimeoutException.class)
                .hasMessageContaining("Connect timed out");
        assertThat(socket.isClosed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void socketsSayWhatIsAvailable(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair()) {
            InputStream in = pair.server().socket().getInputStream();
            assertThat(in.available()).isZero();
            pair.client().write(bytes("hello"));
            assertThat(in.read()).isEqualTo('h');
            while (in.available() < 4) {
                Thread.yield();
            }
            assertThat(in.available()).isEqualTo(4);
            assertThat(in.readNBytes(4)).isEqualTo("ello".getBytes());
            pair.server().shutdownInput();
            assertThat(in.available()).isZero();
            pair.server().close();
            assertThatThrownBy(in::available).isInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void socketsThrowWhatChannelsThrow(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair()) {
            InputStream in = pair.client().socket().getInputStream();
            try (Background<Void> reading = Background.run(() -> assertThatThrownBy(in::read)
                    .isInstanceOf(AsynchronousCloseException.class))) {
                reading.awaitAsleep();
                pair.client().close();
                reading.result();
            }
            assertThatThrownBy(in::read).isInstanceOf(ClosedChannelException.class);
            InputStream other = pair.server().socket().getInputStream();
            Thread.currentThread().interrupt();
            assertThatThrownBy(other::read).isInstanceOf(ClosedByInterruptException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
        try (ServerSocketChannel server = provider.listen();
                Background<Void> accepting = Background.run(() -> assertThatThrownBy(server.socket()::accept)
                        .isInstanceOf(ClosedByInterruptException.class))) {
            accepting.awaitAsleep();
            accepting.interrupt();
            accepting.result();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStreamOfASocketWhoseOutputEndsFailsWithAnIoException(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair()) {
            OutputStream out = pair.client().socket().getOutputStream();
            try (Background<Void> writing = Background.run(() -> assertThatThrownBy(() -> {
                while (true) {
                    out.write(new byte[MEBIBYTE]);
                }
            }).isInstanceOf(IOException.class))) {
                writing.awaitAsleep();
                pair.client().shutdownOutput();
                writing.result();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void optionsOfAConnection(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair()) {
            SocketChannel channel = pair.client();
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                    .setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 17)
                    .setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 5)
                    .setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 4)
                    .setOption(ExtendedSocketOptions.TCP_QUICKACK, true)
                    .setOption(StandardSocketOptions.IP_TOS, 96);
            assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            assertThat(channel.getOption(ExtendedSocketOptions.TCP_KEEPIDLE)).isEqualTo(17);
            assertThat(channel.getOption(ExtendedSocketOptions.TCP_KEEPINTERVAL)).isEqualTo(5);
            assertThat(channel.getOption(ExtendedSocketOptions.TCP_KEEPCOUNT)).isEqualTo(4);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, false);
            assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isFalse();
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_TOS, 256))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        try (ServerSocketChannel server = provider.listen();
                SocketChannel client = provider.get().openSocketChannel()) {
            client.socket().setTrafficClass(0x20);
            assertThat(client.socket().getTrafficClass()).isEqualTo(0x20);
            client.connect(server.getLocalAddress());
            assertThat(client.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(0x20);
        }
    }

    @ParameterizedTest
    @EnumSource
    void everythingIsReadyBeforeAConnect(NioProvider provider) throws Exception {
        try (Selector selector = provider.get().openSelector();
                SocketChannel channel = provider.get().openSocketChannel()) {
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_WRITE);
            assertThat(selector.selectNow()).isOne();
            assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_WRITE);
            key.interestOps(SelectionKey.OP_CONNECT | SelectionKey.OP_WRITE);
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isOne();
            assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_CONNECT | SelectionKey.OP_WRITE);
        }
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 10));
        }
        return bytes;
    }

    /** A system call takes 1024. */
    @ParameterizedTest
    @EnumSource
    void thousandsOfBuffersAreGatheredAndScattered(NioProvider provider) throws Exception {
        byte[] data = bytes(5000);
        try (Pair pair = provider.pair()) {
            ByteBuffer[] sources = single(data);
            long written = 0;
            while (written < data.length) {
                written += pair.client().write(sources);
            }
            byte[] back = new byte[data.length];
            ByteBuffer[] targets = single(back);
            long read = 0;
            while (read < back.length) {
                read += pair.server().read(targets);
            }
            assertThat(back).isEqualTo(data);
        }
    }

    private static ByteBuffer[] single(byte[] bytes) {
        ByteBuffer[] buffers = new ByteBuffer[bytes.length];
        Arrays.setAll(buffers, i -> ByteBuffer.wrap(bytes, i, 1));
        return buffers;
    }

    /** 3 GiB, most of which is never touched. */
    @ParameterizedTest
    @EnumSource
    void buffersThatAddUpToMoreThanTwoGigabytes(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair(); Arena arena = Arena.ofConfined();
                FileChannel file = FileChannel.open(Files.createTempFile("sparse", ""), StandardOpenOption.READ,
                        StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
            MemorySegment gigabyte = file.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 30, arena);
            gigabyte.set(ValueLayout.JAVA_BYTE, 1, (byte) 7);
            ByteBuffer[] three = {gigabyte.asByteBuffer(), gigabyte.asByteBuffer(), gigabyte.asByteBuffer()};
            pair.client().configureBlocking(false);

            long written = pair.client().write(three);
            assertThat(written).isPositive().isEqualTo(three[0].position());
            for (ByteBuffer each : three) {
                each.clear();
            }
            gigabyte.set(ValueLayout.JAVA_BYTE, 1, (byte) 0);
            long read = pair.server().read(three);
            assertThat(read).isBetween(2L, written).isEqualTo(three[0].position());
            assertThat(gigabyte.get(ValueLayout.JAVA_BYTE, 1)).isEqualTo((byte) 7);
        }
    }

    /** The JDK's own keep one for each thread, as large as the largest. */
    @Test
    void largeArraysLeaveNoDirectBuffers() throws Exception {
        BufferPoolMXBean direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).findFirst().orElseThrow();
        try (Pair pair = NioProvider.RDMA.pair()) {
            long before = direct.getMemoryUsed();
            try (Background<Void> writing = Background.run(() -> {
                pair.client().write(ByteBuffer.wrap(bytes(16 * MEBIBYTE)));
                pair.client().shutdownOutput();
            })) {
                ByteBuffer target = ByteBuffer.allocate(16 * MEBIBYTE);
                while (pair.server().read(target) > 0) {
                    assertThat(direct.getMemoryUsed() - before).isLessThan(MEBIBYTE);
                }
                writing.result();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSocketKnowsItsPeerAfterItsEnd(NioProvider provider) throws Exception {
        ServerSocketChannel server = provider.listen();
        try (Pair pair = provider.pair(server)) {
            Socket socket = pair.client().socket();
            SocketAddress remote = pair.client().getRemoteAddress();
            SocketAddress local = pair.client().getLocalAddress();
            pair.server().close();
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(pair.client().getRemoteAddress()).isEqualTo(remote);
            pair.client().close();
            assertThat(socket.getRemoteSocketAddress()).isEqualTo(remote);
            assertThat(socket.getInetAddress()).isEqualTo(((InetSocketAddress) remote).getAddress());
            assertThat(socket.getPort()).isEqualTo(((InetSocketAddress) remote).getPort());
            assertThat(socket.getLocalSocketAddress()).isEqualTo(local);
            assertThat(socket.getLocalPort()).isEqualTo(((InetSocketAddress) local).getPort());
            assertThatThrownBy(socket::getTcpNoDelay).isInstanceOf(SocketException.class);
            assertThatThrownBy(pair.client()::getRemoteAddress).isInstanceOf(ClosedChannelException.class);
            SocketAddress bound = server.getLocalAddress();
            server.close();
            assertThat(server.socket().getLocalSocketAddress()).isEqualTo(bound);
        }
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes());
    }

    private static String string(ByteBuffer buffer) {
        ByteBuffer filled = buffer.flip();
        byte[] bytes = new byte[filled.remaining()];
        filled.get(bytes);
        return new String(bytes);
    }

    private static String read(SocketChannel channel, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
            assertThat(channel.isOpen()).isTrue();
        }
        return string(buffer);
    }

    private static String readAll(SocketChannel channel) throws IOException {
        StringBuilder text = new StringBuilder();
        ByteBuffer buffer = ByteBuffer.allocate(1000);
        while (channel.read(buffer) >= 0) {
            text.append(string(buffer));
            buffer.clear();
        }
        return text.toString();
    }
}
