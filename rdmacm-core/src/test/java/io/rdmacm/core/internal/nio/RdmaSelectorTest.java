// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The selector with channels whose events the test makes. */
class RdmaSelectorTest {
    private static final long LIMIT = TimeUnit.MINUTES.toMillis(4);
    private static final RdmaSelectorProvider PROVIDER = new RdmaSelectorProvider(
            StreamSettings.builder().waiting(WaitPolicy.sleepAtOnce()).build());

    private final List<FakeChannel> channels = new ArrayList<>();
    private Selector selector;

    @BeforeEach
    void open() throws Exception {
        selector = PROVIDER.openSelector();
    }

    @AfterEach
    void close() throws Exception {
        selector.close();
        for (FakeChannel channel : channels) {
            channel.close();
        }
    }

    private FakeChannel register(int ops) throws Exception {
        FakeChannel channel = new FakeChannel(PROVIDER);
        channels.add(channel);
        channel.register(selector, ops);
        return channel;
    }

    @Test
    void idleChannelsAreNotLookedAt() throws Exception {
        for (int i = 0; i < 1000; i++) {
            register(SelectionKey.OP_READ);
        }
        assertThat(selector.select(1)).isZero();
        List<Integer> before = channels.stream().map(FakeChannel::looks).toList();
        FakeChannel busy = channels.get(500);

        for (int i = 0; i < 100; i++) {
            busy.arrive();
            assertThat(selector.select(LIMIT)).isOne();
            assertThat(selector.selectedKeys()).containsExactly(busy.keyFor(selector));
            selector.selectedKeys().clear();
            busy.read();
        }

        List<Integer> after = new ArrayList<>(channels.stream().map(FakeChannel::looks).toList());
        after.set(500, before.get(500));
        assertThat(after).isEqualTo(before);
    }

    @Test
    void aBusyChannelDoesNotKeepOthersWaiting() throws Exception {
        FakeChannel busy = register(SelectionKey.OP_READ);
        FakeChannel other = register(SelectionKey.OP_READ);
        assertThat(selector.select(1)).isZero();
        busy.arrive();
        assertThat(selector.select(LIMIT)).isOne();

        other.arrive();
        // Never read, and not removed from the selected keys.
        assertThat(selector.select(LIMIT)).isOne();
        assertThat(selector.selectedKeys()).hasSize(2);
    }

    @Test
    void whatWasTakenByAnotherThreadWakesTheSelector() throws Exception {
        FakeChannel channel = register(SelectionKey.OP_READ);
        for (int i = 0; i < 200; i++) {
            try (Background<Integer> selecting = Background.call(() -> selector.select(LIMIT))) {
                synchronized (channel) {
                    channel.arrive();
                    // The file is not readable any more before the selector can have seen it.
                    channel.write();
                }
                assertThat(selecting.result()).isOne();
            }
            selector.selectedKeys().clear();
            channel.read();
        }
    }

    @Test
    void whatOneSelectorTakesIsNotLostForTheOther() throws Exception {
        FakeChannel channel = register(SelectionKey.OP_READ);
        try (Selector other = PROVIDER.openSelector()) {
            channel.register(other, SelectionKey.OP_READ);
            for (int i = 0; i < 200; i++) {
                try (Background<Integer> one = Background.call(() -> selector.select(LIMIT));
                        Background<Integer> two = Background.call(() -> other.select(LIMIT))) {
                    channel.arrive();
                    assertThat(one.result()).isOne();
                    assertThat(two.result()).isOne();
                }
                selector.selectedKeys().clear();
                other.selectedKeys().clear();
                channel.read();
            }
        }
    }

    @Test
    void whatIsOfNoInterestNeitherEndsASelectionNorSpins() throws Exception {
        FakeChannel channel = register(0);
        assertThat(selector.select(1)).isZero();
        channel.arrive();
        int before = channel.looks();
        assertThat(selector.select(100)).isZero();
        assertThat(selector.select(100)).isZero();
        assertThat(channel.looks() - before).isLessThan(5);

        channel.keyFor(selector).interestOps(SelectionKey.OP_READ);
        assertThat(selector.select(LIMIT)).isOne();
    }

    @Test
    void eventsWithoutAnOperationDoNotEndASelection() throws Exception {
        FakeChannel channel = register(SelectionKey.OP_READ);
        try (Background<Integer> selecting = Background.call(() -> selector.select(LIMIT))) {
            for (int i = 0; i < 100; i++) {
                int arms = channel.arms();
                channel.stir();
                while (channel.arms() == arms) {
                    Thread.yield();
                }
            }
            assertThat(selecting.isDone()).isFalse();
            channel.arrive();
            assertThat(selecting.result()).isOne();
        }
    }

    @Test
    void manyThreadsChangeEverything() throws Exception {
        List<FakeChannel> registered = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < 20; i++) {
            registered.add(register(SelectionKey.OP_READ));
        }
        int rounds = 2000;
        List<Background<Void>> threads = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            int first = t;
            threads.add(Background.run(() -> {
                for (int i = 0; i < rounds; i++) {
                    FakeChannel channel = registered.get((first + i * 7) % registered.size());
                    SelectionKey key = channel.keyFor(selector);
                    switch ((first + i) % 4) {
                        case 0 -> key.interestOps(0);
                        case 1 -> channel.write();
                        case 2 -> key.interestOps(SelectionKey.OP_READ);
                        default -> channel.arrive();
                    }
                }
            }));
        }
        int read = 0;
        while (!threads.stream().allMatch(Background::isDone)) {
            selector.select(1);
            read += readSelected();
        }
        for (Background<Void> thread : threads) {
            thread.result();
        }
        for (FakeChannel channel : registered) {
            channel.keyFor(selector).interestOps(SelectionKey.OP_READ);
        }
        while (selector.selectNow() > 0) {
            read += readSelected();
        }
        assertThat(read).isEqualTo(3 * rounds / 4);
        assertThat(selector.select(1)).isZero();
    }

    private int readSelected() throws Exception {
        int read = 0;
        for (SelectionKey key : selector.selectedKeys()) {
            ((FakeChannel) key.channel()).read();
            read++;
        }
        selector.selectedKeys().clear();
        return read;
    }

    @Test
    void channelsComeAndGoWhileItSelects() throws Exception {
        FakeChannel stays = register(SelectionKey.OP_READ);
        try (Background<Void> selecting = Background.run(() -> {
            while (selector.select() == 0) {
                assertThat(selector.selectedKeys()).isEmpty();
            }
        })) {
            for (int i = 0; i < 500; i++) {
                try (FakeChannel channel = new FakeChannel(PROVIDER)) {
                    channel.register(selector, SelectionKey.OP_READ);
                    selector.wakeup();
                    // The next one gets the same file descriptor.
                }
            }
            stays.arrive();
            selecting.result();
        }
        selector.selectNow();
        assertThat(selector.keys()).containsExactly(stays.keyFor(selector));
    }

    @Test
    void itPollsForAsLongAsTheSettingsSay() throws Exception {
        RdmaSelectorProvider polling = new RdmaSelectorProvider(
                StreamSettings.builder().waiting(WaitPolicy.spinFor(Duration.ofMinutes(1))).build());
        try (Selector spinning = polling.openSelector()) {
            FakeChannel channel = new FakeChannel(polling);
            channels.add(channel);
            channel.register(spinning, SelectionKey.OP_READ);
            try (Background<Integer> selecting = Background.call(() -> spinning.select(LIMIT))) {
                while (channel.looks() < 1000) {
                    Thread.yield();
                }
                channel.arrive();
                assertThat(selecting.result()).isOne();
            }
            assertThat(channel.arms()).isZero();
            spinning.selectedKeys().clear();
            channel.read();
            try (Background<Integer> selecting = Background.call(() -> spinning.select(LIMIT))) {
                spinning.wakeup();
                assertThat(selecting.result()).isZero();
            }
            assertThat(spinning.select(20)).isZero();
        }
    }

    @Test
    void channelsOfOtherProvidersAreRefusedWithAReason() throws Exception {
        Pipe pipe = PROVIDER.openPipe();
        try (SocketChannel tcp = SocketChannel.open(); DatagramChannel datagrams = PROVIDER.openDatagramChannel();
                Pipe.SourceChannel source = pipe.source(); Pipe.SinkChannel sink = pipe.sink()) {
            for (SelectableChannel foreign : List.of(tcp, datagrams, source, sink)) {
                foreign.configureBlocking(false);
                assertThatThrownBy(() -> foreign.register(selector, foreign.validOps()))
                        .isInstanceOf(IllegalSelectorException.class)
                        .hasMessageContainingAll("RdmaSelectorProvider", foreign.getClass().getSimpleName());
            }
            assertThat(selector.keys()).isEmpty();
        }
        try (Selector tcp = Selector.open(); SocketChannel ours = PROVIDER.openSocketChannel()) {
            ours.configureBlocking(false);
            assertThatThrownBy(() -> ours.register(tcp, SelectionKey.OP_READ))
                    .isInstanceOf(IllegalSelectorException.class);
        }
    }

    @Test
    void aSelectionInASelectionIsRefused() throws Exception {
        FakeChannel channel = register(SelectionKey.OP_READ);
        channel.arrive();

        assertThatThrownBy(() -> selector.select(key -> select())).isInstanceOf(IllegalStateException.class);
        assertThat(selector.selectNow()).isOne();
        assertThat(Set.copyOf(selector.selectedKeys())).containsExactly(channel.keyFor(selector));
    }

    private void select() {
        try {
            selector.selectNow();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
