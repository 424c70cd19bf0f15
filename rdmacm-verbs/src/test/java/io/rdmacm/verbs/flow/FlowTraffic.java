// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet4Address;
import java.util.HexFormat;

import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.RawEnd;
import io.rdmacm.verbs.testing.RawPacket;

/** Frames that a client sends and flows bring to a server, on whatever devices the two are. */
final class FlowTraffic implements AutoCloseable {
    /** How many frames are spread. */
    static final int SPREAD = 32;
    private static final int ROUNDS = 10;
    private static final int ENTRIES = 8;
    private static final byte[] KEY = HexFormat.of().parseHex("2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1"
            + "ad9944a7d9563d59063c25f3fc1fdc2a");

    private final RawEnd client;
    private final RawEnd server;

    FlowTraffic(VerbsContext client, VerbsContext server) throws RdmaException {
        this.client = new RawEnd(client);
        this.server = new RawEnd(server);
    }

    @Override
    public void close() throws RdmaException {
        client.close();
        server.close();
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

    /** By the Ethernet header. */
    void ethernetHeader() throws Exception {
        assertSteered(new RawPacket(4, RawPacket.UDP), ethernet(4));
    }

    /** By the IPv4 header. */
    void ipv4Header() throws Exception {
        assertSteered(new RawPacket(4, RawPacket.UDP), ipv4(RawPacket.UDP));
    }

    /** By the IPv6 header. */
    void ipv6Header() throws Exception {
        assertSteered(new RawPacket(6, RawPacket.UDP), ethernet(6), ipv6(RawPacket.UDP));
    }

    /** By the ports of UDP, over IPv4. */
    void udpPorts() throws Exception {
        assertSteered(new RawPacket(4, RawPacket.UDP), ethernet(4), ipv4(RawPacket.UDP), ports(FlowMatch.udp()));
    }

    /** By the ports of TCP, over IPv6. */
    void tcpPorts() throws Exception {
        assertSteered(new RawPacket(6, RawPacket.TCP), ethernet(6), ipv6(RawPacket.TCP), ports(FlowMatch.tcp()));
    }

    /** What the client sends comes to the queue pair of the server, because its flow matches. */
    void assertSteered(RawPacket packet, FlowMatch... matches) throws Exception {
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

    /** Whether what is sent comes to a server with a flow; for devices that deliver while they send only. */
    boolean isSteered(RawPacket packet, FlowMatch... matches) throws Exception {
        client.withPair();
        server.withPair().steer(matches);
        server.postReceive();
        client.send(packet.bytes(RawEnd.FRAME));
        return server.hasCompletion();
    }

    /**
     * Frames from many addresses are spread over the work queues of the server.
     *
     * @return how many came to each of its two completion queues
     */
    int[] spreadByTheHash() throws Exception {
        client.withPair();
        server.withSpreadPair(ENTRIES, KEY, RxHashField.SRC_IPV4, RxHashField.DST_IPV4).steer(ethernet(4));
        server.postSpreadReceives(SPREAD);
        for (int i = 0; i < SPREAD; i++) {
            byte[] address = {(byte) i, (byte) (i + 1), (byte) (i + 2), (byte) (i + 3)};
            client.send(new RawPacket(4, RawPacket.UDP, (Inet4Address) Inet4Address.getByAddress(address))
                    .bytes(RawEnd.FRAME));
        }
        return server.awaitSpread(SPREAD);
    }
}
