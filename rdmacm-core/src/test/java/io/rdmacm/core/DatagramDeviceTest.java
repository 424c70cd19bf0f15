// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Datagrams: to a peer that answered a connect, and to multicast groups. */
@RequiresRdma
class DatagramDeviceTest {
    // what a receive of a datagram has in front
    private static final int GRH = 40;
    private static final int MESSAGE = 16;

    @Test
    @DisplayName("CMTestCase.test_rdmacm_async_udp_traffic")
    void requestAndResponse() throws Exception {
        byte[] hello = filled(180);
        byte[] welcome = filled(136);
        try (Loopback loopback = new Loopback(PortSpace.UDP); EventChannel channel = EventChannel.open();
                End client = new End(Loopback.resolved(channel, loopback.address(), PortSpace.UDP))) {
            assertThatThrownBy(() -> client.id.connect(withData(181))).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("180");
            client.id.connect(ConnectionParameters.builder().privateData(hello).build());
            CmEvent request = loopback.channel.await(loopback.listener, CmEventType.CONNECT_REQUEST,
                    Loopback.TIMEOUT);
            assertThat(Arrays.copyOf(request.privateData(), 180)).isEqualTo(hello);
            assertThat(request.datagramParameters().address()).isEmpty();
            assertThatThrownBy(request::connectionParameters).isInstanceOf(IllegalStateException.class);
            try (End server = new End(request.id())) {
                request.close();
                assertThatThrownBy(() -> server.id.accept(withData(137)))
                        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("136");
                server.queuePair.postReceive(server.receive.id(3).data(server.region, 0, GRH + MESSAGE));
                server.id.accept(ConnectionParameters.builder().privateData(welcome).build());
                DatagramParameters peer;
                try (CmEvent established = channel.await(client.id, CmEventType.ESTABLISHED, Loopback.TIMEOUT)) {
                    peer = established.datagramParameters();
                    assertThat(Arrays.copyOf(established.privateData(), 136)).isEqualTo(welcome);
                }
                assertThat(peer.queuePairNumber()).isEqualTo(server.queuePair.number());
                send(client, peer, "to the peer");
                assertReceived(server, "to the peer");
            }
        }
    }

    @Test
    @DisplayName("CMTestCase.test_rdmacm_async_multicast_traffic")
    @Covers({"rdma_join_multicast", "rdma_leave_multicast"})
    void aGroupOfThreeReceivers() throws Exception {
        multicast(MulticastMembership.Role.FULL_MEMBER, new InetSocketAddress("239.7.1.1", 0));
    }

    @Test
    @DisplayName("CMTestCase.test_rdmacm_async_ex_multicast_traffic")
    @Covers("rdma_join_multicast_ex")
    void aSenderThatIsNoReceiver() throws Exception {
        multicast(MulticastMembership.Role.SEND_ONLY, new InetSocketAddress("239.7.1.2", 0));
    }

    @Test
    @Covers("rdma_join_multicast")
    void groupsOfIpv6AreUnsupportedOnRoce() throws Exception {
        assumeTrue(Files.readString(Path.of("/sys/class/infiniband", RdmaTestDevice.get().name(),
                "ports/1/link_layer")).startsWith("Ethernet"), "the device is none of RoCE");
        InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("ff0e::7:1"), 0);
        try (EventChannel channel = EventChannel.open(); End end = bound(channel, group)) {
            assertThatThrownBy(() -> end.id.joinMulticast(group)).isInstanceOf(RdmaUnsupportedException.class)
                    .hasMessageContaining("ENOTSUPP");
        }
    }

    @Test
    @DisplayName("CMTestCase.test_rdmacm_async_ex_leave_multicast_traffic")
    @Covers("rdma_leave_multicast")
    void whoLeftReceivesNothing() throws Exception {
        InetSocketAddress group = new InetSocketAddress("239.7.1.3", 0);
        try (EventChannel channel = EventChannel.open(); End sender = bound(channel, group);
                End stays = bound(channel, group); End leaves = bound(channel, group);
                MulticastMembership sending = sender.id.joinMulticast(group);
                MulticastMembership staying = stays.id.joinMulticast(group)) {
            DatagramParameters destination = joined(channel, sender);
            joined(channel, stays);
            try (MulticastMembership leaving = leaves.id.joinMulticast(group)) {
                joined(channel, leaves);
                receive(stays, 2);
                receive(leaves, 2);
                send(sender, destination, "first");
                assertReceived(stays, "first");
                assertReceived(leaves, "first");
                assertThatThrownBy(leaves.queuePair::close).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(leaving.toString());
            }
            send(sender, destination, "second");
            assertReceived(stays, "second");
            assertThat(leaves.queue.poll(leaves.completions)).isZero();
            assertThat(staying.group()).isEqualTo(sending.group());
        }
    }

    @Test
    @Covers("rdma_join_multicast")
    void aMembershipWaitsForItsEvents() throws Exception {
        InetSocketAddress group = new InetSocketAddress("239.7.1.4", 0);
        try (EventChannel channel = EventChannel.open(); End end = bound(channel, group)) {
            MulticastMembership membership = end.id.joinMulticast(group);
            try (CmEvent event = channel.await(end.id, CmEventType.MULTICAST_JOIN, Loopback.TIMEOUT)) {
                assertThat(event.membership()).contains(membership);
                assertThatThrownBy(membership::close).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(event.toString());
            }
            assertThatThrownBy(() -> end.id.joinMulticast(group)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("already");
            membership.close();
            // an event that nobody asked for does not stand in the way
            end.id.joinMulticast(group).close();
        }
    }

    private static void multicast(MulticastMembership.Role senderRole, InetSocketAddress group) throws Exception {
        try (EventChannel channel = EventChannel.open(); End sender = bound(channel, group)) {
            List<AutoCloseable> opened = new ArrayList<>();
            List<End> receivers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                End receiver = bound(channel, group);
                receivers.add(receiver);
                opened.addFirst(receiver);
                opened.addFirst(receiver.id.joinMulticast(group));
                assertThat(joined(channel, receiver).queuePairNumber()).isEqualTo(0xffffff);
                receive(receiver, 1);
            }
            try (MulticastMembership membership = sender.id.joinMulticast(group, senderRole)) {
                DatagramParameters destination = joined(channel, sender);
                assertThat(membership.id()).isSameAs(sender.id);
                send(sender, destination, "to all of you");
                for (End receiver : receivers) {
                    assertReceived(receiver, "to all of you");
                }
            }
            for (AutoCloseable object : opened) {
                object.close();
            }
        }
    }

    @Test
    void aQueuePairThatIsCreatedAfterTheJoinStaysUntilTheGroupIsLeft() throws Exception {
        InetSocketAddress group = new InetSocketAddress("239.7.1.6", 0);
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.UDP)) {
            id.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            MulticastMembership membership = id.joinMulticast(group);
            try (End end = new End(id)) {
                joined(channel, end);
                assertThatThrownBy(end.queuePair::close).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(membership.toString());
                membership.close();
                end.queuePair.close();
            }
        }
    }

    private static End bound(EventChannel channel, InetSocketAddress group) throws Exception {
        CmId id = CmId.open(channel, PortSpace.UDP);
        InetAddress local = group.getAddress().getAddress().length == 4
                ? RdmaTestDevice.get().ipv4()
                : RdmaTestDevice.get().ipv6().orElseThrow();
        id.bindAddress(new InetSocketAddress(local, 0));
        return new End(id);
    }

    private static DatagramParameters joined(EventChannel channel, End end) throws Exception {
        try (CmEvent event = channel.await(end.id, CmEventType.MULTICAST_JOIN, Loopback.TIMEOUT)) {
            return event.datagramParameters();
        }
    }

    private static void receive(End end, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            end.queuePair.postReceive(end.receive.id(3).data(end.region, 0, GRH + MESSAGE));
        }
    }

    private static void send(End from, DatagramParameters to, String text) throws Exception {
        try (AddressHandle handle = from.domain.createAddressHandle(to.address().orElseThrow())) {
            from.region.memory().asSlice(4096, MESSAGE).fill((byte) 0).setString(0, text);
            from.queuePair.postSend(from.send.id(4).send().datagram(handle, to.queuePairNumber(), to.queueKey())
                    .data(from.region, 4096, MESSAGE));
            assertThat(from.completion(Loopback.TIMEOUT).workRequestId()).isEqualTo(4);
        }
    }

    private static void assertReceived(End end, String text) throws Exception {
        assertThat(end.completion(Loopback.TIMEOUT).byteLength()).isEqualTo(GRH + MESSAGE);
        assertThat(end.region.memory().getString(GRH)).isEqualTo(text);
    }

    private static ConnectionParameters withData(int length) {
        return ConnectionParameters.builder().privateData(new byte[length]).build();
    }

    private static byte[] filled(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) length);
        return bytes;
    }
}
