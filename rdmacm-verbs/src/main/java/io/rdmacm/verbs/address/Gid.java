// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * A global identifier of a port ({@code union ibv_gid}): 16 bytes, on RoCE an IPv6 address or an IPv4 address mapped
 * into one.
 *
 * @param subnetPrefix the first 8 bytes, as a big-endian number
 * @param interfaceId the last 8 bytes, as a big-endian number
 */
public record Gid(long subnetPrefix, long interfaceId) {
    /** How many bytes it has. */
    public static final int BYTES = 16;

    private static final long IPV4_MAPPED = 0xffffL << 32;
    private static final int GROUPS = 8;

    /**
     * From its bytes.
     *
     * @param bytes 16 of them, in network order
     */
    public static Gid of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a GID has 16 bytes, not " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new Gid(buffer.getLong(), buffer.getLong());
    }

    /**
     * The GID by which RoCE version 2 names an IP address: the address itself, an IPv4 one as {@code ::ffff:a.b.c.d}.
     *
     * @param address of either family
     */
    public static Gid ofAddress(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (address instanceof Inet4Address) {
            return new Gid(0, IPV4_MAPPED | Integer.toUnsignedLong(ByteBuffer.wrap(bytes).getInt()));
        }
        return of(bytes);
    }

    /** The IP address that it is on RoCE; an IPv4 one where it is such a one mapped. */
    public InetAddress toAddress() {
        try {
            return InetAddress.getByAddress(toBytes());
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are an address", e);
        }
    }

    /** Its 16 bytes, in network order. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(subnetPrefix).putLong(interfaceId).array();
    }

    /** Whether it stands for an IPv4 address ({@code ::ffff:a.b.c.d}). */
    public boolean isIpv4() {
        return subnetPrefix == 0 && interfaceId >>> 32 == IPV4_MAPPED >>> 32;
    }

    /** Whether all bytes are 0: an empty entry of a port's table. */
    public boolean isZero() {
        return subnetPrefix == 0 && interfaceId == 0;
    }

    /** As an IPv6 address is written (RFC 5952): {@code fe80::2}, {@code ::ffff:10.0.0.1}. */
    @Override
    public String toString() {
        if (isIpv4()) {
            return "::ffff:" + toAddress().getHostAddress();
        }
        int first = 0;
        int length = 0;
        for (int i = 0; i < GROUPS; i++) {
            int zeros = zeros(i);
            if (zeros > length) {
                first = i;
                length = zeros;
            }
        }
        if (length < 2) {
            return groups(0, GROUPS);
        }
        return groups(0, first) + "::" + groups(first + length, GROUPS);
    }

    private int zeros(int from) {
        int end = from;
        while (end < GROUPS && group(end) == 0) {
            end++;
        }
        return end - from;
    }

    private String groups(int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(i == from ? "" : ":").append(Integer.toHexString(group(i)));
        }
        return text.toString();
    }

    private int group(int index) {
        long half = index < 4 ? subnetPrefix : interfaceId;
        return (int) (half >>> 48 - index % 4 * 16) & 0xffff;
    }
}
