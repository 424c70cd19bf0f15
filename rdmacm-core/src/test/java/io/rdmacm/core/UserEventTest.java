// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionRequest;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Events that a program writes itself: they wake whoever waits, carry what was written, and keep no id open. */
@FakeRdmaCm.With
class UserEventTest {
    // as a pointer it would lead nowhere
    private static final long ARGUMENT = 0x8765_4321_0fed_cba9L;
    private static final Duration LONG = Duration.ofDays(1);
    private static final ConnectionParameters NUMBERED = ConnectionParameters.builder().queuePairNumber(5).build();

    private static void assertWritten(CmEvent event, CmId id) {
        assertThat(event.type()).isEqualTo(CmEventType.USER);
        assertThat(event.id()).isSameAs(id);
        assertThat(event.status()).isEqualTo(-5);
        assertThat(event.argument()).isEqualTo(ARGUMENT);
        assertThatThrownBy(event::connectionParameters).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(event::datagramParameters).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(event::privateData).isInstanceOf(IllegalStateException.class);
    }

    @ParameterizedTest
    @EnumSource(PortSpace.class)
    @Covers("rdma_write_cm_event")
    void whatIsWrittenIsRead(PortSpace portSpace) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, portSpace)) {
            id.writeEvent(-5, ARGUMENT);
            FakeRdmaCm.Call call = FakeRdmaCm.calls("rdma_write_cm_event").getFirst();
            assertThat(call.arguments()).startsWith(id.handle().address(), (long) Rdma.RDMA_CM_EVENT_USER());
            assertThat(call.arguments().get(2).intValue()).isEqualTo(-5);
            assertThat(ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder()).getLong()).isEqualTo(ARGUMENT);
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertWritten(event, id);
            }
            assertThat(FakeRdmaCm.call("fake_unacknowledged")).isZero();
        }
    }

    @Test
    void everyWaitIsWoken() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            try (Background<CmEvent> waiting = Background.call(() -> channel.getEvent(LONG))
                    .awaitInside(Poller.class, "await")) {
                id.writeEvent(-5, ARGUMENT);
                try (CmEvent event = waiting.result()) {
                    assertWritten(event, id);
                }
            }
            try (Background<Optional<CmEvent>> waiting = Background.call(() -> channel.pollEvent(LONG))
                    .awaitInside(Poller.class, "await")) {
                id.writeEvent(-5, ARGUMENT);
                try (CmEvent event = waiting.result().orElseThrow()) {
                    assertWritten(event, id);
                }
            }
            try (Background<CmEvent> waiting = Background.call(() -> channel.await(id, CmEventType.USER, LONG))
                    .awaitInside(Poller.class, "await")) {
                id.writeEvent(-5, ARGUMENT);
                try (CmEvent event = waiting.result()) {
                    assertWritten(event, id);
                }
            }
        }
    }

    @Test
    void aLoopThatWatchesTheFileIsWoken() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            Poller poller = new Poller(channel.fd());
            try (Background<Void> waiting = Background.run(() -> poller.await(LONG.toNanos()))
                    .awaitInside(Poller.class, "await")) {
                id.writeEvent(-5, ARGUMENT);
                waiting.result();
            } finally {
                poller.close();
            }
            try (CmEvent event = channel.pollEvent().orElseThrow()) {
                assertWritten(event, id);
            }
        }
    }

    @Test
    void aWaitForSomethingElseKeepsIt() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.writeEvent(-5, ARGUMENT);
            FakeRdmaCm.event(id, CmEventType.ADDR_RESOLVED);
            channel.await(id, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertWritten(event, id);
            }
        }
    }

    @Test
    void itMovesWithItsId() throws Exception {
        try (EventChannel source = EventChannel.open(); EventChannel target = EventChannel.open();
                CmId id = CmId.open(source, PortSpace.TCP)) {
            id.writeEvent(-5, ARGUMENT);
            // read, so that this library has to move it; the bytes beside the argument are not private data
            source.readAll();
            id.writeEvent(-5, ARGUMENT);
            id.migrate(target);
            for (int i = 0; i < 2; i++) {
                try (CmEvent event = target.getEvent(Loopback.TIMEOUT)) {
                    assertWritten(event, id);
                }
            }
            assertThat(source.pollEvent()).isEmpty();
            assertThat(FakeRdmaCm.call("fake_unacknowledged")).isZero();
        }
    }

    /** The stand-in aborts where librdmacm would wait for ever: when an event was read but not acknowledged. */
    @Test
    void anIdClosesWithEventsThatNobodyHasTaken() throws Exception {
        try (EventChannel channel = EventChannel.open()) {
            CmId unread = CmId.open(channel, PortSpace.TCP);
            unread.writeEvent(0, 1);
            unread.close();
            assertThat(channel.pollEvent()).isEmpty();

            CmId read = CmId.open(channel, PortSpace.TCP);
            read.writeEvent(0, 1);
            assertThatThrownBy(() -> channel.await(read, CmEventType.ADDR_RESOLVED, Duration.ZERO))
                    .isInstanceOf(RdmaTimeoutException.class);
            assertThat(FakeRdmaCm.call("fake_unacknowledged")).isEqualTo(1);
            read.close();
            assertThat(FakeRdmaCm.call("fake_unacknowledged")).isZero();
            assertThat(channel.pollEvent()).isEmpty();

            CmId taken = CmId.open(channel, PortSpace.TCP);
            taken.writeEvent(0, 1);
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertThatThrownBy(taken::close).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(event.toString());
            }
            taken.close();
            assertThatThrownBy(() -> taken.writeEvent(0, 1)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void theIdOfARequestHasEventsOnceItIsAccepted() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0));
            listener.listen(2);
            try (CmId accepted = requested(listener); CmId rejected = requested(listener)) {
                for (CmId id : List.of(accepted, rejected)) {
                    assertThatThrownBy(() -> id.writeEvent(0, 1)).isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("not accepted").hasMessageContaining("next step: createQueuePair");
                }
                rejected.reject();
                assertThatThrownBy(() -> rejected.writeEvent(0, 1)).isInstanceOf(IllegalStateException.class);
                assertThat(FakeRdmaCm.calls("rdma_write_cm_event")).isEmpty();
                accepted.accept(NUMBERED);
                accepted.writeEvent(-5, ARGUMENT);
                try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                    assertWritten(event, accepted);
                }
            }
        }
    }

    private static CmId requested(CmId listener) throws Exception {
        FakeRdmaCm.event(listener, CmEventType.CONNECT_REQUEST);
        try (CmEvent request = listener.channel().getEvent(Loopback.TIMEOUT)) {
            return request.id();
        }
    }

    @Test
    void aKernelThatDoesNotKnowTheCommandIsTold() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            FakeRdmaCm.fail("rdma_write_cm_event", Rdma.EINVAL());
            assertThatThrownBy(() -> id.writeEvent(0, 1)).isInstanceOfSatisfying(RdmaUnsupportedException.class,
                    e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL()))
                    .hasMessageContainingAll("rdma_write_cm_event", "EINVAL", "the kernel does not have");
            FakeRdmaCm.fail("rdma_write_cm_event", Rdma.EIO());
            assertThatThrownBy(() -> id.writeEvent(0, 1)).isExactlyInstanceOf(RdmaException.class)
                    .hasMessageContainingAll("rdma_write_cm_event", "EIO");
            assertThat(channel.pollEvent()).isEmpty();
        }
    }

    /** As if the program had found the ids of a manager, which it does not show. */
    @Test
    void listenersAndConnectionsAreNotDisturbed() throws Exception {
        try (FakeStack stack = new FakeStack()) {
            long context = stack.context().handle().address();
            for (String equip : List.of("fake_equip_completion", "fake_equip_queue_pairs", "fake_equip_receive")) {
                FakeVerbs.call(equip, context);
            }
            FakeRdmaCm.shareWithVerbs();
            FakeRdmaCm.call("fake_context", context);
            ConnectionSettings settings = ConnectionSettings.builder().linger(Duration.ofMillis(1)).build();
            try (ConnectionManager manager = ConnectionManager.open();
                    Listener listener = manager.listen(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0), 4,
                            settings)) {
                long listening = FakeRdmaCm.calls("rdma_listen").getLast().arguments().getFirst();
                user(listening);
                FakeRdmaCm.call("fake_event", listening, CmEventType.CONNECT_REQUEST.value());
                ConnectionRequest request = listener.nextRequest(Loopback.TIMEOUT);
                try (Background<Connection> accepting = Background.call(() -> request.accept(Loopback.TIMEOUT))) {
                    while (FakeRdmaCm.calls("rdma_accept").isEmpty() && !accepting.isDone()) {
                        Thread.onSpinWait();
                    }
                    long accepted = FakeRdmaCm.calls("rdma_accept").getLast().arguments().getFirst();
                    user(accepted);
                    FakeRdmaCm.call("fake_event", accepted, CmEventType.ESTABLISHED.value());
                    try (Connection connection = accepting.result()) {
                        user(accepted);
                        // the next request is handled after the event
                        FakeRdmaCm.call("fake_event", listening, CmEventType.CONNECT_REQUEST.value());
                        listener.nextRequest(Loopback.TIMEOUT).reject(new byte[0]);
                        assertThat(connection.isConnected()).isTrue();
                    }
                }
            } finally {
                FakeRdmaCm.call("fake_context", 0);
                FakeRdmaCm.call("fake_unshare");
            }
        }
    }

    private static void user(long id) {
        FakeRdmaCm.call("rdma_write_cm_event", id, CmEventType.USER.value(), 0, ARGUMENT);
    }
}
