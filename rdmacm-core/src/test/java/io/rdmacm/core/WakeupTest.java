// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.internal.wait.EventSource;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;

/** {@link EventChannel#pollEvent(Duration)} waits as {@link EventChannel#getEvent} does, and ends by a wakeup too. */
@FakeRdmaCm.With
class WakeupTest {
    private static final Duration LONG = Duration.ofDays(1);

    private static Background<Optional<CmEvent>> poll(EventChannel channel) {
        return Background.call(() -> channel.pollEvent(LONG));
    }

    @Test
    void anEventEndsThePoll() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP);
                Background<Optional<CmEvent>> waiting = poll(channel).awaitInside(Poller.class, "await")) {
            FakeRdmaCm.event(id, CmEventType.ADDR_CHANGE);
            try (CmEvent event = waiting.result().orElseThrow()) {
                assertThat(event.type()).isEqualTo(CmEventType.ADDR_CHANGE);
                assertThat(event.id()).isSameAs(id);
            }
        }
    }

    @Test
    void theTimeOutEndsThePoll() throws Exception {
        try (EventChannel channel = EventChannel.open()) {
            assertThat(channel.pollEvent(Duration.ZERO)).isEmpty();
            assertThat(channel.pollEvent(Duration.ofMillis(1))).isEmpty();
            assertThatThrownBy(() -> channel.pollEvent(Duration.ofMillis(-1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void closeAndInterruptEndThePoll() throws Exception {
        EventChannel channel = EventChannel.open();
        try (Background<Optional<CmEvent>> waiting = poll(channel).awaitInside(Poller.class, "await")) {
            waiting.interrupt();
            assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        }
        try (Background<Optional<CmEvent>> waiting = poll(channel).awaitInside(Poller.class, "await")) {
            channel.close();
            assertThatThrownBy(waiting::result).isInstanceOf(RdmaClosedException.class);
        }
        assertThatThrownBy(() -> channel.pollEvent(LONG)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(channel::wakeup).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aWakeupEndsAllPollsInProgress() throws Exception {
        try (EventChannel channel = EventChannel.open();
                Background<Optional<CmEvent>> first = poll(channel).awaitInside(Poller.class, "await");
                Background<Optional<CmEvent>> second = poll(channel).awaitInside(EventSource.class, "next")
                        .awaitWaiting()) {
            channel.wakeup();
            assertThat(first.result()).isEmpty();
            assertThat(second.result()).isEmpty();
        }
    }

    @Test
    void aWakeupThatFindsNoPollEndsTheNextOne() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            channel.wakeup();
            channel.wakeup();
            assertThat(channel.pollEvent(LONG)).isEmpty();
            try (Background<Optional<CmEvent>> waiting = poll(channel).awaitInside(Poller.class, "await")) {
                FakeRdmaCm.event(id, CmEventType.ADDR_CHANGE);
                waiting.result().orElseThrow().close();
            }
        }
    }

    @Test
    void anEventIsReturnedThoughAWakeupIsDue() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            channel.wakeup();
            FakeRdmaCm.event(id, CmEventType.ADDR_CHANGE);
            channel.pollEvent(LONG).orElseThrow().close();
            assertThat(channel.pollEvent(Duration.ZERO)).isEmpty();
        }
    }

    @Test
    void aWakeupDoesNotEndOtherWaits() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            try (Background<CmEvent> waiting = Background.call(() -> channel.getEvent(LONG))
                    .awaitInside(Poller.class, "await")) {
                channel.wakeup();
                FakeRdmaCm.event(id, CmEventType.ADDR_CHANGE);
                waiting.result().close();
            }
            try (Background<CmEvent> waiting = Background.call(
                    () -> channel.await(id, CmEventType.ADDR_RESOLVED, LONG)).awaitInside(Poller.class, "await")) {
                channel.wakeup();
                FakeRdmaCm.event(id, CmEventType.ADDR_RESOLVED);
                waiting.result().close();
            }
            assertThat(channel.pollEvent()).isEmpty();
            assertThat(channel.pollEvent(LONG)).as("the wakeups that ended nothing").isEmpty();
        }
    }

    /** The way an event loop takes work from other threads: hand it over, then wake. None is left behind. */
    @Test
    void noWakeupIsLost() throws Exception {
        int tasks = 2000;
        Queue<Integer> handedOver = new ConcurrentLinkedQueue<>();
        try (EventChannel channel = EventChannel.open();
                Background<List<Integer>> loop = Background.call(() -> {
                    List<Integer> done = new ArrayList<>();
                    while (done.size() < tasks) {
                        assertThat(channel.pollEvent(LONG)).isEmpty();
                        for (Integer task = handedOver.poll(); task != null; task = handedOver.poll()) {
                            done.add(task);
                        }
                    }
                    return done;
                })) {
            for (int i = 0; i < tasks; i++) {
                handedOver.add(i);
                channel.wakeup();
            }
            assertThat(loop.result()).hasSize(tasks).isSorted();
        }
    }
}
