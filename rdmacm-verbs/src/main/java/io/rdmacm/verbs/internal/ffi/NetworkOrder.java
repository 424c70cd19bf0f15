// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.nio.ByteOrder;

/** Converts between host and network byte order, for the {@code __be} fields of the C structs. */
public final class NetworkOrder {
    private static final boolean SWAP = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private NetworkOrder() {
    }

    /** Converts 32 bits from network to host byte order. */
    public static int toHost(int value) {
        return SWAP ? Integer.reverseBytes(value) : value;
    }

    /** Converts 32 bits from host to network byte order. */
    public static int toNetwork(int value) {
        return toHost(value);
    }

    /** Converts 16 bits from network to host byte order. */
    public static short toHost(short value) {
        return SWAP ? Short.reverseBytes(value) : value;
    }

    /** Converts 16 bits from host to network byte order. */
    public static short toNetwork(short value) {
        return toHost(value);
    }

    /** Converts 64 bits from network to host byte order. */
    public static long toHost(long value) {
        return SWAP ? Long.reverseBytes(value) : value;
    }
}
