// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.nio.ByteOrder;

/** Between the byte order of the machine and that of the network, for the {@code __be} fields of the C structs. */
public final class NetworkOrder {
    private static final boolean SWAP = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private NetworkOrder() {
    }

    /** Converts 32 bits. */
    public static int toHost(int value) {
        return SWAP ? Integer.reverseBytes(value) : value;
    }

    /** Converts 32 bits. */
    public static int toNetwork(int value) {
        return toHost(value);
    }

    /** Converts 16 bits. */
    public static short toHost(short value) {
        return SWAP ? Short.reverseBytes(value) : value;
    }

    /** Converts 16 bits. */
    public static short toNetwork(short value) {
        return toHost(value);
    }

    /** Converts 64 bits. */
    public static long toHost(long value) {
        return SWAP ? Long.reverseBytes(value) : value;
    }
}
