// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.testing.NioProvider;
import io.rdmacm.core.testing.NioProvider.Pair;
import io.rdmacm.core.testing.SelectorEcho;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs for selectors, over TCP with the JDK and over RDMA. */
@RequiresRdma
class SelectorDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(NioProvider::useOnce);

    // Reached only by tests that fail.
    private static final long LIMIT = TimeUnit.MINUTES.toMillis(4);
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;

    @ParameterizedTest
    @EnumSource
    void anEchoServerServesManyClients(NioProvider provider) throws Exception {
        byte[] data = new byte[100_000];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * 7 + (i >> 9));
        }
        try (SelectorEcho server = new SelectorEcho(provider)) {
            List<Background<byte[]>> clients = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                clients.add(Background.call(() -> SelectorEcho.exchange(provider, server.address(), data)));
            }
            for (Background<byte[]> client : clients) {
                assertThat(client.result()).isEqualTo(data);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aConnectionIsAcceptedAndFinishedByASelector(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); ServerSocketChannel server = provider.listen();
                SocketChannel client = provider.get().openSocketChannel()) {
            server.configureBlocking(false);
            SelectionKey accepting = server.register(selector, SelectionKey.OP_ACCEPT, "server");
            assertThat(server.accept()).isNull();
            assertThat(selector.selectNow()).isZero();
            client.configureBlocking(false);
            SelectionKey connecting = client.register(selector, SelectionKey.OP_CONNECT);
            SocketChannel accepted = null;
            if (client.connect(server.getLocalAddress())) {
                connecting.cancel();
            } else {
                assertThat(client.isConnectionPending()).isTrue();
                assertThatThrownBy(() -> client.connect(server.getLocalAddress()))
                        .isInstanceOf(ConnectionPendingException.class);
            }
            while (accepted == null || !client.isConnected()) {
                assertThat(selector.select(LIMIT)).isPositive();
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isAcceptable()) {
                        assertThat(key).isSameAs(accepting);
                        assertThat(key.attachment()).isEqualTo("server");
                        accepted = server.accept();
                    } else if (key.isConnectable()) {
                        assertThat(client.finishConnect()).isTrue();
                        key.interestOps(0);
                    }
                }
                selector.selectedKeys().clear();
            }
            assertThat(accepted.isBlocking()).isTrue();
            assertThat(selector.selectNow()).isZero();
            accepted.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRefusedConnectionIsReported(NioProvider provider) throws IOException {
        InetSocketAddress free;
        try (ServerSocketChannel server = provider.listen()) {
            free = (InetSocketAddress) server.getLocalAddress();
        }
        try (Selector selector = provider.get().openSelector();
                SocketChannel client = provider.get().openSocketChannel()) {
            client.configureBlocking(false);
            client.connect(free);
            SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);

            assertThat(selector.select(LIMIT)).isOne();
            assertThat(key.isConnectable()).isTrue();
            assertThatThrownBy(client::finishConnect).isInstanceOf(ConnectException.class);
            assertThat(client.isOpen()).isFalse();
            assertThat(key.isValid()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aKeyIsReadyUntilEverythingIsRead(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            SelectionKey key = register(pair.client(), selector, READ);
            assertThat(selector.selectNow()).isZero();
            pair.server().write(ByteBuffer.allocate(10));

            assertThat(selector.select(LIMIT)).isOne();
            assertThat(selector.selectedKeys()).containsExactly(key);
            assertThat(key.readyOps()).isEqualTo(READ);
            // Selected already, and nothing new.
            assertThat(selector.select(LIMIT)).isZero();
            selector.selectedKeys().clear();
            pair.client().read(ByteBuffer.allocate(3));
            assertThat(selector.select(LIMIT)).isOne();
            selector.selectedKeys().clear();
            assertThat(pair.client().read(ByteBuffer.allocate(10))).isEqualTo(7);
            assertThat(selector.selectNow()).isZero();
            assertThat(pair.client().read(ByteBuffer.allocate(10))).isZero();

            pair.server().close();
            assertThat(selector.select(LIMIT)).isOne();
            assertThat(pair.client().read(ByteBuffer.allocate(10))).isEqualTo(-1);
        }
    }

    /** To write, a channel takes what has finished, and so what has arrived as well. */
    @ParameterizedTest
    @EnumSource
    void whatArrivesDuringAWriteIsSelected(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            register(pair.client(), selector, READ);
            ByteBuffer question = ByteBuffer.allocate(100);
            ByteBuffer answer = ByteBuffer.allocate(100);
            for (int i = 0; i < 200; i++) {
                pair.server().write(question.clear());
                for (int j = 0; j < 10; j++) {
                    pair.client().write(answer.clear().limit(10));
                }
                question.clear();
                while (question.hasRemaining()) {
                    assertThat(selector.select(LIMIT)).isOne();
                    selector.selectedKeys().clear();
                    pair.client().read(question);
                }
                answer.clear();
                while (answer.hasRemaining()) {
                    pair.server().read(answer);
                }
            }
        }
    }

    /** As a program does that has a connection for each request: see {@link #NOTHING}. */
    @Nightly
    @ParameterizedTest
    @EnumSource
    void manyShortConnectionsLeaveNothing(NioProvider provider) throws IOException {
        try (ServerSocketChannel server = provider.listen()) {
            for (int i = 0; i < 100; i++) {
                Pair pair = provider.pair(server);
                pair.client().close();
                pair.server().close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void interestChangesAtAnyTime(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            SelectionKey key = register(pair.client(), selector, 0);
            pair.server().write(ByteBuffer.allocate(1));
            assertThat(selector.select(20)).isZero();

            key.interestOps(READ);
            assertThat(selector.select(LIMIT)).isOne();
            assertThat(key.readyOps()).isEqualTo(READ);
            selector.selectedKeys().clear();

            key.interestOpsOr(WRITE);
            assertThat(selector.select(LIMIT)).isOne();
            assertThat(key.readyOps()).isEqualTo(READ | WRITE);

            // A change is not a reason to forget what was found before.
            key.interestOps(0);
            assertThat(selector.selectNow()).isZero();
            assertThat(key.readyOps()).isEqualTo(READ | WRITE);
            selector.selectedKeys().clear();
            assertThat(selector.select(20)).isZero();
            assertThat(selector.selectedKeys()).isEmpty();

            assertThatThrownBy(() -> key.interestOps(SelectionKey.OP_ACCEPT))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWriterWaitsForItsReader(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            SelectionKey key = register(pair.client(), selector, WRITE);
            ByteBuffer block = ByteBuffer.allocateDirect(65536);
            long written = 0;
            while (selector.select(200) > 0) {
                selector.selectedKeys().clear();
                block.clear();
                written += pair.client().write(block);
            }
            assertThat(written).isPositive();

            long read = 0;
            ByteBuffer target = ByteBuffer.allocateDirect(65536);
            while (read < written) {
                read += pair.server().read(target.clear());
            }
            assertThat(read).isEqualTo(written);
            assertThat(selector.select(LIMIT)).isOne();
            assertThat(key.isWritable()).isTrue();
            assertThat(pair.client().write(block.clear())).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatAnotherThreadTakesIsNotLost(NioProvider provider) throws Exception {
        int rounds = 500;
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            register(pair.client(), selector, READ);
            // Writes on the channel of the selector, and so sees what arrives for the thread that selects.
            try (Background<Void> writer = Background.run(() -> {
                for (int i = 0; i < rounds; i++) {
                    ByteBuffer one = ByteBuffer.allocate(1);
                    while (one.hasRemaining()) {
                        pair.client().write(one);
                    }
                }
            }); Background<Void> echo = Background.run(() -> {
                ByteBuffer one = ByteBuffer.allocate(1);
                for (int i = 0; i < rounds; i++) {
                    pair.server().read(one.clear());
                    pair.server().write(one.flip());
                }
            })) {
                int received = 0;
                ByteBuffer target = ByteBuffer.allocate(3);
                while (received < rounds) {
                    assertThat(selector.select(LIMIT)).isOne();
                    selector.selectedKeys().clear();
                    received += pair.client().read(target.clear());
                }
                writer.result();
                echo.result();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWakeupEndsOneSelection(NioProvider provider) throws Exception {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            register(pair.client(), selector, READ);
            assertThat(selector.wakeup()).isSameAs(selector);
            selector.wakeup();
            assertThat(selector.select()).isZero();
            assertThat(selector.select(20)).isZero();

            selector.wakeup();
            assertThat(selector.selectNow()).isZero();
            long start = System.nanoTime();
            assertThat(selector.select(50)).isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(49));

            for (int i = 0; i < 50; i++) {
                try (Background<Integer> selecting = Background.call(selector::select)) {
                    selector.wakeup();
                    assertThat(selecting.result()).isZero();
                }
            }
            assertThatThrownBy(() -> selector.select(-1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptEndsASelection(NioProvider provider) throws Exception {
        try (Selector selector = provider.get().openSelector()) {
            Background<Boolean> selecting = Background.call(() -> {
                assertThat(selector.select()).isZero();
                return Thread.interrupted();
            });
            selecting.interrupt();
            assertThat(selecting.result()).isTrue();
            assertThat(selector.isOpen()).isTrue();

            Thread.currentThread().interrupt();
            assertThat(selector.select()).isZero();
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /** Not with the JDK, which keeps what it opens for virtual threads. */
    @ParameterizedTest
    @EnumSource(names = "RDMA")
    void aVirtualThreadSelects(NioProvider provider) throws Exception {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            register(pair.client(), selector, READ);
            for (int i = 0; i < 20; i++) {
                try (Background<Integer> selecting = Background.virtual(selector::select)) {
                    pair.server().write(ByteBuffer.allocate(1));
                    assertThat(selecting.result()).isOne();
                }
                selector.selectedKeys().clear();
                assertThat(pair.client().read(ByteBuffer.allocate(1))).isOne();
                try (Background<Integer> selecting = Background.virtual(selector::select)) {
                    selector.wakeup();
                    assertThat(selecting.result()).isZero();
                }
            }
            try (Background<Boolean> selecting = Background.virtual(() -> {
                assertThat(selector.select()).isZero();
                return Thread.interrupted();
            })) {
                selecting.interrupt();
                assertThat(selecting.result()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCancelledKeyLeavesWithTheNextSelection(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            SelectionKey key = register(pair.client(), selector, READ);
            pair.server().write(ByteBuffer.allocate(1));
            assertThat(selector.select(LIMIT)).isOne();
            assertThat(pair.client().keyFor(selector)).isSameAs(key);
            assertThatThrownBy(() -> pair.client().configureBlocking(true))
                    .isInstanceOf(IllegalBlockingModeException.class);

            key.cancel();
            assertThat(key.isValid()).isFalse();
            assertThat(selector.keys()).containsExactly(key);
            assertThatThrownBy(key::interestOps).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(() -> key.interestOps(READ)).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(key::readyOps).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(() -> pair.client().register(selector, READ))
                    .isInstanceOf(CancelledKeyException.class);

            assertThat(selector.selectNow()).isZero();
            assertThat(selector.keys()).isEmpty();
            assertThat(selector.selectedKeys()).isEmpty();
            assertThat(pair.client().isRegistered()).isFalse();
            SelectionKey again = pair.client().register(selector, READ);
            assertThat(again).isNotSameAs(key);
            assertThat(selector.select(LIMIT)).isOne();
            assertThat(pair.client().register(selector, WRITE, "x")).isSameAs(again);
            assertThat(again.interestOps()).isEqualTo(WRITE);
            assertThat(again.attachment()).isEqualTo("x");

            again.cancel();
            selector.selectNow();
            pair.client().configureBlocking(true);
            assertThat(pair.client().read(ByteBuffer.allocate(2))).isOne();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClosedChannelLeavesItsSelector(NioProvider provider) throws Exception {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            SelectionKey key = register(pair.client(), selector, READ);
            try (Background<Integer> selecting = Background.call(() -> selector.select(LIMIT))) {
                pair.client().close();
                assertThat(key.isValid()).isFalse();
                assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
                selector.wakeup();
                assertThat(selecting.result()).isZero();
            }
            assertThat(selector.keys()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClosedSelectorLetsItsChannelsGo(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair()) {
            Selector selector = provider.get().openSelector();
            SelectionKey key = register(pair.client(), selector, READ);
            try (Background<Void> selecting = Background.run(() -> {
                try {
                    selector.select();
                } catch (ClosedSelectorException e) {
                    assertThat(selector.isOpen()).isFalse();
                }
            })) {
                selector.close();
                selecting.result();
            }
            selector.close();
            assertThat(selector.isOpen()).isFalse();
            assertThat(key.isValid()).isFalse();
            assertThat(pair.client().isRegistered()).isFalse();
            assertThat(selector.wakeup()).isSameAs(selector);
            assertThatThrownBy(selector::select).isInstanceOf(ClosedSelectorException.class);
            assertThatThrownBy(selector::keys).isInstanceOf(ClosedSelectorException.class);
            assertThatThrownBy(selector::selectedKeys).isInstanceOf(ClosedSelectorException.class);
            assertThatThrownBy(() -> pair.client().register(selector, READ))
                    .isInstanceOf(ClosedSelectorException.class);
            try (Selector other = provider.get().openSelector()) {
                register(pair.client(), other, WRITE);
                assertThat(other.select(LIMIT)).isOne();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void twoSelectorsShareAChannel(NioProvider provider) throws Exception {
        try (Selector one = provider.get().openSelector(); Selector two = provider.get().openSelector();
                Pair pair = provider.pair()) {
            register(pair.client(), one, READ);
            pair.client().register(two, READ);
            for (int i = 0; i < 20; i++) {
                try (Background<Integer> first = Background.call(() -> one.select(LIMIT));
                        Background<Integer> second = Background.call(() -> two.select(LIMIT))) {
                    pair.server().write(ByteBuffer.allocate(1));
                    assertThat(first.result()).isOne();
                    assertThat(second.result()).isOne();
                }
                one.selectedKeys().clear();
                two.selectedKeys().clear();
                assertThat(pair.client().read(ByteBuffer.allocate(1))).isOne();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void anActionTakesTheKeys(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            SelectionKey key = register(pair.client(), selector, WRITE);
            List<SelectionKey> taken = new ArrayList<>();

            assertThat(selector.select(taken::add, LIMIT)).isOne();
            assertThat(selector.select(taken::add)).isOne();
            assertThat(selector.selectNow(taken::add)).isOne();

            assertThat(taken).containsExactly(key, key, key);
            assertThat(selector.selectedKeys()).isEmpty();
            assertThatThrownBy(() -> selector.select(null, 1)).isInstanceOf(NullPointerException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anActionMayCloseTheSelector(NioProvider provider) throws IOException {
        try (Pair pair = provider.pair()) {
            Selector selector = provider.get().openSelector();
            register(pair.client(), selector, WRITE);

            assertThatThrownBy(() -> selector.select(key -> close(key.selector())))
                    .isInstanceOf(ClosedSelectorException.class);
        }
    }

    private static void close(Selector selector) {
        try {
            selector.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void programsRemoveKeysAndAddNone(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            SelectionKey key = register(pair.client(), selector, WRITE);
            assertThat(selector.select(LIMIT)).isOne();

            assertThatThrownBy(() -> selector.selectedKeys().add(key))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> selector.keys().remove(key)).isInstanceOf(UnsupportedOperationException.class);
            assertThat(selector.selectedKeys().remove(key)).isTrue();
            assertThat(selector.selectedKeys()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void onlyNonBlockingChannelsAreRegistered(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            assertThatThrownBy(() -> pair.client().register(selector, READ))
                    .isInstanceOf(IllegalBlockingModeException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aKeyThatAnotherThreadCancelsStaysSelected(NioProvider provider) throws Exception {
        try (Selector selector = provider.get().openSelector(); Pair one = provider.pair();
                Pair two = provider.pair()) {
            SelectionKey first = register(one.client(), selector, WRITE);
            SelectionKey second = register(two.client(), selector, WRITE);
            while (selector.selectedKeys().size() < 2) {
                selector.select(LIMIT);
            }
            int seen = 0;
            for (SelectionKey key : selector.selectedKeys()) {
                Background.run(() -> {
                    first.cancel();
                    two.client().close();
                }).result();
                assertThat(key.isValid()).isFalse();
                seen++;
            }
            assertThat(seen).isEqualTo(2);
            assertThat(selector.selectedKeys()).containsExactlyInAnyOrder(first, second);
            selector.selectNow();
            assertThat(selector.selectedKeys()).isEmpty();
        }
    }

    /** A key changes while its selector is closed: the only failure is that of a key that is no longer valid. */
    @ParameterizedTest
    @EnumSource
    void keysChangeWhileTheirSelectorIsClosed(NioProvider provider) throws Exception {
        try (Pair pair = provider.pair()) {
            for (int i = 0; i < 100; i++) {
                Selector selector = provider.get().openSelector();
                SelectionKey key = register(pair.client(), selector, READ);
                try (Background<Void> changing = Background.run(() -> {
                    try {
                        while (true) {
                            key.interestOps(key.interestOps() ^ WRITE);
                            key.interestOpsOr(READ);
                            key.interestOpsAnd(READ);
                        }
                    } catch (CancelledKeyException e) {
                        assertThat(key.isValid()).isFalse();
                    }
                }); Background<Void> registering = Background.run(() -> {
                    try {
                        while (true) {
                            pair.server().configureBlocking(false);
                            pair.server().register(selector, WRITE);
                        }
                    } catch (ClosedSelectorException | CancelledKeyException e) {
                        assertThat(key.selector()).isSameAs(selector);
                    }
                })) {
                    selector.selectNow();
                    selector.close();
                    changing.result();
                    registering.result();
                }
                assertThat(pair.server().keyFor(selector)).isNull();
                assertThat(pair.client().isRegistered()).isFalse();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void keysAreCancelledWhileTheirChannelsAreRegistered(NioProvider provider) throws Exception {
        SocketChannel last = provider.get().openSocketChannel();
        try (Selector selector = provider.get().openSelector(); Background<Void> cancelling = Background.run(() -> {
            while (last.isOpen()) {
                selector.keys().forEach(SelectionKey::cancel);
                selector.selectNow();
            }
        })) {
            for (int i = 0; i < 1000; i++) {
                try (SocketChannel channel = provider.get().openSocketChannel()) {
                    register(channel, selector, READ);
                }
            }
            last.close();
            cancelling.result();
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
        }
    }

    /** A channel that is not connecting is connectable, and then says why it is not. */
    @ParameterizedTest
    @EnumSource
    void aConnectThatDoesNotBeginMayBeginLater(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); ServerSocketChannel server = provider.listen();
                SocketChannel client = provider.get().openSocketChannel()) {
            SelectionKey key = register(client, selector, SelectionKey.OP_CONNECT);
            assertThatThrownBy(() -> client.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isInstanceOf(UnresolvedAddressException.class);
            assertThat(selector.select(LIMIT)).isOne();
            assertThat(key.isConnectable()).isTrue();
            assertThatThrownBy(client::finishConnect).isInstanceOf(NoConnectionPendingException.class);
            if (!client.connect(server.getLocalAddress())) {
                server.accept().close();
                selector.selectedKeys().clear();
                assertThat(selector.select(LIMIT)).isOne();
                assertThat(client.finishConnect()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClosedChannelTellsItsPeerBeforeTheNextSelection(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); Pair pair = provider.pair()) {
            register(pair.client(), selector, READ);
            selector.selectNow();
            pair.client().close();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anAcceptedChannelBlocksWhateverItsServerDoes(NioProvider provider) throws IOException {
        try (Selector selector = provider.get().openSelector(); ServerSocketChannel server = provider.listen()) {
            server.configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
            try (SocketChannel client = provider.get().openSocketChannel()) {
                client.configureBlocking(false);
                client.connect(server.getLocalAddress());
                assertThat(selector.select(LIMIT)).isOne();
                try (SocketChannel accepted = server.accept()) {
                    assertThat(accepted.isBlocking()).isTrue();
                    assertThat(accepted.isRegistered()).isFalse();
                    while (!client.finishConnect()) {
                        Thread.yield();
                    }
                    client.write(ByteBuffer.allocate(1));
                    assertThat(accepted.read(ByteBuffer.allocate(2))).isOne();
                }
            }
        }
    }

    private static SelectionKey register(SocketChannel channel, Selector selector, int ops) throws IOException {
        channel.configureBlocking(false);
        return channel.register(selector, ops);
    }
}
