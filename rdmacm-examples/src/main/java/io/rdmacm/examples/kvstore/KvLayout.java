// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * How the table lies in memory: slots of one size, one behind the other. Clients read them there, so they know the
 * layout, and where a key can be.
 *
 * @param slots how many, a power of two
 * @param keyBytes how long a key can be
 * @param valueBytes how long a value can be
 */
record KvLayout(int slots, int keyBytes, int valueBytes) {
    /** In how many slots a key can be: the one of its hash, and those after it. */
    static final int PROBES = 8;
    /** The longest key and value that a slot can be made for. */
    static final int MOST_BYTES = 0xffff;
    /** How many bytes {@link #write} writes. */
    static final int BYTES = 3 * Integer.BYTES;

    KvLayout {
        if (Integer.bitCount(slots) != 1 || slots < PROBES) {
            throw new IllegalArgumentException("the number of slots must be a power of two from " + PROBES
                    + " on, not " + slots);
        }
    }

    static KvLayout read(ByteBuffer buffer) {
        return new KvLayout(buffer.getInt(), buffer.getInt(), buffer.getInt());
    }

    void write(ByteBuffer buffer) {
        buffer.putInt(slots).putInt(keyBytes).putInt(valueBytes);
    }

    /** How far a slot is from the next one. */
    int slotBytes() {
        return KvSlot.HEADER + keyBytes + valueBytes + 7 & ~7;
    }

    /** The size of the table. */
    long bytes() {
        return (long) slots * slotBytes();
    }

    /** Where a slot begins that a key can be in. */
    long offset(byte[] key, int probe) {
        int slot = spread(Arrays.hashCode(key)) + probe & slots - 1;
        return (long) slot * slotBytes();
    }

    /** Keys that differ in one letter come to lie far from each other: every bit has a say in the lowest ones. */
    private static int spread(int hash) {
        int mixed = (hash ^ hash >>> 16) * 0x85ebca6b;
        mixed = (mixed ^ mixed >>> 13) * 0xc2b2ae35;
        return mixed ^ mixed >>> 16;
    }
}
