// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.EndpointWait;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.EventSource;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Each call of an endpoint that waits ends by close, interrupt and time-out, and when the connection ends. */
@RequiresRdma
class EndpointWaitingDeviceTest {
    private static final Duration LONG = Duration.ofDays(1);

    @TestFactory
    Stream<DynamicTest> closeEndsTheWait() {
        return tests((waiter, kind) -> {
            try (Background<Void> waiting = kind.start(() -> waiter.run(LONG))) {
                awaitInside(waiting);
                waiter.endpoint().close();
                assertThatThrownBy(waiting::result).isInstanceOf(RdmaClosedException.class)
                        .hasMessageContaining("Endpoint");
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> anInterruptEndsTheWait() {
        return tests((waiter, kind) -> {
            try (Background<Void> waiting = kind.start(() -> waiter.run(LONG))) {
                awaitInside(waiting);
                waiting.interrupt();
                assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
            }
            assertThat(waiter.endpoint().isOpen()).isTrue();
        });
    }

    @TestFactory
    Stream<DynamicTest> theTimeOutEndsTheWait() {
        return tests((waiter, kind) -> {
            assertThatThrownBy(() -> kind.start(() -> waiter.run(Duration.ofMillis(20))).result())
                    .isInstanceOf(RdmaTimeoutException.class);
            assertThat(waiter.endpoint().isOpen()).isTrue();
        });
    }

    @Test
    void postedReceivesAreFlushedWhenThePeerEndsTheConnection() throws Exception {
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults())) {
            pair.server.postReceive(7, pair.serverMemory, 0, 10);
            try (Background<?> waiting = Background.call(() -> pair.server.getReceiveCompletion(LONG))) {
                waiting.awaitInside(Poller.class, "await");
                pair.client.disconnect(Loopback.TIMEOUT);
                assertThat(waiting.result()).hasFieldOrPropertyWithValue("status", WorkCompletionStatus.WR_FLUSH_ERR);
            }
            assertThatThrownBy(() -> pair.server.getReceiveCompletion(LONG)).isInstanceOf(DisconnectedException.class);
            pair.server.disconnect(LONG);
            pair.server.disconnect(LONG);
        }
    }

    @Test
    void aWaitWithNothingPostedEndsWhenThePeerIsClosed() throws Exception {
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults());
                Background<?> sends = Background.call(() -> pair.server.getSendCompletion(LONG));
                Background<?> receives = Background.call(() -> pair.server.getReceiveCompletion(LONG))) {
            sends.awaitInside(Poller.class, "await");
            receives.awaitInside(Poller.class, "await");
            pair.client.close();
            assertThatThrownBy(sends::result).isInstanceOf(DisconnectedException.class);
            assertThatThrownBy(receives::result).isInstanceOf(DisconnectedException.class);
        }
    }

    /** The thread that reads the event wakes the other one, which holds what it polls with and wants to read, too. */
    @Test
    void bothDirectionsReadTheEndAtTheSameTime() throws Exception {
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults())) {
            EventChannel channel = pair.server.id().channel();
            channel.lock().lock();
            try (Background<?> sends = Background.call(() -> pair.server.getSendCompletion(LONG));
                    Background<?> receives = Background.call(() -> pair.server.getReceiveCompletion(LONG))) {
                try {
                    sends.awaitInside(EventChannel.class, "readAll").awaitWaiting();
                    receives.awaitInside(EventChannel.class, "readAll").awaitWaiting();
                    pair.client.close();
                    new Poller(channel.fd()).await(Loopback.TIMEOUT.toNanos());
                } finally {
                    channel.lock().unlock();
                }
                assertThatThrownBy(sends::result).isInstanceOf(DisconnectedException.class);
                assertThatThrownBy(receives::result).isInstanceOf(DisconnectedException.class);
            }
        }
    }

    @Test
    void messagesThatArrivedBeforeTheEndAreStillThere() throws Exception {
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.builder().signalAll(true).build())) {
            for (int i = 0; i < 5; i++) {
                pair.server.postReceive(i, pair.serverMemory, 0, 10);
                pair.client.postSend(i, pair.clientMemory, 0, i, Set.of());
                pair.client.getSendCompletion(Loopback.TIMEOUT);
            }
            pair.client.close();
            for (int i = 0; i < 5; i++) {
                assertThat(pair.server.getReceiveCompletion(Loopback.TIMEOUT).byteLength()).isEqualTo(i);
            }
            assertThatThrownBy(() -> pair.server.getReceiveCompletion(LONG)).isInstanceOf(DisconnectedException.class);
        }
    }

    @Test
    void theChannelIsSharedAndStillEachGetsItsOwn() throws Exception {
        Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
        try (EndpointPair first = EndpointPair.connect(listener, EndpointAttributes.defaults());
                EndpointPair second = EndpointPair.connect(listener, EndpointAttributes.defaults());
                Background<?> one = Background.call(() -> first.server.getReceiveCompletion(LONG));
                Background<?> two = Background.call(() -> second.server.getReceiveCompletion(LONG));
                Background<?> three = Background.call(() -> listener.getRequest(LONG))) {
            one.awaitInside(Poller.class, "await");
            two.awaitInside(Poller.class, "await");
            three.awaitInside(EventSource.class, "next");
            second.client.close();
            assertThatThrownBy(two::result).isInstanceOf(DisconnectedException.class);
            assertThat(one.isDone()).isFalse();
            first.client.close();
            assertThatThrownBy(one::result).isInstanceOf(DisconnectedException.class);
            assertThat(three.isDone()).isFalse();
            listener.close();
            assertThatThrownBy(three::result).isInstanceOf(RdmaClosedException.class);
        }
    }

    private enum Kind {
        PLATFORM, VIRTUAL;

        Background<Void> start(Background.Action action) {
            return this == VIRTUAL ? Background.virtual(() -> {
                action.run();
                return null;
            }) : Background.run(action);
        }
    }

    @FunctionalInterface
    private interface Check {
        void run(EndpointWait waiter, Kind kind) throws Exception;
    }

    private static Stream<DynamicTest> tests(Check check) {
        return Arrays.stream(Kind.values()).flatMap(kind -> EndpointWait.ALL.entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey() + ", " + kind, () -> {
                    try (EndpointWait waiter = entry.getValue().make()) {
                        check.run(waiter, kind);
                    }
                })));
    }

    private static void awaitInside(Background<?> waiting) {
        waiting.awaitInside(Poller.class, "await");
    }
}
