// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
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

    /** A call that waits for ever, with all that it needs. */
    private static final class Waiter implements AutoCloseable {
        private final Endpoint endpoint;
        private final Call call;
        private final List<Closing> others;

        Waiter(Endpoint endpoint, Call call, Closing... others) {
            this.endpoint = endpoint;
            this.call = call;
            this.others = List.of(others);
        }

        @Override
        public void close() throws RdmaException {
            endpoint.close();
            for (Closing other : others) {
                other.close();
            }
        }
    }

    @FunctionalInterface
    private interface Closing {
        void close() throws RdmaException;
    }

    @FunctionalInterface
    private interface Call {
        void run(Endpoint endpoint, Duration timeout) throws Exception;
    }

    @FunctionalInterface
    private interface Maker {
        Waiter make() throws Exception;
    }

    private static final Map<String, Maker> WAITERS = new TreeMap<>(Map.of(
            "getRequest", () -> new Waiter(EndpointPair.listen(null), Endpoint::getRequest),
            "connect", EndpointWaitingDeviceTest::connecting,
            "accept", EndpointWaitingDeviceTest::accepting,
            "disconnect", EndpointWaitingDeviceTest::disconnecting,
            "getSendCompletion", () -> connected(Endpoint::getSendCompletion),
            "getReceiveCompletion", () -> connected(Endpoint::getReceiveCompletion),
            "getSendCompletions", () -> connected((e, t) -> e.getSendCompletions(WorkCompletions.allocate(2), t)),
            "getReceiveCompletions",
            () -> connected((e, t) -> e.getReceiveCompletions(WorkCompletions.allocate(2), t))));

    @TestFactory
    Stream<DynamicTest> closeEndsTheWait() {
        return tests(waiter -> {
            try (Background<Void> waiting = Background.run(() -> waiter.call.run(waiter.endpoint, LONG))) {
                awaitInside(waiting);
                waiter.endpoint.close();
                assertThatThrownBy(waiting::result).isInstanceOf(RdmaClosedException.class)
                        .hasMessageContaining("Endpoint");
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> anInterruptEndsTheWait() {
        return tests(waiter -> {
            try (Background<Void> waiting = Background.run(() -> waiter.call.run(waiter.endpoint, LONG))) {
                awaitInside(waiting);
                waiting.interrupt();
                assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
            }
            assertThat(waiter.endpoint.isOpen()).isTrue();
        });
    }

    @TestFactory
    Stream<DynamicTest> theTimeOutEndsTheWait() {
        return tests(waiter -> {
            assertThatThrownBy(() -> waiter.call.run(waiter.endpoint, Duration.ofMillis(20)))
                    .isInstanceOf(RdmaTimeoutException.class);
            assertThat(waiter.endpoint.isOpen()).isTrue();
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

    @FunctionalInterface
    private interface Check {
        void run(Waiter waiter) throws Exception;
    }

    private static Stream<DynamicTest> tests(Check check) {
        return WAITERS.entrySet().stream().map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
            try (Waiter waiter = entry.getValue().make()) {
                check.run(waiter);
            }
        }));
    }

    private static void awaitInside(Background<?> waiting) {
        waiting.awaitInside(Poller.class, "await");
    }

    private static Waiter connected(Call call) throws Exception {
        EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults());
        return new Waiter(pair.client, call, pair::close);
    }

    /** A client whose server does not answer. */
    private static Waiter connecting() throws Exception {
        Endpoint listener = EndpointPair.listen(null);
        return new Waiter(active(listener), (endpoint, timeout) -> endpoint.connect(ConnectionParameters.defaults(),
                timeout), listener::close);
    }

    /** A server whose client does not take the event that would complete the handshake. */
    private static Waiter accepting() throws Exception {
        Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
        EventChannel channel = EventChannel.open();
        End client = new End(Loopback.resolved(channel, listener.localAddress()));
        client.id.connect(ConnectionParameters.defaults());
        return new Waiter(listener.getRequest(Loopback.TIMEOUT),
                (endpoint, timeout) -> endpoint.accept(ConnectionParameters.defaults(), timeout), client::close,
                channel::close, listener::close);
    }

    /** A client whose server does not answer the disconnect. */
    private static Waiter disconnecting() throws Exception {
        EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults());
        return new Waiter(pair.client, Endpoint::disconnect, pair::close);
    }

    private static Endpoint active(Endpoint listener) throws RdmaException, InterruptedException {
        return Endpoint.createActive(listener.localAddress(), PortSpace.TCP, EndpointAttributes.defaults(),
                Loopback.TIMEOUT);
    }
}
