// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.nio.ByteOrder;

/** Between the byte order of the machine and that of the network, for the {@code __be} fields of the C structs. */
final class NetworkOrder {
    private static final boolean SWAP = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private NetworkOrder() {
    }

    static int toHost(int value) {
        return SWAP ? Integer.reverseBytes(value) : value;
    }

    static int toNetwork(int value) {
        return toHost(value);
    }

    static short toHost(short value) {
        return SWAP ? Short.reverseBytes(value) : value;
    }

    static short toNetwork(short value) {
        return toHost(value);
    }

    static long toHost(long value) {
        return SWAP ? Long.reverseBytes(value) : value;
    }
}
