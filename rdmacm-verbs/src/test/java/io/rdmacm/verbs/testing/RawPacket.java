// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.nio.ByteBuffer;

/**
 * Whole Ethernet frames with the headers that the tests of flows match. Without checksums: they go from a device to
 * itself, which steers them by other members.
 *
 * @param ipVersion 4 or 6
 * @param protocol what is inside: {@link #TCP} or {@link #UDP}
 * @param source the IPv4 address that it says it comes from; of no meaning for IPv6
 */
public record RawPacket(int ipVersion, int protocol, Inet4Address source) {
    public static final int TCP = 6;
    public static final int UDP = 17;
    // devices send to themselves what is for a multicast address
    public static final long DESTINATION_MAC = 0x0150_5619_20a7L;
    public static final long SOURCE_MAC = 0x248a_07a5_28c8L;
    public static final Inet4Address SOURCE_IPV4 = Inet4Address.ofLiteral("1.1.1.1");
    public static final Inet4Address DESTINATION_IPV4 = Inet4Address.ofLiteral("2.2.2.2");
    public static final Inet6Address SOURCE_IPV6 = (Inet6Address) Inet6Address.ofLiteral("a0a1::a2a3:a4a5:a6a7:a8a9");
    public static final Inet6Address DESTINATION_IPV6 =
            (Inet6Address) Inet6Address.ofLiteral("b0b1::b2b3:b4b5:b6b7:b8b9");
    public static final int SOURCE_PORT = 1234;
    public static final int DESTINATION_PORT = 5678;

    private static final int ETHERNET_HEADER = 14;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    private static final int TCP_HEADER_WORDS = 5;
    private static final int DO_NOT_FRAGMENT = 0x4000;
    private static final int HOPS = 64;
    private static final int WINDOW = 0xffff;
    private static final byte PAYLOAD = 'a';

    public RawPacket(int ipVersion, int protocol) {
        this(ipVersion, protocol, SOURCE_IPV4);
    }

    public static int etherType(int ipVersion) {
        return ipVersion == 4 ? 0x800 : 0x86dd;
    }

    /** A frame of a length. */
    public byte[] bytes(int length) {
        ByteBuffer frame = ByteBuffer.allocate(length);
        putMac(frame, DESTINATION_MAC);
        putMac(frame, SOURCE_MAC);
        frame.putShort((short) etherType(ipVersion));
        int payload;
        if (ipVersion == 4) {
            payload = length - ETHERNET_HEADER - IPV4_HEADER;
            frame.put((byte) (4 << 4 | IPV4_HEADER / Integer.BYTES)).put((byte) 0)
                    .putShort((short) (length - ETHERNET_HEADER)).putShort((short) 0)
                    .putShort((short) DO_NOT_FRAGMENT).put((byte) HOPS).put((byte) protocol).putShort((short) 0)
                    .put(source.getAddress()).put(DESTINATION_IPV4.getAddress());
        } else {
            payload = length - ETHERNET_HEADER - IPV6_HEADER;
            frame.putInt(6 << 28).putShort((short) payload).put((byte) protocol).put((byte) HOPS)
                    .put(SOURCE_IPV6.getAddress()).put(DESTINATION_IPV6.getAddress());
        }
        frame.putShort((short) SOURCE_PORT).putShort((short) DESTINATION_PORT);
        if (protocol == UDP) {
            frame.putShort((short) payload).putShort((short) 0);
        } else {
            frame.putInt(0).putInt(0).putShort((short) (TCP_HEADER_WORDS << 12)).putShort((short) WINDOW).putInt(0);
        }
        while (frame.hasRemaining()) {
            frame.put(PAYLOAD);
        }
        return frame.array();
    }

    private static void putMac(ByteBuffer frame, long mac) {
        frame.putShort((short) (mac >>> Integer.SIZE)).putInt((int) mac);
    }
}
