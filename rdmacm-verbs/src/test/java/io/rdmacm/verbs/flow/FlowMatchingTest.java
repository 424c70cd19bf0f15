// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.FlowTraffic;
import io.rdmacm.verbs.testing.RawPacket;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.ThrowingConsumer;

/**
 * The traffic of {@link FlowTrafficDeviceTest} over the stand-in for libibverbs, which compares the bytes of frames
 * with those of the rules as the manual pages define it: the frames that match arrive, and no others.
 */
@WithFakeVerbs
class FlowMatchingTest {
    private static final RawPacket UDP4 = new RawPacket(4, RawPacket.UDP);
    private static final RawPacket TCP6 = new RawPacket(6, RawPacket.TCP);

    @BeforeEach
    void clear() {
        FakeVerbs.call("fake_clear_wire");
        FakeVerbs.recording(false);
    }

    // Otherwise a later queue pair at the same address would use them, and frames would be written to freed memory.
    @AfterEach
    void noReceiveOutlivesItsQueue() {
        assertThat(FakeVerbs.call("fake_waiting_receives")).isZero();
    }

    private static VerbsContext openDevice() throws RdmaException {
        VerbsContext context = Device.list().getFirst().open();
        FakeVerbs.call("fake_equip_wire", context.handle().address());
        return context;
    }

    private static FlowTraffic traffic() throws RdmaException {
        return new FlowTraffic(openDevice(), openDevice());
    }

    @Test
    @Covers({"ibv_create_flow", "ibv_destroy_flow"})
    void theTrafficOfDevicesArrives() throws Throwable {
        for (ThrowingConsumer<FlowTraffic> test : List.<ThrowingConsumer<FlowTraffic>>of(FlowTraffic::ethernetHeader,
                FlowTraffic::ipv4Header, FlowTraffic::ipv6Header, FlowTraffic::udpPorts, FlowTraffic::tcpPorts)) {
            try (FlowTraffic traffic = traffic()) {
                test.accept(traffic);
            }
        }
    }

    private static boolean isSteered(RawPacket packet, FlowMatch... matches) throws Exception {
        try (FlowTraffic traffic = traffic()) {
            return traffic.isSteered(packet, matches);
        }
    }

    /** Returns matches each of which has a value that differs from the frame's. */
    private static List<FlowMatch> wrong(RawPacket packet) {
        List<FlowMatch> wrong = new ArrayList<>(List.of(
                FlowMatch.ethernet().with(FlowField.ETH_DST_MAC, RawPacket.SOURCE_MAC),
                FlowMatch.ethernet().with(FlowField.ETH_SRC_MAC, RawPacket.SOURCE_MAC + 1),
                FlowMatch.ethernet().with(FlowField.ETH_ETHER_TYPE, RawPacket.etherType(10 - packet.ipVersion())),
                FlowMatch.ethernet().with(FlowField.ETH_ETHER_TYPE, Short.toUnsignedInt(
                        Short.reverseBytes((short) RawPacket.etherType(packet.ipVersion()))))));
        if (packet == UDP4) {
            wrong.addAll(List.of(FlowMatch.tcp(), FlowMatch.ipv6(),
                    FlowMatch.ipv4Extended().with(FlowField.IPV4_EXT_SRC_IP, RawPacket.DESTINATION_IPV4),
                    FlowMatch.ipv4Extended().with(FlowField.IPV4_EXT_DST_IP, RawPacket.SOURCE_IPV4),
                    FlowMatch.ipv4Extended().with(FlowField.IPV4_EXT_PROTO, RawPacket.TCP), FlowMatch.ipv4Extended()
                            .with(FlowField.IPV4_EXT_TTL, 63),
                    FlowMatch.ipv4Extended().with(FlowField.IPV4_EXT_TOS, 1), FlowMatch.udp()
                            .with(FlowField.TCP_UDP_SRC_PORT, RawPacket.DESTINATION_PORT),
                    FlowMatch.udp().with(FlowField.TCP_UDP_DST_PORT, RawPacket.SOURCE_PORT)));
        } else {
            wrong.addAll(List.of(FlowMatch.udp(), FlowMatch.ipv4Extended(),
                    FlowMatch.ipv6().with(FlowField.IPV6_SRC_IP, RawPacket.DESTINATION_IPV6),
                    FlowMatch.ipv6().with(FlowField.IPV6_DST_IP, RawPacket.SOURCE_IPV6), FlowMatch.ipv6()
                            .with(FlowField.IPV6_NEXT_HDR, RawPacket.UDP),
                    FlowMatch.ipv6().with(FlowField.IPV6_HOP_LIMIT, 65), FlowMatch.tcp()
                            .with(FlowField.TCP_UDP_SRC_PORT, RawPacket.DESTINATION_PORT),
                    FlowMatch.tcp().with(FlowField.TCP_UDP_DST_PORT, RawPacket.SOURCE_PORT)));
        }
        return wrong;
    }

    @Test
    @Covers("ibv_create_flow")
    void otherFramesDoNotArrive() throws Exception {
        for (RawPacket packet : List.of(UDP4, TCP6)) {
            for (FlowMatch match : wrong(packet)) {
                assertThat(isSteered(packet, match)).describedAs("%s steered by %s", packet, match).isFalse();
            }
            assertThat(isSteered(packet)).isTrue();
        }
    }

    @Test
    @Covers("ibv_create_flow")
    void onlyTheBitsOfTheMaskCount() throws Exception {
        assertThat(isSteered(UDP4, FlowMatch.ethernet()
                .with(FlowField.ETH_SRC_MAC, RawPacket.SOURCE_MAC + 1, 0xffff_ffff_fff0L)))
                .isTrue();
        assertThat(isSteered(UDP4, FlowMatch.ethernet()
                .with(FlowField.ETH_SRC_MAC, RawPacket.SOURCE_MAC + 16, 0xffff_ffff_fff0L)))
                .isFalse();
        Inet4Address net = Inet4Address.ofLiteral("1.1.77.88");
        assertThat(isSteered(UDP4, FlowMatch.ipv4Extended()
                .with(FlowField.IPV4_EXT_SRC_IP, net, Inet4Address.ofLiteral("255.255.0.0"))))
                .isTrue();
        assertThat(isSteered(UDP4, FlowMatch.ipv4Extended()
                .with(FlowField.IPV4_EXT_SRC_IP, net, Inet4Address.ofLiteral("255.255.1.0"))))
                .isTrue();
        assertThat(isSteered(UDP4, FlowMatch.ipv4Extended()
                .with(FlowField.IPV4_EXT_SRC_IP, net, Inet4Address.ofLiteral("255.255.2.0"))))
                .isTrue();
        assertThat(isSteered(UDP4, FlowMatch.ipv4Extended()
                .with(FlowField.IPV4_EXT_SRC_IP, net, Inet4Address.ofLiteral("255.255.4.0"))))
                .isFalse();
        Inet6Address net6 = (Inet6Address) Inet6Address.ofLiteral("b0b1::1");
        assertThat(isSteered(TCP6, FlowMatch.ipv6().with(FlowField.IPV6_DST_IP, net6,
                (Inet6Address) Inet6Address.ofLiteral("ffff:ffff::")))).isTrue();
        assertThat(isSteered(TCP6, FlowMatch.tcp()
                .with(FlowField.TCP_UDP_DST_PORT, RawPacket.DESTINATION_PORT & 0xff00, 0xff00)))
                .isTrue();
        assertThat(isSteered(TCP6, FlowMatch.tcp()
                .with(FlowField.TCP_UDP_DST_PORT, RawPacket.DESTINATION_PORT & 0xff, 0xff)))
                .isTrue();
        assertThat(isSteered(TCP6, FlowMatch.tcp()
                .with(FlowField.TCP_UDP_DST_PORT, RawPacket.DESTINATION_PORT & 0xff, 0xff00)))
                .isFalse();
    }

    @Test
    @Covers({"ibv_create_qp_ex", "ibv_create_rwq_ind_table", "ibv_post_wq_recv"})
    void framesAreSpreadByTheHash() throws Exception {
        // The usual example for checking implementations of the Toeplitz hash: 66.9.149.187 to 161.142.100.80.
        byte[] key = HexFormat.of().parseHex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c"
                + "6a42b73bbeac01fa");
        byte[] addresses = HexFormat.of().parseHex("420995bba18e6450");
        try (Arena arena = Arena.ofConfined()) {
            assertThat((int) FakeVerbs.call("fake_toeplitz", arena.allocateFrom(ValueLayout.JAVA_BYTE, key).address(),
                    arena.allocateFrom(ValueLayout.JAVA_BYTE, addresses).address(), addresses.length))
                    .isEqualTo(0x323e8fc2);
        }
        try (FlowTraffic traffic = traffic()) {
            int[] each = traffic.spreadByTheHash();
            assertThat(each[0]).isBetween(1, FlowTraffic.SPREAD - 1);
            assertThat(each[0] + each[1]).isEqualTo(FlowTraffic.SPREAD);
        }
    }
}
