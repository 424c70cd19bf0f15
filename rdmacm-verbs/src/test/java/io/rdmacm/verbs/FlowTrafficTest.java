// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet4Address;
import java.util.HexFormat;

import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Ethernet frames are steered to a queue pair, and spread over its work queues, where the device can; else the tests
 * are skipped with what it refused.
 */
@RequiresRdma
class FlowTrafficTest {
    private static final int ROUNDS = 10;
    private static final int SPREAD = 32;
    private static final int ENTRIES = 8;
    private static final byte[] KEY = HexFormat.of().parseHex("2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1"
            + "ad9944a7d9563d59063c25f3fc1fdc2a");
    private static final int MELLANOX = 0x2c9;
    private static final int CONNECT_X3 = 0x1003;
    private static final int CONNECT_X3_PRO = 0x1007;

    private RawEnd client;
    private RawEnd server;

    @BeforeEach
    void open() throws RdmaException {
        client = new RawEnd(openDevice());
        server = new RawEnd(openDevice());
    }

    @AfterEach
    void close() throws RdmaException {
        client.close();
        server.close();
    }

    private static VerbsContext openDevice() throws RdmaException {
        return Device.list().stream().filter(device -> device.name().equals(RdmaTestDevice.get().name())).findFirst()
                .orElseThrow().open();
    }

    private void requireNewerThanConnectX3(String lacking) throws RdmaException {
        DeviceAttributes device = server.context.queryDevice();
        Assumptions.assumeFalse(device.vendorId() == MELLANOX && (device.vendorPartId() == CONNECT_X3
                || device.vendorPartId() == CONNECT_X3_PRO), "ConnectX-3 lacks " + lacking);
    }

    private static EthernetMatch ethernet(int ipVersion) {
        return FlowMatch.ethernet().destination(RawPacket.DESTINATION_MAC).source(RawPacket.SOURCE_MAC)
                .etherType(RawPacket.etherType(ipVersion));
    }

    private static Ipv4ExtendedMatch ipv4(int protocol) {
        return FlowMatch.ipv4Extended().source(RawPacket.SOURCE_IPV4).destination(RawPacket.DESTINATION_IPV4)
                .protocol(protocol);
    }

    private static Ipv6Match ipv6(int protocol) {
        return FlowMatch.ipv6().source(RawPacket.SOURCE_IPV6).destination(RawPacket.DESTINATION_IPV6)
                .nextHeader(protocol);
    }

    private static TcpUdpMatch ports(TcpUdpMatch header) {
        return header.sourcePort(RawPacket.SOURCE_PORT).destinationPort(RawPacket.DESTINATION_PORT);
    }

    /** What the client sends comes to the queue pair of the server, because its flow matches. */
    private void assertSteered(RawPacket packet, FlowMatch... matches) throws Exception {
        client.withPair();
        server.withPair().steer(matches);
        byte[] frame = packet.bytes(RawEnd.FRAME);
        for (int round = 0; round < ROUNDS; round++) {
            // the payload, behind all headers, tells the rounds apart
            frame[RawEnd.FRAME - 1] = (byte) round;
            server.postReceive();
            client.send(frame);
            server.awaitCompletion();
            assertThat(server.received()).isEqualTo(frame);
        }
    }

    @Test
    @DisplayName("FlowTest.test_eth_spec_flow_traffic")
    @Covers({"ibv_create_flow", "ibv_destroy_flow"})
    void ethernetHeader() throws Exception {
        assertSteered(new RawPacket(4, RawPacket.UDP), ethernet(4));
    }

    @Test
    @DisplayName("FlowTest.test_ipv4_spec_flow_traffic")
    @Covers("ibv_create_flow")
    void ipv4Header() throws Exception {
        requireNewerThanConnectX3("matches of the whole IPv4 header");
        assertSteered(new RawPacket(4, RawPacket.UDP), ipv4(RawPacket.UDP));
    }

    @Test
    @DisplayName("FlowTest.test_ipv6_spec_flow_traffic")
    @Covers("ibv_create_flow")
    void ipv6Header() throws Exception {
        requireNewerThanConnectX3("matches of the IPv6 header");
        assertSteered(new RawPacket(6, RawPacket.UDP), ethernet(6), ipv6(RawPacket.UDP));
    }

    @Test
    @DisplayName("FlowTest.test_udp_spec_flow_traffic")
    @Covers("ibv_create_flow")
    void udpPorts() throws Exception {
        requireNewerThanConnectX3("matches of the whole IPv4 header");
        assertSteered(new RawPacket(4, RawPacket.UDP), ethernet(4), ipv4(RawPacket.UDP), ports(FlowMatch.udp()));
    }

    @Test
    @DisplayName("FlowTest.test_tcp_spec_flow_traffic")
    @Covers("ibv_create_flow")
    void tcpPorts() throws Exception {
        requireNewerThanConnectX3("matches of the IPv6 header");
        assertSteered(new RawPacket(6, RawPacket.TCP), ethernet(6), ipv6(RawPacket.TCP), ports(FlowMatch.tcp()));
    }

    @Test
    @DisplayName("RSSTrafficTest.test_rss_traffic")
    @Covers({"ibv_create_wq", "ibv_modify_wq", "ibv_post_wq_recv", "ibv_destroy_wq",
        "ibv_create_rwq_ind_table", "ibv_destroy_rwq_ind_table"})
    void spreadByTheHash() throws Exception {
        requireNewerThanConnectX3("indirection tables of any work queues");
        client.withPair();
        server.withSpreadPair(ENTRIES, KEY, RxHashField.SRC_IPV4, RxHashField.DST_IPV4).steer(ethernet(4));
        server.postSpreadReceives(SPREAD);
        for (int i = 0; i < SPREAD; i++) {
            byte[] address = {(byte) i, (byte) (i + 1), (byte) (i + 2), (byte) (i + 3)};
            client.send(new RawPacket(4, RawPacket.UDP, (Inet4Address) Inet4Address.getByAddress(address))
                    .bytes(RawEnd.FRAME));
        }
        server.awaitSpread(SPREAD);
    }
}
