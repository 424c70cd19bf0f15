// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Optional;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ece;
import io.rdmacm.bindings.ibv_path_data;
import io.rdmacm.bindings.ibv_srq_attr;
import io.rdmacm.bindings.ibv_srq_init_attr_ex;
import io.rdmacm.bindings.rdma_conn_param;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.SharedReceiveQueueAttributes;
import io.rdmacm.verbs.queue.SharedReceiveQueueType;
import io.rdmacm.verbs.testing.Covers;
import org.junit.jupiter.api.Test;

/** What reaches C of the calls that SoftRoCE has no use for, byte by byte. */
@FakeRdmaCm.With
class CallBytesTest {
    private static final byte[] IB = ib();

    @Test
    void addressesOfEachFamily() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP);
                CmId six = CmId.open(channel, PortSpace.TCP); CmId infiniband = CmId.open(channel, PortSpace.IB)) {
            id.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0x1234));
            six.bindAddress(new InetSocketAddress(InetAddress.getByName("2001:db8::9"), 7174));
            infiniband.bindAddress(IbSocketAddress.ofBytes(IB));
            var calls = FakeRdmaCm.calls("rdma_bind_addr");
            assertThat(calls.get(0).data()).startsWith(Rdma.AF_INET(), 0, 0x12, 0x34, 192, 0, 2, 7);
            byte[] expected = new byte[28];
            expected[0] = (byte) Rdma.AF_INET6();
            expected[2] = 7174 >> 8;
            expected[3] = (byte) 7174;
            System.arraycopy(InetAddress.getByName("2001:db8::9").getAddress(), 0, expected, 8, 16);
            assertThat(calls.get(1).data()).isEqualTo(expected);
            assertThat(calls.get(2).data()).isEqualTo(IB);
        }
    }

    @Test
    void pathsOfInfiniband() throws Exception {
        byte[] paths = new byte[2 * (int) ibv_path_data.sizeof()];
        for (int i = 0; i < paths.length; i++) {
            paths[i] = (byte) i;
        }
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.IB)) {
            id.resolveAddress(IbSocketAddress.ofBytes(IB), Duration.ofMillis(1500));
            assertThat(FakeRdmaCm.calls("rdma_resolve_addr").getFirst().arguments()).element(2).isEqualTo(1500L);
            FakeRdmaCm.event(id, CmEventType.ADDR_RESOLVED);
            channel.await(id, CmEventType.ADDR_RESOLVED, Loopback.TIMEOUT).close();
            id.options().infinibandPaths(paths);
            var call = FakeRdmaCm.calls("rdma_set_option").getFirst();
            assertThat(call.arguments()).startsWith(id.handle().address(), (long) Rdma.RDMA_OPTION_IB(),
                    (long) Rdma.RDMA_OPTION_IB_PATH(), (long) paths.length);
            assertThat(call.data()).isEqualTo(paths);
            assertThat(id.state()).isEqualTo(CmIdState.RESOLVING_ROUTE);
        }
    }

    @Test
    void aSendOnlyMember() throws Exception {
        InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("239.1.2.3"), 0);
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.UDP)) {
            id.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0));
            try (MulticastMembership membership = id.joinMulticast(group, MulticastMembership.Role.SEND_ONLY)) {
                var call = FakeRdmaCm.calls("rdma_join_multicast_ex").getFirst();
                assertThat(call.arguments().subList(1, 3)).containsExactly(
                        (long) (Rdma.RDMA_CM_JOIN_MC_ATTR_ADDRESS() | Rdma.RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS()),
                        (long) Rdma.RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER());
                assertThat(call.data()).startsWith(Rdma.AF_INET(), 0, 0, 0, 239, 1, 2, 3);
                assertThat(membership.group()).isEqualTo(group);
                assertThatThrownBy(() -> id.joinMulticast(group)).isInstanceOf(IllegalStateException.class);
            }
            assertThat(FakeRdmaCm.calls("rdma_leave_multicast").getFirst().data())
                    .startsWith(Rdma.AF_INET(), 0, 0, 0, 239, 1, 2, 3);
        }
    }

    @Test
    void aFailedLeaveDoesNotKeepTheIdOpen() throws Exception {
        InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("239.1.2.3"), 0);
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.UDP)) {
            id.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0));
            MulticastMembership membership = id.joinMulticast(group, MulticastMembership.Role.SEND_ONLY);
            FakeRdmaCm.fail("rdma_leave_multicast", Rdma.ENODEV());
            membership.close();
            assertThat(membership.isOpen()).isFalse();
            id.joinMulticast(group, MulticastMembership.Role.SEND_ONLY).close();
        }
    }

    @Test
    void aFailedJoinLeavesNothingBehind() throws Exception {
        InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("239.1.2.3"), 0);
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.UDP)) {
            id.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0));
            FakeRdmaCm.fail("rdma_join_multicast_ex", Rdma.EOPNOTSUPP());
            assertThatThrownBy(() -> id.joinMulticast(group, MulticastMembership.Role.SEND_ONLY))
                    .isInstanceOf(RdmaUnsupportedException.class);
            id.joinMulticast(group, MulticastMembership.Role.SEND_ONLY).close();
        }
    }

    @Test
    void connectionParametersAreThoseThatCWrites() throws RdmaException {
        byte[] data = {1, 2, 3};
        ConnectionParameters parameters = ConnectionParameters.builder().privateData(data).responderResources(4)
                .initiatorDepth(5).flowControl(true).retryCount(6).rnrRetryCount(7).sharedReceiveQueue(true)
                .queuePairNumber(0x123456).build();
        try (Arena arena = Arena.ofConfined()) {
            long ours = arena.allocate(rdma_conn_param.layout()).address();
            long theirs = arena.allocate(rdma_conn_param.layout()).address();
            long copy = arena.allocateFrom(ValueLayout.JAVA_BYTE, data).address();
            parameters.write(ours, copy);
            FakeRdmaCm.call("oracle_conn_param", theirs, 4, 5, 1, 6, 7, 1, 0x123456);
            Memory.putLong(theirs + rdma_conn_param.private_data$offset(), copy);
            Memory.putByte(theirs + rdma_conn_param.private_data_len$offset(), (byte) data.length);
            int size = (int) rdma_conn_param.sizeof();
            assertThat(Memory.bytes(ours, size)).isEqualTo(Memory.bytes(theirs, size));
            assertThat(ConnectionParameters.read(ours)).isEqualTo(parameters);
        }
    }

    @Test
    @Covers("rdma_set_option")
    void optionsAreThoseOfTheHeader() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.options().typeOfService(200).reuseAddress(true).addressFamilyOnly(false)
                    .ackTimeout(AckTimeout.ofCode(31)).ackTimeout(Duration.ofMillis(500));
            var calls = FakeRdmaCm.calls("rdma_set_option");
            assertThat(calls).extracting(call -> call.arguments().get(2)).containsExactly(0L, 1L, 2L, 3L, 3L);
            assertThat(calls).extracting(FakeRdmaCm.Call::data).satisfiesExactly(
                    tos -> assertThat(tos).containsExactly(200), reuse -> assertThat(reuse).containsExactly(1, 0, 0, 0),
                    only -> assertThat(only).containsExactly(0, 0, 0, 0), ack -> assertThat(ack).containsExactly(31),
                    rounded -> assertThat(rounded).containsExactly(17));
        }
    }

    @Test
    @Covers({"rdma_set_local_ece", "rdma_get_remote_ece", "rdma_reject_ece"})
    void enhancedConnectionEstablishment() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0));
            listener.listen(1);
            assertThatThrownBy(() -> listener.options().localEce(new Ece(0, 1)))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("vendor");
            FakeRdmaCm.call("fake_remote_ece", 0x15b3, 0xf0f0);
            FakeRdmaCm.event(listener, CmEventType.CONNECT_REQUEST);
            CmEvent request = channel.getEvent(Loopback.TIMEOUT);
            try (CmId id = request.id(); request) {
                assertThat(id.remoteEce()).isEqualTo(new Ece(0x15b3, 0xf0f0));
                id.options().localEce(new Ece(0x15b3, 0x1234));
                byte[] sent = FakeRdmaCm.calls("rdma_set_local_ece").getFirst().data();
                ByteBuffer struct = ByteBuffer.wrap(sent).order(ByteOrder.nativeOrder());
                assertThat(sent).hasSize((int) ibv_ece.sizeof());
                assertThat(struct.getInt((int) ibv_ece.vendor_id$offset())).isEqualTo(0x15b3);
                assertThat(struct.getInt((int) ibv_ece.options$offset())).isEqualTo(0x1234);
                assertThat(struct.getInt((int) ibv_ece.comp_mask$offset())).isZero();
                id.rejectEce(new byte[] {5, 6});
                var call = FakeRdmaCm.calls("rdma_reject_ece").getFirst();
                assertThat(call.arguments()).startsWith(id.handle().address(), 2L);
                assertThat(call.data()).containsExactly(5, 6);
                assertThatThrownBy(() -> id.rejectEce(new byte[0])).isInstanceOf(IllegalStateException.class);
            }
        }
    }

    @Test
    @Covers({"rdma_create_srq_ex", "rdma_destroy_srq"})
    void anXrcReceiveQueue() throws Exception {
        // without an XRC domain and a completion queue: librdmacm has some of its own
        var attributes = new SharedReceiveQueueInitAttributes(SharedReceiveQueueType.XRC,
                new SharedReceiveQueueAttributes(32, 2, 0), Optional.empty(), Optional.empty(), 0, 0);
        try (VerbsContext device = Device.list().getFirst().open()) {
            FakeRdmaCm.call("fake_context", device.handle().address());
            try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
                id.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0));
                try (ProtectionDomain domain = id.context().allocateProtectionDomain()) {
                    FakeRdmaCm.fail("rdma_create_srq_ex", Rdma.EOPNOTSUPP());
                    assertThatThrownBy(() -> id.createSharedReceiveQueue(domain, attributes))
                            .isInstanceOf(RdmaUnsupportedException.class).hasMessageContaining("rdma_create_srq_ex");
                    try (SharedReceiveQueue queue = id.createSharedReceiveQueue(domain, attributes)) {
                        ByteBuffer struct = ByteBuffer.wrap(FakeRdmaCm.calls("rdma_create_srq_ex").get(1).data())
                                .order(ByteOrder.nativeOrder());
                        int sizes = (int) ibv_srq_init_attr_ex.attr$offset();
                        assertThat(struct.getInt(sizes + (int) ibv_srq_attr.max_wr$offset())).isEqualTo(32);
                        assertThat(struct.getInt(sizes + (int) ibv_srq_attr.max_sge$offset())).isEqualTo(2);
                        assertThat(struct.getInt((int) ibv_srq_init_attr_ex.srq_type$offset()))
                                .isEqualTo(SharedReceiveQueueType.XRC.value());
                        assertThat(struct.getLong((int) ibv_srq_init_attr_ex.pd$offset()))
                                .isEqualTo(domain.handle().address());
                        assertThat(struct.getInt((int) ibv_srq_init_attr_ex.comp_mask$offset()))
                                .isEqualTo(Rdma.IBV_SRQ_INIT_ATTR_TYPE() | Rdma.IBV_SRQ_INIT_ATTR_PD());
                        assertThatThrownBy(id::close).isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining(queue.toString());
                        assertThatThrownBy(() -> id.createSharedReceiveQueue(domain, attributes))
                                .isInstanceOf(IllegalStateException.class).hasMessageContaining("already");
                    }
                    assertThat(FakeRdmaCm.calls("rdma_destroy_srq")).hasSize(1);
                }
            }
            FakeRdmaCm.call("fake_context", 0);
        }
    }

    private static byte[] ib() {
        byte[] bytes = new byte[48];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (100 + i);
        }
        bytes[0] = (byte) Rdma.AF_IB();
        bytes[1] = 0;
        return bytes;
    }
}
