// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.ffi.Hints;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** What a connection attempt can come to, and what its events tell. */
@RequiresRdma
class CmIdDeviceTest {
    @Test
    void privateDataAndParametersArriveAtBothSides() throws Exception {
        RdmaTestDevice.assumeNotIwarp("its requests do not tell how often the peer tries");
        byte[] hello = random(56);
        byte[] welcome = random(196);
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = new End(loopback.resolved(channel))) {
            client.id.connect(ConnectionParameters.builder().privateData(hello).retryCount(3).rnrRetryCount(2)
                    .initiatorDepth(1).responderResources(2).build());
            CmEvent request = loopback.channel.await(loopback.listener, CmEventType.CONNECT_REQUEST,
                    Loopback.TIMEOUT);
            assertThat(request.listener()).contains(loopback.listener);
            assertThat(request.privateData()).isEqualTo(hello);
            ConnectionParameters asked = request.connectionParameters();
            // what the peer may have outstanding is what this side must answer, so the two change places
            assertThat(asked.responderResources()).isEqualTo(1);
            assertThat(asked.initiatorDepth()).isEqualTo(2);
            assertThat(asked.retryCount()).isEqualTo(3);
            assertThat(asked.rnrRetryCount()).isEqualTo(2);
            assertThat(asked.queuePairNumber()).isEqualTo(client.queuePair.number());
            try (End server = new End(request.id())) {
                request.close();
                assertThatThrownBy(() -> server.id.accept(ConnectionParameters.builder().privateData(new byte[197])
                        .build())).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("accept")
                        .hasMessageContaining("196");
                server.id.accept(ConnectionParameters.builder().privateData(welcome).build());
                try (CmEvent established = channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT)) {
                    assertThat(established.privateData()).isEqualTo(welcome);
                    assertThat(client.id.state()).isEqualTo(CmIdState.CONNECTED);
                }
                assertThat(server.id.peerAddress()).isEqualTo(client.id.localAddress());
                assertThat(client.id.peerAddress()).isEqualTo(loopback.address());
                loopback.channel.await(server.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();
                client.id.disconnect();
                loopback.channel.await(server.id, CmEventType.DISCONNECTED, Loopback.TIMEOUT).close();
                server.id.disconnect();
                channel.await(client.id, CmEventType.DISCONNECTED, Loopback.TIMEOUT).close();
                assertThat(client.id.state()).isEqualTo(CmIdState.DISCONNECTED);
            }
        }
    }

    @Test
    void aRejectionArrivesWithItsPrivateData() throws Exception {
        byte[] reason = random(148);
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = new End(loopback.resolved(channel))) {
            client.id.connect(ConnectionParameters.defaults());
            try (CmId unwanted = loopback.request()) {
                assertThatThrownBy(() -> unwanted.reject(new byte[149])).isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("reject").hasMessageContaining("148");
                unwanted.reject(reason);
            }
            assertThatExceptionOfType(RejectedException.class)
                    .isThrownBy(() -> channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT))
                    .satisfies(e -> assertThat(e.privateData()).isEqualTo(reason))
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(RdmaTestDevice.get().isIwarp()
                            ? RejectReason.OTHER : RejectReason.CONSUMER_DEFINED));
            assertThat(client.id.state()).isEqualTo(CmIdState.FAILED);
        }
    }

    @Test
    void aPortWhereNobodyListensRejects() throws Exception {
        InetSocketAddress nobody;
        try (Loopback loopback = new Loopback()) {
            nobody = loopback.address();
        }
        try (EventChannel channel = EventChannel.open(); End client = new End(Loopback.resolved(channel, nobody))) {
            assertThatExceptionOfType(RejectedException.class).isThrownBy(() -> {
                // iWARP is told here, by TCP
                client.id.connect(ConnectionParameters.defaults());
                channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT);
            }).withMessageContaining("nobody listens on this port")
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(RejectReason.INVALID_SERVICE_ID));
        }
    }

    @Test
    void aBacklogOfZeroIsThatOfTheKernel() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            listener.listen(0);
            try (End client = new End(Loopback.resolved(channel, listener.localAddress()))) {
                client.id.connect(ConnectionParameters.defaults());
                channel.await(listener, CmEventType.CONNECT_REQUEST, Loopback.TIMEOUT).close();
            }
        }
    }

    @Test
    void aPortInUseIsNotAnAddressThatIsMissing() throws Exception {
        try (Loopback loopback = new Loopback(); CmId wildcard = CmId.open(loopback.channel, PortSpace.TCP)) {
            assertThatThrownBy(() -> wildcard.bindAddress(new InetSocketAddress(loopback.address().getPort())))
                    .isExactlyInstanceOf(RdmaException.class).hasMessageContaining("EADDRINUSE");
            wildcard.bindAddress(new InetSocketAddress(0));
            wildcard.listen(1);
            try (CmId second = CmId.open(loopback.channel, PortSpace.TCP)) {
                assertThatThrownBy(() -> second.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(),
                        wildcard.localPort()))).isExactlyInstanceOf(RdmaException.class)
                        .hasMessageContaining("EADDRINUSE");
            }
        }
    }

    @Test
    void listeningWhereNobodyCanConnectFails() throws Exception {
        if (!Hints.isLoopbackWithoutDevice()) {
            throw new TestAbortedException("not all devices are RoCE");
        }
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            assertThatThrownBy(() -> id.listen(1)).isInstanceOf(RdmaException.class)
                    .hasMessageContainingAll("ENODEV", " serves ", RdmaTestDevice.get().ipv4().getHostAddress());
        }
    }

    /** C would follow a null pointer. */
    @Test
    void whatNeedsADeviceIsRefusedByAnIdWithoutOne() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.UDP);
                ProtectionDomain domain = RdmaDevices.list().getFirst().allocateProtectionDomain();
                CompletionQueue queue = domain.context().createCompletionQueue(4)) {
            id.bindAddress(new InetSocketAddress(0));
            QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().type(QueuePairType.UD)
                    .completionQueue(queue).build();
            for (ThrowingCallable call : List.<ThrowingCallable>of(id::context, id::devicePort,
                    () -> id.createQueuePair(domain, attributes), () -> id.createSharedReceiveQueue(domain,
                            SharedReceiveQueueInitAttributes.builder().build()))) {
                assertThatThrownBy(call).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("not bound to a device");
            }
            assertThatThrownBy(() -> id.joinMulticast(new InetSocketAddress("239.1.2.3", 0)))
                    .isInstanceOfAny(IllegalStateException.class, RdmaException.class);
        }
    }

    /** Rejecting is what is left to a server that could not accept. */
    @Test
    void aRequestThatCouldNotBeAcceptedIsRejected() throws Exception {
        byte[] reason = random(20);
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = new End(loopback.resolved(channel))) {
            client.id.connect(ConnectionParameters.defaults());
            try (End server = new End(loopback.request())) {
                assertThatThrownBy(() -> server.id.accept(ConnectionParameters.builder().responderResources(254)
                        .build())).isInstanceOf(RdmaException.class);
                assertThat(server.id.state()).isEqualTo(CmIdState.REQUESTED);
                server.id.reject(reason);
                assertThatThrownBy(() -> server.id.accept(ConnectionParameters.defaults()))
                        .isInstanceOf(IllegalStateException.class);
            }
            assertThatExceptionOfType(RejectedException.class)
                    .isThrownBy(() -> channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT))
                    .satisfies(e -> assertThat(e.privateData()).startsWith(reason));
        }
    }

    @Test
    void anAddressThatIsNotThereIsUnreachable() throws Exception {
        // of the block that is set aside for documentation: no route leads there, or nobody answers
        InetSocketAddress nowhere = new InetSocketAddress(InetAddress.getByName("2001:db8::1"), 7174);
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            assertThatThrownBy(() -> {
                id.resolveAddress(nowhere, Duration.ofSeconds(1));
                channel.await(id, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            }).isInstanceOf(UnreachableException.class);
            InetSocketAddress foreign = new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 0);
            try (CmId second = CmId.open(channel, PortSpace.TCP)) {
                assertThatThrownBy(() -> second.bindAddress(foreign)).isInstanceOf(UnreachableException.class)
                        .hasMessageContaining("192.0.2.1");
            }
        }
    }

    @Test
    void aServerThatNeverAnswersRunsIntoTheTimeOut() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = new End(loopback.resolved(channel))) {
            client.id.connect(ConnectionParameters.defaults());
            try (CmId ignored = loopback.request()) {
                assertThatThrownBy(() -> channel.await(client.id, CmEventType.ESTABLISHED, Duration.ofMillis(200)))
                        .isInstanceOf(RdmaTimeoutException.class).hasMessageContaining("ESTABLISHED");
                assertThat(ignored.state()).isEqualTo(CmIdState.REQUESTED);
            }
            // the close of the ignored id rejected: the wait can be taken up again, and ends
            assertThatThrownBy(() -> channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT))
                    .isInstanceOf(RejectedException.class);
        }
    }

    @Test
    void anUnclaimedRequestIsRejectedWhenItsEventIsClosed() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = new End(loopback.resolved(channel))) {
            client.id.connect(ConnectionParameters.defaults());
            loopback.channel.getEvent(Loopback.TIMEOUT).close();
            assertThatThrownBy(() -> channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT))
                    .isInstanceOf(RejectedException.class);
        }
    }

    @Test
    void aRequestThatNobodyTookIsRejectedWhenTheListenerCloses() throws Exception {
        try (EventChannel channel = EventChannel.open()) {
            Loopback loopback = new Loopback();
            try (End client = new End(loopback.resolved(channel))) {
                client.id.connect(ConnectionParameters.defaults());
                // an event of another id, so that the request is read and set aside
                try (CmId other = CmId.open(loopback.channel, PortSpace.TCP)) {
                    other.resolveAddress(loopback.address(), Loopback.TIMEOUT);
                    loopback.channel.await(other, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
                }
                loopback.close();
                assertThatThrownBy(() -> channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT))
                        .isInstanceOf(RejectedException.class);
            }
        }
    }

    @Test
    void aPeerThatGoesAwayEndsTheWaitForSomethingElse() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                Loopback.Pair pair = loopback.connect(channel)) {
            pair.server().close();
            assertThatThrownBy(() -> channel.await(pair.client().id, CmEventType.TIMEWAIT_EXIT, Loopback.TIMEOUT))
                    .isInstanceOf(DisconnectedException.class);
        }
    }

    @Test
    void ipv6ConnectsAsIpv4Does() throws Exception {
        InetAddress address = RdmaTestDevice.get().ipv6().orElseThrow(
                () -> new TestAbortedException("the RDMA device has no IPv6 address"));
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(address, 0));
            listener.listen(1);
            assertThat(listener.localAddress().getAddress()).isEqualTo(address);
            try (End client = new End(Loopback.resolved(channel, listener.localAddress()))) {
                client.id.connect(ConnectionParameters.builder()
                        .privateData("six".getBytes(StandardCharsets.UTF_8)).build());
                try (CmEvent request = channel.await(listener, CmEventType.CONNECT_REQUEST, Loopback.TIMEOUT)) {
                    assertThat(Arrays.copyOf(request.privateData(), 3)).asString(StandardCharsets.UTF_8)
                            .isEqualTo("six");
                    assertThat(client.id.peerAddress()).isEqualTo(listener.localAddress());
                }
            }
        }
    }

    @Test
    void onlyTheMembersOfTheTypeAreReadable() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            try (CmEvent event = channel.getEvent(Loopback.TIMEOUT)) {
                assertThat(event.listener()).isEmpty();
                assertThatThrownBy(event::privateData).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("has no connection parameters");
            }
        }
    }

    @Test
    void callsOutOfOrderNameTheMissingStep() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId id = CmId.open(channel, PortSpace.TCP)) {
            assertMissing("bindAddress", () -> id.listen(1));
            assertMissing("resolveAddress", () -> id.resolveRoute(Loopback.TIMEOUT));
            assertMissing("resolveAddress", () -> id.connect(ConnectionParameters.defaults()));
            assertMissing("resolveAddress", () -> id.accept(ConnectionParameters.defaults()));
            assertMissing("resolveAddress", id::reject);
            assertMissing("resolveAddress", id::disconnect);
            assertMissing("resolveAddress", id::context);
            assertMissing("resolveAddress", id::peerAddress);
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            channel.await(id, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            assertMissing("resolveRoute", () -> id.connect(ConnectionParameters.defaults()));
            id.resolveRoute(Loopback.TIMEOUT);
            channel.await(id, CmEventType.ROUTE_RESOLVED, Loopback.TIMEOUT).close();
            assertMissing("createQueuePair", () -> id.connect(ConnectionParameters.defaults()));
            assertMissing("wait for CONNECT_REQUEST", () -> loopback.listener.listen(1));
        }
    }

    @Test
    void badArgumentsAreRefused() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = new End(loopback.resolved(channel))) {
            assertThatThrownBy(() -> client.id.connect(ConnectionParameters.builder().privateData(new byte[57])
                    .build())).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("connect")
                    .hasMessageContaining("56");
            assertThatThrownBy(() -> loopback.channel.await(client.id, CmEventType.ESTABLISHED, Duration.ZERO))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("another channel");
            try (CmId id = CmId.open(channel, PortSpace.TCP)) {
                assertThatThrownBy(() -> id.resolveAddress(loopback.address(), Duration.ZERO))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> id.bindAddress(InetSocketAddress.createUnresolved("nowhere", 1)))
                        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("not resolved");
                assertThatThrownBy(() -> id.bindAddress(null)).isInstanceOf(NullPointerException.class);
                assertThat(id.state()).isEqualTo(CmIdState.IDLE);
            }
        }
    }

    private static void assertMissing(String step, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IllegalStateException.class).hasMessageContaining(step);
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }
}
