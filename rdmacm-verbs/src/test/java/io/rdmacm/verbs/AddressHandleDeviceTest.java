// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MulticastSocket;

import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Address handles and multicast groups of a real device. */
@RequiresRdma(connectedByHand = true)
class AddressHandleDeviceTest {
    private TrafficEnd one;
    private TrafficEnd other;

    @BeforeEach
    void connect() throws RdmaException {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder().type(QueuePairType.UD));
        one = ends[0];
        other = ends[1];
    }

    @AfterEach
    void close() throws RdmaException {
        one.close();
        other.close();
    }

    private AddressAttributes way() {
        return AddressAttributes.ofRoute(TrafficEnd.PORT, one.gid, one.gidIndex);
    }

    @Test
    @DisplayName("AHTest.test_create_ah")
    @Covers("ibv_create_ah")
    void create() throws RdmaException {
        try (AddressHandle handle = one.domain.createAddressHandle(way())) {
            assertThat(handle.handle().address()).isNotZero();
        }
    }

    @Test
    @DisplayName("AHTest.test_create_ah_roce")
    @Covers("ibv_create_ah")
    void createOnRoceNeedsARoute() throws RdmaException {
        Assumptions.assumeTrue(one.context.queryPort(TrafficEnd.PORT).linkLayer() == LinkLayer.ETHERNET,
                "the port is not Ethernet: only RoCE always needs a route");
        assertThatThrownBy(() -> one.domain.createAddressHandle(AddressAttributes.builder().build()))
                .isInstanceOf(RdmaException.class).hasMessageStartingWith("ibv_create_ah");
        one.domain.createAddressHandle(way()).close();
    }

    @Test
    @DisplayName("AHTest.test_destroy_ah")
    @Covers("ibv_destroy_ah")
    void destroy() throws RdmaException {
        AddressHandle handle = one.domain.createAddressHandle(way());
        handle.close();
        handle.close();
        assertThat(handle.isOpen()).isFalse();
    }

    @Test
    @Covers({"ibv_create_ah_from_wc", "ibv_init_ah_from_wc"})
    void anAnswerFindsTheWayBack() throws Exception {
        other.pair.postReceive(other.receive.id(1).data(other.region, 0, TrafficEnd.HEADER + 4));
        one.pair.postSend(one.addressed().id(2).send().data(one.region, 0, 4));
        one.success();
        WorkCompletions received = WorkCompletions.allocate(1);
        other.queue.await(received, TrafficEnd.TIMEOUT);
        received.next();
        received.check();

        AddressAttributes back = other.context.initAddressAttributes(received, other.region.memory(), 1);
        assertThat(back.globalRoute().map(GlobalRoute::destination)).contains(one.gid);
        assertThat(back.globalRoute().map(GlobalRoute::sourceGidIndex)).contains(other.gidIndex);
        try (AddressHandle handle = other.domain.createAddressHandle(received, other.region.memory(), 1)) {
            one.postReceive(3, 8);
            other.pair.postSend(other.send.datagram(handle, received.sourceQueuePair(), TrafficEnd.QUEUE_KEY).id(4)
                    .send().data(other.region, 0, 8));
            assertThat(one.success().sourceQueuePair()).isEqualTo(other.pair.number());
            other.success();
        }
    }

    @Test
    @Covers("ibv_resolve_eth_l2_from_gid")
    void theEthernetAddressOfThePeerIsAskedFor() {
        try {
            assertThat(one.context.resolveEthernetAddress(way()).vlan()).isEmpty();
        } catch (RdmaException e) {
            // a loopback of the kernel has no neighbours
            assertThat(e.errnoName()).isIn("EHOSTUNREACH", "EINVAL");
        }
    }

    @Test
    @Covers({"ibv_attach_mcast", "ibv_detach_mcast"})
    void membersOfAGroupReceiveWhatIsSentToIt() throws Exception {
        Gid group = Gid.ofAddress(InetAddress.getByName("239.77.88.99"));
        int everybody = 0xffffff;
        // What the connection manager does in a join: the kernel lets the packets of the group in.
        InetSocketAddress member = new InetSocketAddress(group.toAddress(), 0);
        try (MulticastSocket socket = new MulticastSocket();
                MulticastAttachment attachment = other.pair.attachMulticast(group, 0);
                AddressHandle toGroup = one.domain.createAddressHandle(
                        AddressAttributes.ofRoute(TrafficEnd.PORT, group, one.gidIndex))) {
            socket.joinGroup(member, RdmaTestDevice.get().networkInterface());
            assertThat(attachment.isOpen()).isTrue();
            other.postReceive(5, 4);
            one.fill(0, 4, 9);
            one.pair.postSend(one.send.datagram(toGroup, everybody, TrafficEnd.QUEUE_KEY).id(6).send()
                    .data(one.region, 0, 4));
            one.success();
            assertThat(other.success().workRequestId()).isEqualTo(5);
            assertThat(other.bytes(TrafficEnd.HEADER, 4)).containsOnly(9);
        }
        assertThatThrownBy(() -> other.pair.attachMulticast(one.gid, 0)).isInstanceOf(IllegalArgumentException.class);
    }
}
