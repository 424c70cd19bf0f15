// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.rdmacm.verbs.internal.wait.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A connect beside another one; a channel of the JDK stands for the one over RDMA. */
@Timeout(240)
class RaceTest {
    private static final SelectorProvider PROVIDER = new SocketsProvider(new Installation(Settings.DEFAULTS,
            new DeviceNetworks(Path.of("/none")), null));
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Connector connector = new Connector(PROVIDER);
    private ServerSocketChannel server;
    private InetSocketAddress refused;
    private InetSocketAddress silent;
    private boolean ended;

    @BeforeEach
    void listen() throws Exception {
        server = listen(50);
        try (ServerSocketChannel other = listen(1)) {
            refused = (InetSocketAddress) other.getLocalAddress();
        }
        silent = silent();
    }

    private ServerSocketChannel listen(int backlog) throws IOException {
        ServerSocketChannel channel = later(Installation.jdkProvider().openServerSocketChannel());
        return channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), backlog);
    }

    /** Returns the address of a server whose backlog is full: the kernel drops what asks for more. */
    private InetSocketAddress silent() throws IOException {
        ServerSocketChannel full = listen(1);
        List<SocketChannel> waiting = new ArrayList<>();
        do {
            waiting.add(channel());
            waiting.getLast().connect(full.getLocalAddress());
        } while (waiting.getLast().finishConnect());
        return (InetSocketAddress) full.getLocalAddress();
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

    private SocketChannel channel() throws IOException {
        SocketChannel channel = later(Installation.jdkProvider().openSocketChannel());
        channel.configureBlocking(false);
        return channel;
    }

    private static Choice choice(Duration beside) {
        return new Choice(new Settings(List.of(), beside, LIMIT, true), new DeviceNetworks(Path.of("/none")));
    }

    private Race race(InetSocketAddress rdma, InetSocketAddress tcp, Choice choice, boolean alone) throws Exception {
        SocketChannel one = channel();
        one.connect(rdma);
        Race race = new Race(tcp, one, alone ? null : channel(), choice, Deadline.FOREVER, () -> {
            synchronized (this) {
                ended = true;
                notifyAll();
            }
        });
        connector.begin(race);
        return race;
    }

    private synchronized void awaitEnd() throws InterruptedException {
        while (!ended) {
            wait();
        }
    }

    private static InetSocketAddress peer(Race.Outcome outcome) throws IOException {
        return (InetSocketAddress) Objects.requireNonNull(outcome.winner()).getRemoteAddress();
    }

    private InetSocketAddress served() throws IOException {
        return (InetSocketAddress) server.getLocalAddress();
    }

    @Test
    void whoeverAnswersWins() throws Exception {
        InetSocketAddress address = served();
        Choice choice = choice(LIMIT);
        Race.Outcome outcome = race(address, refused, choice, false).await(LIMIT);

        assertThat(peer(outcome)).isEqualTo(address);
        assertThat(outcome.reason()).isEmpty();
        awaitEnd();
    }

    @Test
    void tcpFollowsAtOnceWhenRdmaIsRefused() throws Exception {
        Choice choice = choice(LIMIT);
        Race.Outcome outcome = race(refused, served(), choice, false).await(LIMIT);

        assertThat(peer(outcome)).isEqualTo(served());
        assertThat(outcome.reason()).startsWith("RDMA failed: ");
        awaitEnd();
    }

    @Test
    void tcpIsTriedBesideWhenNothingAnswers() throws Exception {
        Race.Outcome outcome = race(silent, served(), choice(Duration.ofMillis(20)), false).await(LIMIT);

        assertThat(peer(outcome)).isEqualTo(served());
        assertThat(outcome.reason()).isEqualTo("no answer over RDMA");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void ifBothAreRefusedItFails(boolean alone) throws Exception {
        Race.Outcome outcome = race(refused, refused, choice(LIMIT), alone).await(LIMIT);

        assertThat(outcome.winner()).isNull();
        assertThat(outcome.failure()).isInstanceOf(ConnectException.class);
    }

    @Test
    void whenTcpIsRefusedTheSilenceOfRdmaIsNotWaitedFor() throws Exception {
        Race.Outcome outcome = race(silent, refused, choice(Duration.ofMillis(20)), false).await(LIMIT);

        assertThat(outcome.winner()).isNull();
        assertThat(outcome.failure()).isInstanceOf(ConnectException.class);
    }

    @Test
    void rdmaAloneWaitsForItsAnswer() throws Exception {
        Race race = race(silent, served(), choice(Duration.ZERO), true);

        assertThat(race.await(Duration.ofMillis(50))).isNull();
        assertThat(race.abandon()).isTrue();
        assertThat(race.abandon()).isFalse();
        assertThat(race.await(LIMIT).winner()).isNull();
    }

    @Test
    void whoGivesUpLeavesNothing() throws Exception {
        for (int i = 0; i < 20; i++) {
            SocketChannel one = channel();
            one.connect(silent);
            SocketChannel other = channel();
            Race race = new Race(silent, one, other, choice(Duration.ofMillis(i)), Deadline.FOREVER,
                    () -> { });
            connector.begin(race);
            race.abandon();
            connector.forget(race);
            assertThat(one.isOpen()).isFalse();
            assertThat(other.isOpen()).isFalse();
        }
        Race.Outcome outcome = race(served(), refused, choice(LIMIT), false).await(LIMIT);
        assertThat(peer(outcome)).isEqualTo(served());
    }
}
