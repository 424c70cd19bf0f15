// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * The global identifier (GID) of a port ({@code union ibv_gid}): 16 bytes. On RoCE version 2 it is an IPv6 address or
 * an IPv4-mapped one.
 *
 * @param subnetPrefix the first 8 bytes as a number, the first byte on the wire being the most significant
 * @param interfaceId the last 8 bytes, likewise
 */
public record Gid(long subnetPrefix, long interfaceId) {
    /** The length of a GID in bytes. */
    public static final int BYTES = 16;

    private static final long IPV4_MAPPED = 0xffffL << 32;
    private static final int GROUPS = 8;

    /**
     * Returns the GID with the given bytes.
     *
     * @param bytes 16 bytes in network byte order
     * @return the GID
     * @throws IllegalArgumentException if there are not exactly 16 bytes
     */
    public static Gid of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a GID has 16 bytes, not " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new Gid(buffer.getLong(), buffer.getLong());
    }

    /**
     * Returns the GID that RoCE version 2 uses for an IP address: an IPv6 address as it is, an IPv4 address as
     * {@code ::ffff:a.b.c.d}.
     *
     * @param address an IPv4 or IPv6 address
     * @return the GID
     */
    public static Gid ofAddress(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (address instanceof Inet4Address) {
            return new Gid(0, IPV4_MAPPED | Integer.toUnsignedLong(ByteBuffer.wrap(bytes).getInt()));
        }
        return of(bytes);
    }

    /** {@return the IP address that this GID stands for on RoCE version 2; an IPv4 address if it is IPv4-mapped} */
    public InetAddress toAddress() {
        try {
            return InetAddress.getByAddress(toBytes());
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are an address", e);
        }
    }

    /** {@return a new array of the 16 bytes in network byte order} */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(subnetPrefix).putLong(interfaceId).array();
    }

    /** {@return whether this is an IPv4-mapped address ({@code ::ffff:a.b.c.d})} */
    public boolean isIpv4() {
        return subnetPrefix == 0 && interfaceId >>> 32 == IPV4_MAPPED >>> 32;
    }

    /** {@return whether all bytes are 0, as in an empty entry of a GID table} */
    public boolean isZero() {
        return subnetPrefix == 0 && interfaceId == 0;
    }

    /** {@return the notation of an IPv6 address (RFC 5952), such as {@code fe80::2} or {@code ::ffff:10.0.0.1}} */
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
