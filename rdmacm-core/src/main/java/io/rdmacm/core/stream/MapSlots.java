// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

/** The number of mappings that a side can hold, as one byte of the connect data: exact up to 128, then in 256s. */
final class MapSlots {
    static final int MAXIMUM = 127 << 8;

    private static final int EXACT = 128;

    private MapSlots() {
    }

    static boolean isEncodable(int count) {
        return count >= 0 && count <= MAXIMUM && decode(encode(count)) == count;
    }

    static byte encode(int count) {
        return (byte) (count <= EXACT ? count : EXACT | count >> 8);
    }

    static int decode(byte encoded) {
        int value = Byte.toUnsignedInt(encoded);
        return value <= EXACT ? value : (value & ~EXACT) << 8;
    }
}
