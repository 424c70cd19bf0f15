// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_path_data;
import io.rdmacm.bindings.sockaddr_ib;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.SharedReceiveQueueAttributes;
import io.rdmacm.verbs.queue.SharedReceiveQueueType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Options, ports, devices and address resolution. */
@RequiresRdma
class OptionsDeviceTest {
    @Test
    @Covers("rdma_set_option")
    void optionsAreTakenByTheKernel() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.options().typeOfService(32).reuseAddress(true).addressFamilyOnly(true).ackTimeout(AckTimeout.ofCode(14))
                    .set(Rdma.RDMA_OPTION_ID(), Rdma.RDMA_OPTION_ID_TOS(), new byte[] {8});
            id.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            assertThat(id.localPort()).isEqualTo(id.localAddress().getPort()).isNotZero();
        }
    }

    @Test
    @Covers("rdma_set_option")
    void anAddressInUseIsSharedOnlyWhenBothSayReuse() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId first = CmId.open(channel, PortSpace.TCP);
                CmId second = CmId.open(channel, PortSpace.TCP); CmId third = CmId.open(channel, PortSpace.TCP)) {
            first.options().reuseAddress(true);
            first.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            assertThatThrownBy(() -> second.bindAddress(first.localAddress())).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("EADDRINUSE");
            third.options().reuseAddress(true);
            third.bindAddress(first.localAddress());
            assertThat(third.localPort()).isEqualTo(first.localPort());
        }
    }

    @Test
    @Covers("rdma_set_option")
    void badOptionsAreRefused() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            assertThatThrownBy(() -> id.options().typeOfService(256)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("255");
            assertThatThrownBy(() -> id.options().ackTimeout(new AckTimeout(32)))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("31");
            assertThatThrownBy(() -> id.options().ackTimeout(Duration.ofHours(3)))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("PT3H");
            assertThatThrownBy(() -> id.options().set(7, 7, new byte[1])).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("rdma_set_option");
            assertThatThrownBy(() -> id.options().infinibandPaths(new byte[3]))
                    .isInstanceOf(IllegalArgumentException.class);
            byte[] path = new byte[(int) ibv_path_data.sizeof()];
            assertThatThrownBy(() -> id.options().infinibandPaths(path)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("resolveAddress");
        }
    }

    @Test
    @Covers({"rdma_get_src_port", "rdma_get_dst_port"})
    void portsAreThoseOfTheAddresses() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId id = CmId.open(channel, PortSpace.TCP)) {
            assertThat(id.localPort()).isZero();
            assertThatThrownBy(id::devicePort).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("not bound to a device");
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            channel.await(id, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            assertThat(id.devicePort()).isEqualTo(1);
            assertThat(id.peerPort()).isEqualTo(loopback.address().getPort());
            assertThat(id.localPort()).isEqualTo(id.localAddress().getPort()).isNotZero();
        }
    }

    @Test
    @Covers({"rdma_get_devices", "rdma_free_devices"})
    void devicesAreThoseOfTheIds() throws Exception {
        List<VerbsContext> contexts = RdmaDevices.list();
        assertThat(contexts).extracting(VerbsContext::deviceName).contains(RdmaTestDevice.get().name());
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            assertThat(contexts).contains(id.context());
            // librdmacm's own: closing does nothing
            id.context().close();
            id.context().allocateProtectionDomain().close();
        }
    }

    @Test
    @Covers("rdma_event_str")
    void eventsHaveTheNamesOfC() throws Exception {
        for (CmEventType type : CmEventType.values()) {
            assertThat(type.nativeName()).isEqualTo("RDMA_CM_EVENT_" + type.name());
        }
    }

    @Test
    @Covers({"rdma_getaddrinfo", "rdma_freeaddrinfo"})
    void addressInfoForBothSides() throws Exception {
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        AddressInfo.Hints hints = new AddressInfo.Hints(Set.of(AddressInfo.Flag.NUMERICHOST), PortSpace.TCP,
                Optional.empty());
        List<AddressInfo> active = AddressInfo.resolve(host, "7174", hints);
        assertThat(active).isNotEmpty();
        assertThat(active.getFirst().portSpace()).isEqualTo(PortSpace.TCP);
        assertThat(active.getFirst().destination()).contains(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 7174));
        List<AddressInfo> passive = AddressInfo.resolve(host, "7174", AddressInfo.Hints.passive(PortSpace.UDP));
        assertThat(passive.getFirst().source()).contains(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 7174));
        assertThat(passive.getFirst().queuePairType()).isEqualTo(PortSpace.UDP.queuePairType());
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.resolveAddress(active.getFirst().destination().orElseThrow(), Loopback.TIMEOUT);
            channel.await(id, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
        }
        assertThatThrownBy(() -> AddressInfo.resolve("not an address", "7174", hints))
                .isInstanceOf(RdmaException.class).hasMessageContaining("EAI_NONAME");
        assertThatThrownBy(() -> AddressInfo.resolve(null, null, hints)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Covers({"rdma_getaddrinfo", "rdma_freeaddrinfo"})
    void addressInfoOfGids() throws Exception {
        AddressInfo.Hints hints = new AddressInfo.Hints(Set.of(AddressInfo.Flag.NUMERICHOST, AddressInfo.Flag.FAMILY),
                PortSpace.TCP, Optional.empty(), Optional.of(AddressInfo.Family.IB));
        assertThat(AddressInfo.resolve("fe80::1234", "7174", hints).getFirst().destination())
                .containsInstanceOf(IbSocketAddress.class)
                .hasValueSatisfying(found -> assertThat(((IbSocketAddress) found).gid()).hasToString("fe80::1234"));
        AddressInfo.Hints plain = new AddressInfo.Hints(hints.flags(), PortSpace.TCP, Optional.empty(),
                Optional.of(AddressInfo.Family.INET6));
        assertThat(AddressInfo.resolve("fe80::1234", "7174", plain).getFirst().destination())
                .containsInstanceOf(InetSocketAddress.class);
    }

    @Test
    void everyPortSpaceCanBeOpened() throws Exception {
        try (EventChannel channel = EventChannel.open()) {
            for (PortSpace space : PortSpace.values()) {
                try (CmId id = CmId.open(channel, space)) {
                    assertThat(id.portSpace()).isEqualTo(space);
                }
            }
        }
    }

    @Test
    void infinibandAddressesGoThroughAsTheyAre() throws Exception {
        byte[] bytes = new byte[48];
        bytes[0] = (byte) Rdma.AF_IB();
        IbSocketAddress any = IbSocketAddress.ofBytes(bytes);
        assertThat(any).isEqualTo(IbSocketAddress.ofBytes(bytes)).hasToString("sockaddr_ib 1b" + "00".repeat(47));
        bytes[(int) sockaddr_ib.sib_addr$offset()] = 0x77;
        assertThat(IbSocketAddress.of(Gid.ofAddress(InetAddress.getByName("7700::")))).isEqualTo(
                IbSocketAddress.ofBytes(bytes));
        IbSocketAddress foreign = IbSocketAddress.ofBytes(bytes);
        assertThatThrownBy(() -> IbSocketAddress.ofBytes(new byte[16])).isInstanceOf(IllegalArgumentException.class);
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.IB)) {
            // any address of the family can be bound everywhere; a given GID only where a device has it
            assertThatThrownBy(() -> id.bindAddress(foreign)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("rdma_bind_addr");
            id.bindAddress(any);
            assertThat(id.state()).isEqualTo(CmIdState.BOUND);
        }
    }

    @Test
    @Covers({"rdma_create_srq_ex", "rdma_set_local_ece", "rdma_get_remote_ece", "rdma_reject_ece"})
    void whatTheDeviceLacksIsUnsupported() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId id = loopback.resolved(channel);
                ProtectionDomain domain = id.context().allocateProtectionDomain()) {
            var xrc = new SharedReceiveQueueInitAttributes(SharedReceiveQueueType.XRC,
                    new SharedReceiveQueueAttributes(8, 1, 0), Optional.empty(), Optional.empty(), 0, 0);
            try {
                id.createSharedReceiveQueue(domain, xrc).close();
            } catch (RdmaUnsupportedException e) {
                assertThat(e).hasMessageContaining("rdma_create_srq_ex").hasMessageContaining("EOPNOTSUPP");
            }
            RdmaTestDevice.assumeNotIwarp("it has no such options");
            // the options travel in the messages whether the devices know them or not
            id.options().localEce(new Ece(0x15b3, 1));
            id.connect(ConnectionParameters.builder().queuePairNumber(77).build());
            try (CmId server = loopback.request()) {
                assertThat(server.remoteEce()).isEqualTo(new Ece(0x15b3, 1));
                server.rejectEce(new byte[] {1});
            }
            assertThatThrownBy(() -> channel.await(id, CmEventType.ESTABLISHED, Loopback.TIMEOUT))
                    .isInstanceOfSatisfying(RejectedException.class, e -> assertThat(e.reason())
                            .isEqualTo(RejectReason.VENDOR_OPTION_NOT_SUPPORTED));
        }
    }

    @Test
    @Covers("rdma_set_option")
    void aPathOfInfinibandIsNoneOfRoce() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            channel.await(id, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            byte[] path = new byte[(int) ibv_path_data.sizeof()];
            assertThatThrownBy(() -> id.options().infinibandPaths(path)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("rdma_set_option");
            assertThat(id.state()).isEqualTo(CmIdState.ADDRESS_RESOLVED);
        }
    }

    @Test
    @Covers("rdma_notify")
    void notificationsReachTheKernel() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                Loopback.Pair pair = loopback.connect(channel)) {
            if (!RdmaTestDevice.get().isIwarp()) {
                // iWARP takes no notice
                assertThatThrownBy(() -> pair.client().id.notifyEstablished()).isInstanceOf(RdmaException.class)
                        .hasMessageContaining("rdma_notify").hasMessageContaining("EISCONN");
            }
            // taken note of, though there is no alternate path
            pair.client().id.notifyMigrated();
            assertThat(pair.client().id.state()).isEqualTo(CmIdState.CONNECTED);
            assertThatThrownBy(() -> loopback.listener.notifyEstablished()).isInstanceOf(IllegalStateException.class);
        }
    }
}
