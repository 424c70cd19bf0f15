// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.AddressInfo.Hints;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that C refuses or that are refused before, and what is closed. */
@FakeRdmaCm.With
class CmIdTest {
    private EventChannel channel;
    private CmId id;

    @BeforeEach
    void open() throws RdmaException {
        channel = EventChannel.open();
        id = CmId.open(channel, PortSpace.TCP);
    }

    @AfterEach
    void close() throws RdmaException {
        id.close();
        channel.close();
    }

    private static InetSocketAddress address(String host) throws Exception {
        return new InetSocketAddress(InetAddress.getByName(host), 7174);
    }

    @Test
    void aRefusedAddressIsNamedAndChangesNothing() throws Exception {
        FakeRdmaCm.fail("rdma_bind_addr", Rdma.EADDRINUSE());
        assertThatThrownBy(() -> id.bindAddress(address("192.0.2.7"))).isExactlyInstanceOf(RdmaException.class)
                .hasMessageStartingWith("rdma_bind_addr (").hasMessageContainingAll("192.0.2.7", "EADDRINUSE");
        assertThat(id.state()).isEqualTo(CmIdState.IDLE);
        id.bindAddress(address("192.0.2.7"));
        assertThat(id.state()).isEqualTo(CmIdState.BOUND);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::", "127.0.0.1"})
    void aPortInUseIsNotAnAddressThatIsMissing(String host) throws Exception {
        FakeRdmaCm.fail("rdma_bind_addr", Rdma.EADDRNOTAVAIL());
        assertThatThrownBy(() -> id.bindAddress(address(host))).isExactlyInstanceOf(RdmaException.class)
                .hasMessageStartingWith("rdma_bind_addr (" + address(host) + "): EADDRINUSE, ");
        FakeRdmaCm.fail("rdma_resolve_addr", Rdma.EADDRNOTAVAIL());
        assertThatThrownBy(() -> id.resolveAddress(address(host), address("192.0.2.8"), Duration.ofSeconds(1)))
                .isExactlyInstanceOf(RdmaException.class)
                .hasMessageStartingWith("rdma_resolve_addr (/192.0.2.8:7174 from " + address(host) + "): EADDRINUSE");
    }

    @Test
    void anAddressThatThisHostDoesNotHaveIsMissing() {
        FakeRdmaCm.fail("rdma_bind_addr", Rdma.EADDRNOTAVAIL());
        assertThatThrownBy(() -> id.bindAddress(address("192.0.2.7"))).isInstanceOf(UnreachableException.class)
                .hasMessageContaining("EADDRNOTAVAIL");
    }

    @Test
    void aCallThatCRefusesChangesNothing() throws Exception {
        id.resolveAddress(address("192.0.2.8"), Duration.ofSeconds(1));
        becomes(CmEventType.ADDR_RESOLVED);
        FakeRdmaCm.fail("rdma_resolve_route", Rdma.EINVAL());
        assertRefused(() -> id.resolveRoute(Duration.ofSeconds(1)), "rdma_resolve_route", CmIdState.ADDRESS_RESOLVED);
        id.resolveRoute(Duration.ofMillis(1500));
        assertThat(FakeRdmaCm.calls("rdma_resolve_route").getLast().arguments()).startsWith(id.handle().address(),
                1500L);
        becomes(CmEventType.ROUTE_RESOLVED);

        ConnectionParameters parameters = ConnectionParameters.builder().queuePairNumber(5).build();
        FakeRdmaCm.fail("rdma_connect", Rdma.EINVAL());
        assertRefused(() -> id.connect(parameters), "rdma_connect", CmIdState.ROUTE_RESOLVED);
        id.connect(parameters);
        assertThat(FakeRdmaCm.calls("rdma_connect")).hasSize(2);
        becomes(CmEventType.ESTABLISHED);

        FakeRdmaCm.fail("rdma_disconnect", Rdma.EINVAL());
        assertRefused(() -> id.disconnect(), "rdma_disconnect", CmIdState.CONNECTED);
        id.disconnect();
        assertThat(FakeRdmaCm.calls("rdma_disconnect")).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource({"true, this side has disconnected from /192.0.2.8:7174",
            "false, the peer /192.0.2.8:7174 has disconnected or died"})
    void anEndSaysByWhom(boolean here, String message) throws Exception {
        id.resolveAddress(address("192.0.2.8"), Duration.ofSeconds(1));
        becomes(CmEventType.ADDR_RESOLVED);
        id.resolveRoute(Duration.ofSeconds(1));
        becomes(CmEventType.ROUTE_RESOLVED);
        id.connect(ConnectionParameters.builder().queuePairNumber(5).build());
        becomes(CmEventType.ESTABLISHED);
        if (here) {
            id.disconnect();
        }
        FakeRdmaCm.event(id, CmEventType.DISCONNECTED);
        assertThatThrownBy(() -> channel.await(id, CmEventType.CONNECT_REQUEST, Loopback.TIMEOUT))
                .isInstanceOfSatisfying(DisconnectedException.class, e -> {
                    assertThat(e).hasMessageEndingWith(": " + message);
                    assertThat(e.peer()).contains(id.peerAddress());
                    assertThat(e.byPeer()).isEqualTo(!here);
                });
    }

    private void becomes(CmEventType type) throws Exception {
        FakeRdmaCm.event(id, type);
        channel.await(id, type, Loopback.TIMEOUT).close();
    }

    private void assertRefused(ThrowingCallable call, String function, CmIdState state) throws RdmaException {
        assertThatThrownBy(call).isInstanceOf(RdmaException.class).hasMessageStartingWith(function + " (");
        assertThat(id.state()).isEqualTo(state);
    }

    /** librdmacm would wait for it for ever. */
    @Test
    void anEventThatThereWasNoMemoryForIsAcknowledgedByTheClose() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            AtomicBoolean failed = new AtomicBoolean();
            id.whenEnded(() -> {
                if (!failed.getAndSet(true)) {
                    throw new OutOfMemoryError("for a test");
                }
            });
            FakeRdmaCm.event(id, CmEventType.DEVICE_REMOVAL);
            assertThatThrownBy(channel::pollEvent).isInstanceOf(OutOfMemoryError.class);
        }
        assertThat(FakeRdmaCm.call("fake_unacknowledged")).isZero();
    }

    @Test
    void anIdThatIsClosedTellsNothing() throws Exception {
        CmIdOptions options = id.options();
        assertThat(options.ackTimeout(Duration.ofMillis(500))).isSameAs(options);
        id.close();
        assertThatIllegalStateException().isThrownBy(id::state).withMessage("CmId is closed");
        assertThatIllegalStateException().isThrownBy(id::options).withMessage("CmId is closed");
    }

    @Test
    void optionsOfOneByteAreThoseThatFit() throws Exception {
        CmIdOptions options = id.options();
        for (int possible : new int[] {0, 255}) {
            assertThat(options.typeOfService(possible)).isSameAs(options);
        }
        assertThat(FakeRdmaCm.calls("rdma_set_option")).extracting(FakeRdmaCm.Call::data)
                .containsExactly(new byte[] {0}, new byte[] {-1});
        for (int impossible : new int[] {-1, 256}) {
            assertThatIllegalArgumentException().isThrownBy(() -> id.options().typeOfService(impossible))
                    .withMessageContaining("from 0 to 255, not " + impossible);
        }
    }

    @Test
    void whatIsToRunAtTheEndRunsOnce() throws Exception {
        List<CmIdState> ends = new ArrayList<>();
        id.resolveAddress(address("192.0.2.8"), Duration.ofSeconds(1));
        id.whenEnded(() -> ends.add(id.state()));
        becomes(CmEventType.ADDR_RESOLVED);
        assertThat(ends).isEmpty();
        FakeRdmaCm.event(id, CmEventType.DISCONNECTED);
        FakeRdmaCm.event(id, CmEventType.DISCONNECTED);
        channel.readAll();
        assertThat(ends).containsExactly(CmIdState.DISCONNECTED);
        id.whenEnded(() -> ends.add(null));
        assertThat(ends).as("it is over already").hasSize(2);
        assertThat(Background.call(() -> id.state()).result()).as("the lock is free").isNotNull();
        Background.run(channel::readAll).result();
    }

    @Test
    void aRequestThatNobodyTakesIsRejected() throws Exception {
        id.bindAddress(address("192.0.2.7"));
        id.listen(1);
        FakeRdmaCm.event(id, CmEventType.CONNECT_REQUEST);
        channel.getEvent(Loopback.TIMEOUT).close();
        assertThat(FakeRdmaCm.calls("rdma_reject")).hasSize(1);

        FakeRdmaCm.event(id, CmEventType.CONNECT_REQUEST);
        FakeRdmaCm.fail("rdma_reject", Rdma.EINVAL());
        channel.getEvent(Loopback.TIMEOUT).close();
        assertThat(FakeRdmaCm.calls("rdma_reject")).hasSize(2);
        assertThat(FakeRdmaCm.call("fake_unacknowledged")).isZero();
    }

    @Test
    void anIdTakesOnlyItsOwnEventsWithIt() throws Exception {
        CmId other = CmId.open(channel, PortSpace.TCP);
        FakeRdmaCm.event(other, CmEventType.ADDR_RESOLVED);
        FakeRdmaCm.event(id, CmEventType.ROUTE_RESOLVED);
        channel.readAll();
        other.close();
        assertThat(FakeRdmaCm.call("fake_unacknowledged")).isOne();
        try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
            assertThat(event.type()).isEqualTo(CmEventType.ROUTE_RESOLVED);
            assertThat(event.id()).isSameAs(id);
        }
    }

    @Test
    void anIdIsWaitedForOnItsOwnChannel() throws Exception {
        try (EventChannel other = EventChannel.open()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> other.await(id, CmEventType.ESTABLISHED, Duration.ZERO))
                    .withMessageContaining("is on another channel");
        }
    }

    @Test
    void aQueuePairFitsItsId() throws Exception {
        try (FakeStack stack = new FakeStack(); FakeStack elsewhere = new FakeStack()) {
            FakeRdmaCm.shareWithVerbs();
            FakeRdmaCm.call("fake_context", stack.context().handle().address());
            try (EventChannel events = EventChannel.open(); CmId bound = CmId.open(events, PortSpace.TCP)) {
                bound.bindAddress(address("192.0.2.7"));
                ProtectionDomain domain = bound.context().allocateProtectionDomain();
                CompletionQueue queue = bound.context().createCompletionQueue(4);
                QueuePairInitAttributes connected = QueuePairInitAttributes.builder().completionQueue(queue).build();
                QueuePairInitAttributes datagrams = QueuePairInitAttributes.builder().completionQueue(queue)
                        .type(QueuePairType.UD).build();
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> bound.createQueuePair(elsewhere.domain(), connected))
                        .withMessageContaining("belongs to another device");
                assertThatIllegalArgumentException().isThrownBy(() -> bound.createQueuePair(domain, datagrams))
                        .withMessageContaining("needs a queue pair of the type RC, not UD");
                QueuePair pair = bound.createQueuePair(domain, connected);
                assertThatIllegalStateException().isThrownBy(() -> bound.createQueuePair(domain, connected))
                        .withMessageContaining("already has a queue pair");
                assertThatIllegalStateException().isThrownBy(() -> bound.options().localEce(new Ece(1, 1)))
                        .withMessageContaining("already has a queue pair");
                pair.close();
                bound.options().localEce(new Ece(1, 1));
                queue.close();
                domain.close();
            } finally {
                FakeRdmaCm.call("fake_context", 0);
                FakeRdmaCm.call("fake_unshare");
            }
        }
    }

    @Test
    void aTimeoutIsANumberOfMillisecondsThatCCanHold() throws Exception {
        SocketAddress peer = address("192.0.2.8");
        for (Duration impossible : List.of(Duration.ZERO, Duration.ofNanos(999_999),
                Duration.ofMillis(Integer.MAX_VALUE).plusNanos(1), Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThatIllegalArgumentException().isThrownBy(() -> id.resolveAddress(peer, impossible))
                    .withMessageContaining("from 1 ms to 2147483647 ms");
        }
        assertThat(FakeRdmaCm.calls("rdma_resolve_addr")).isEmpty();
        id.resolveAddress(peer, Duration.ofMillis(1));
        try (CmId other = CmId.open(channel, PortSpace.TCP)) {
            other.resolveAddress(peer, Duration.ofMillis(Integer.MAX_VALUE));
        }
        assertThat(FakeRdmaCm.calls("rdma_resolve_addr")).extracting(call -> call.arguments().get(2))
                .containsExactly(1L, (long) Integer.MAX_VALUE);
    }

    @Test
    void anEventThatIsClosedTellsNothing() throws Exception {
        FakeRdmaCm.event(id, CmEventType.ADDR_RESOLVED);
        CmEvent event = channel.getEvent(Loopback.TIMEOUT);
        event.close();
        for (ThrowingCallable call : List.<ThrowingCallable>of(event::type, event::status, event::id, event::listener,
                event::connectionParameters, event::datagramParameters, event::privateData, event::argument)) {
            assertThatIllegalStateException().isThrownBy(call).withMessage("CmEvent is closed");
        }
    }

    @Test
    void aMembershipThatIsClosedTellsNothing() throws Exception {
        SocketAddress group = address("239.1.2.3");
        try (CmId member = CmId.open(channel, PortSpace.UDP)) {
            member.bindAddress(address("192.0.2.7"));
            FakeRdmaCm.fail("rdma_join_multicast", Rdma.EINVAL());
            assertThatThrownBy(() -> member.joinMulticast(group)).isInstanceOf(RdmaException.class)
                    .hasMessageStartingWith("rdma_join_multicast (");
            MulticastMembership membership = member.joinMulticast(group);
            assertThat(membership).hasToString("MulticastMembership[" + group + "]");
            assertThat(membership.id()).isSameAs(member);
            membership.close();
            assertThatIllegalStateException().isThrownBy(membership::id)
                    .withMessage("MulticastMembership is closed");
            assertThatIllegalStateException().isThrownBy(membership::group)
                    .withMessage("MulticastMembership is closed");
        }
    }

    /** The stand-in aborts where librdmacm would wait for ever: when an event was read but not acknowledged. */
    @Test
    void aMembershipTakesItsOwnEventsWithIt() throws Exception {
        try (CmId member = CmId.open(channel, PortSpace.UDP)) {
            member.bindAddress(address("192.0.2.7"));
            MulticastMembership first = member.joinMulticast(address("239.1.2.3"));
            FakeRdmaCm.event(member, CmEventType.MULTICAST_JOIN);
            MulticastMembership second = member.joinMulticast(address("239.1.2.4"), MulticastMembership.Role.SEND_ONLY);
            FakeRdmaCm.event(member, CmEventType.MULTICAST_JOIN);
            FakeRdmaCm.event(member, CmEventType.ADDR_RESOLVED);
            channel.readAll();

            first.close();
            assertThat(FakeRdmaCm.call("fake_unacknowledged")).isEqualTo(2);
            try (CmEvent joined = channel.getEvent(Loopback.TIMEOUT)) {
                assertThat(joined.type()).isEqualTo(CmEventType.MULTICAST_JOIN);
                assertThat(joined.membership()).contains(second);
            }
            try (CmEvent resolved = channel.getEvent(Loopback.TIMEOUT)) {
                assertThat(resolved.type()).isEqualTo(CmEventType.ADDR_RESOLVED);
                assertThat(resolved.membership()).isEmpty();
            }
            second.close();
        }
        assertThat(FakeRdmaCm.call("fake_unacknowledged")).isZero();
    }

    /** What the peer sent is in memory of C, which is freed with the event. */
    @Test
    void aRequestMovesWithItsPrivateData() throws Exception {
        byte[] data = {1, 2, 3};
        try (Arena arena = Arena.ofConfined(); EventChannel target = EventChannel.open()) {
            FakeRdmaCm.call("fake_private_data", arena.allocateFrom(ValueLayout.JAVA_BYTE, data).address(), 3);
            id.bindAddress(address("192.0.2.7"));
            id.listen(1);
            FakeRdmaCm.event(id, CmEventType.CONNECT_REQUEST);
            channel.readAll();
            id.migrate(target);
            FakeRdmaCm.call("fake_private_data", arena.allocate(3).address(), 3);
            CmEvent request = target.getEvent(Loopback.TIMEOUT);
            try (CmId requested = request.id(); request) {
                assertThat(request.privateData()).containsExactly(data);
                assertThat(requested.channel()).isSameAs(target);
            }
            id.migrate(channel);
        } finally {
            FakeRdmaCm.call("fake_private_data", 0, 0);
        }
    }

    @Test
    void theDevicesAreThoseOfTheIds() throws Exception {
        assertThat(RdmaDevices.list()).isEmpty();
        try (VerbsContext device = Device.list().getFirst().open()) {
            FakeRdmaCm.call("fake_context", device.handle().address());
            try (CmId bound = CmId.open(channel, PortSpace.TCP)) {
                bound.bindAddress(address("192.0.2.7"));
                assertThat(RdmaDevices.list()).containsExactly(bound.context());
            } finally {
                FakeRdmaCm.call("fake_context", 0);
            }
        }
    }

    @Test
    void aNameIsLookedUpWithoutAnId() throws Exception {
        Hints hints = new Hints(Set.of(), PortSpace.UDP, Optional.of(address("192.0.2.9")));
        assertThat(AddressInfo.resolve("node", "7174", hints)).singleElement().satisfies(info -> {
            assertThat(info.portSpace()).isEqualTo(PortSpace.UDP);
            assertThat(info.destination()).contains(address("192.0.2.9"));
            assertThat(info.route()).isEmpty();
            assertThat(info.connectData()).isEmpty();
        });
        assertThat(AddressInfo.resolve("node", "7174", hints)).isEqualTo(AddressInfo.resolve("node", "7174", hints))
                .isNotEqualTo(AddressInfo.resolve("node", "7174", Hints.active(PortSpace.UDP)));
        AddressInfo path = AddressInfo.resolve("path", "7174", hints).getFirst();
        assertThat(path.route()).containsExactly(1, 2, 3);
        assertThat(path.connectData()).containsExactly(4, 5);
        FakeRdmaCm.fail("rdma_getaddrinfo", Rdma.ENODEV());
        assertThatThrownBy(() -> AddressInfo.resolve("node", null, hints)).isExactlyInstanceOf(RdmaException.class)
                .hasMessageStartingWith("rdma_getaddrinfo (node node, service null): ENODEV");
    }
}
