// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_path_data;
import io.rdmacm.bindings.rdma_conn_param;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.Memory;
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
            id.options().typeOfService(200).reuseAddress(true).addressFamilyOnly(false).ackTimeout(31);
            var calls = FakeRdmaCm.calls("rdma_set_option");
            assertThat(calls).extracting(call -> call.arguments().get(2)).containsExactly(0L, 1L, 2L, 3L);
            assertThat(calls).extracting(FakeRdmaCm.Call::data).satisfiesExactly(
                    tos -> assertThat(tos).containsExactly(200), reuse -> assertThat(reuse).containsExactly(1, 0, 0, 0),
                    only -> assertThat(only).containsExactly(0, 0, 0, 0), ack -> assertThat(ack).containsExactly(31));
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
