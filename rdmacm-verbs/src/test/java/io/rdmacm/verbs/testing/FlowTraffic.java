// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet4Address;
import java.util.HexFormat;

import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.flow.FlowField;
import io.rdmacm.verbs.flow.FlowMatch;

/** Ethernet frames that a client sends and that flows steer to a server, on any two devices. */
public final class FlowTraffic implements AutoCloseable {
    /** The number of frames that {@link #spreadByTheHash} sends. */
    public static final int SPREAD = 32;
    private static final int ROUNDS = 10;
    private static final int ENTRIES = 8;
    private static final byte[] KEY = HexFormat.of().parseHex("2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1"
            + "ad9944a7d9563d59063c25f3fc1fdc2a");

    private final RawEnd client;
    private final RawEnd server;

    /** Sends through the one context and receives through the other; closes both. */
    public FlowTraffic(VerbsContext client, VerbsContext server) throws RdmaException {
        this.client = new RawEnd(client);
        this.server = new RawEnd(server);
    }

    @Override
    public void close() throws RdmaException {
        client.close();
        server.close();
    }

    private static FlowMatch ethernet(int ipVersion) {
        return FlowMatch.ethernet().with(FlowField.ETH_DST_MAC, RawPacket.DESTINATION_MAC)
                .with(FlowField.ETH_SRC_MAC, RawPacket.SOURCE_MAC)
                .with(FlowField.ETH_ETHER_TYPE, RawPacket.etherType(ipVersion));
    }

    private static FlowMatch ipv4(int protocol) {
        return FlowMatch.ipv4Extended().with(FlowField.IPV4_EXT_SRC_IP, RawPacket.SOURCE_IPV4)
                .with(FlowField.IPV4_EXT_DST_IP, RawPacket.DESTINATION_IPV4)
                .with(FlowField.IPV4_EXT_PROTO, protocol);
    }

    private static FlowMatch ipv6(int protocol) {
        return FlowMatch.ipv6().with(FlowField.IPV6_SRC_IP, RawPacket.SOURCE_IPV6)
                .with(FlowField.IPV6_DST_IP, RawPacket.DESTINATION_IPV6)
                .with(FlowField.IPV6_NEXT_HDR, protocol);
    }

    private static FlowMatch ports(FlowMatch header) {
        return header.with(FlowField.TCP_UDP_SRC_PORT, RawPacket.SOURCE_PORT)
                .with(FlowField.TCP_UDP_DST_PORT, RawPacket.DESTINATION_PORT);
    }

    /** Steers by the Ethernet header. */
    public void ethernetHeader() throws Exception {
        assertSteered(new RawPacket(4, RawPacket.UDP), ethernet(4));
    }

    /** Steers by the IPv4 header. */
    public void ipv4Header() throws Exception {
        assertSteered(new RawPacket(4, RawPacket.UDP), ipv4(RawPacket.UDP));
    }

    /** Steers by the IPv6 header. */
    public void ipv6Header() throws Exception {
        assertSteered(new RawPacket(6, RawPacket.UDP), ethernet(6), ipv6(RawPacket.UDP));
    }

    /** Steers by the UDP ports, over IPv4. */
    public void udpPorts() throws Exception {
        assertSteered(new RawPacket(4, RawPacket.UDP), ethernet(4), ipv4(RawPacket.UDP), ports(FlowMatch.udp()));
    }

    /** Steers by the TCP ports, over IPv6. */
    public void tcpPorts() throws Exception {
        assertSteered(new RawPacket(6, RawPacket.TCP), ethernet(6), ipv6(RawPacket.TCP), ports(FlowMatch.tcp()));
    }

    // Checks that the frames of the client arrive at the queue pair of the server, whose flow matches.
    private void assertSteered(RawPacket packet, FlowMatch... matches) throws Exception {
        client.withPair();
        server.withPair().steer(matches);
        byte[] frame = packet.bytes(RawEnd.FRAME);
        for (int round = 0; round < ROUNDS; round++) {
            // The last byte is payload: it differs from round to round.
            frame[RawEnd.FRAME - 1] = (byte) round;
            server.postReceive();
            client.send(frame);
            server.awaitCompletion();
            assertThat(server.received()).isEqualTo(frame);
        }
    }

    /** Returns whether a flow steers a frame to the server. For devices that have delivered it when the send ends. */
    public boolean isSteered(RawPacket packet, FlowMatch... matches) throws Exception {
        client.withPair();
        server.withPair().steer(matches);
        server.postReceive();
        client.send(packet.bytes(RawEnd.FRAME));
        return server.hasCompletion();
    }

    /**
     * Sends frames from many addresses, which receive side scaling spreads over the work queues of the server.
     *
     * @return the number of frames at each of its two completion queues
     */
    public int[] spreadByTheHash() throws Exception {
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
