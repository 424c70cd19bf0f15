// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Optional;

import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.EventSource;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Waits end: by the event, by the time-out, by an interrupt, by close. */
@RequiresRdma
class EventWaitingDeviceTest {
    private static final Duration LONG = Duration.ofDays(1);

    @Test
    void aWaitForAnyEventIsWokenByClosingTheChannel() throws Exception {
        EventChannel channel = EventChannel.open();
        try (Background<CmEvent> waiting = Background.call(() -> channel.getEvent(LONG))) {
            waiting.awaitInside(EventSource.class, "next");
            channel.close();
            assertThatThrownBy(waiting::result).isInstanceOf(RdmaClosedException.class)
                    .hasMessageContaining("EventChannel");
        }
    }

    @Test
    void aWaitForAnIdIsWokenByClosingTheId() throws Exception {
        try (EventChannel channel = EventChannel.open()) {
            CmId id = CmId.open(channel, PortSpace.TCP);
            try (Background<CmEvent> waiting = Background.call(
                    () -> channel.await(id, CmEventType.ADDR_RESOLVED, LONG))) {
                waiting.awaitInside(EventSource.class, "next");
                id.close();
                assertThatThrownBy(waiting::result).isInstanceOf(RdmaClosedException.class)
                        .hasMessageContaining("CmId");
            }
        }
    }

    @Test
    void aWaitIsEndedByAnInterruptAndTheChannelGoesOn() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId id = CmId.open(channel, PortSpace.TCP)) {
            try (Background<CmEvent> waiting = Background.call(() -> channel.getEvent(LONG))) {
                waiting.awaitInside(EventSource.class, "next");
                waiting.interrupt();
                assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
            }
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertThat(event.type()).isEqualTo(CmEventType.ADDR_RESOLVED);
            }
        }
    }

    @Test
    void aWaitIsEndedByItsTimeOut() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            assertThatThrownBy(() -> channel.getEvent(Duration.ofMillis(1))).isInstanceOf(RdmaTimeoutException.class);
            assertThatThrownBy(() -> channel.getEvent(Duration.ZERO)).isInstanceOf(RdmaTimeoutException.class);
            assertThatThrownBy(() -> channel.await(id, CmEventType.ADDR_RESOLVED, Duration.ofMillis(1)))
                    .isInstanceOf(RdmaTimeoutException.class).hasMessageContaining("ADDR_RESOLVED");
            assertThatThrownBy(() -> channel.getEvent(Duration.ofMillis(-1)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(channel.pollEvent()).isEmpty();
        }
    }

    @Test
    void aWakeupEndsAPollOnlyAndTheChannelGoesOn() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId id = CmId.open(channel, PortSpace.TCP)) {
            try (Background<Optional<CmEvent>> waiting = Background.call(() -> channel.pollEvent(LONG))) {
                waiting.awaitInside(EventSource.class, "next");
                channel.wakeup();
                assertThat(waiting.result()).isEmpty();
            }
            try (Background<CmEvent> waiting = Background.call(() -> channel.getEvent(LONG))) {
                waiting.awaitInside(EventSource.class, "next");
                channel.wakeup();
                id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
                try (CmEvent event = waiting.result()) {
                    assertThat(event.type()).isEqualTo(CmEventType.ADDR_RESOLVED);
                }
            }
            assertThat(channel.pollEvent(LONG)).as("the wakeup that ended nothing").isEmpty();
            id.resolveRoute(Loopback.TIMEOUT);
            try (CmEvent event = channel.pollEvent(LONG).orElseThrow()) {
                assertThat(event.type()).isEqualTo(CmEventType.ROUTE_RESOLVED);
            }
        }
    }

    @Test
    void severalThreadsWaitOnOneChannelEachForItsOwnId() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId first = CmId.open(channel, PortSpace.TCP); CmId second = CmId.open(channel, PortSpace.TCP);
                Background<CmEvent> firstWait = Background.call(
                        () -> channel.await(first, CmEventType.ADDR_RESOLVED, LONG));
                Background<CmEvent> secondWait = Background.call(
                        () -> channel.await(second, CmEventType.ADDR_RESOLVED, LONG))) {
            firstWait.awaitInside(EventSource.class, "next");
            secondWait.awaitInside(EventSource.class, "next");
            second.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            try (CmEvent event = secondWait.result()) {
                assertThat(event.id()).isSameAs(second);
            }
            assertThat(firstWait.isDone()).isFalse();
            first.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            try (CmEvent event = firstWait.result()) {
                assertThat(event.id()).isSameAs(first);
            }
        }
    }

    @Test
    void eventsOfOtherIdsAreKeptForThoseWhoAsk() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId first = CmId.open(channel, PortSpace.TCP); CmId second = CmId.open(channel, PortSpace.TCP)) {
            first.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            second.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            channel.await(second, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertThat(event.id()).isSameAs(first);
                assertThat(event.status()).isZero();
            }
        }
    }

    @Test
    void closingAnIdDropsItsEventsThatNobodyAskedFor() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId other = CmId.open(channel, PortSpace.TCP)) {
            CmId id = CmId.open(channel, PortSpace.TCP);
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            other.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            // reads both events and keeps the one of id
            channel.await(other, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            id.close();
            assertThat(channel.pollEvent()).isEmpty();
        }
    }

    @Test
    void aWaitForCompletionsIsWokenByClosingTheQueueAndByItsChannel() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId id = loopback.resolved(channel)) {
            var completionChannel = id.context().createCompletionChannel();
            var queue = id.context().createCompletionQueue(4, completionChannel);
            var completions = WorkCompletions.allocate(1);
            try (Background<Integer> waiting = Background.call(() -> queue.await(completions, LONG))) {
                waiting.awaitInside(EventSource.class, "next");
                queue.close();
                assertThatThrownBy(waiting::result).isInstanceOf(RdmaClosedException.class);
            }
            try (Background<?> waiting = Background.call(() -> completionChannel.getEvent(LONG))) {
                waiting.awaitInside(EventSource.class, "next");
                completionChannel.close();
                assertThatThrownBy(waiting::result).isInstanceOf(RdmaClosedException.class);
            }
        }
    }
}
