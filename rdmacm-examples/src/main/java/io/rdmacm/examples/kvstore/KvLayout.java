// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The layout of the table in memory: an array of slots of the same size. Clients use it to find the slots of a key in
 * the server's memory.
 *
 * @param slots the number of slots, a power of two
 * @param keyBytes the maximum length of a key
 * @param valueBytes the maximum length of a value
 */
record KvLayout(int slots, int keyBytes, int valueBytes) {
    /** How many slots a key can be in: the one at its hash, and those after it. */
    static final int PROBES = 8;
    /** The upper limit of {@code keyBytes} and {@code valueBytes}. */
    static final int MAX_BYTES = 0xffff;
    /** How many bytes {@link #write} writes. */
    static final int BYTES = 3 * Integer.BYTES;

    private static final int MAX_TRIES = 1_000_000;

    /** Copies the slot at an offset of the table. */
    @FunctionalInterface
    interface Reader {
        void read(long offset) throws IOException, InterruptedException;
    }

    KvLayout {
        if (Integer.bitCount(slots) != 1 || slots < PROBES) {
            throw new IllegalArgumentException("the number of slots must be a power of two, at least " + PROBES
                    + ", not " + slots);
        }
    }

    static KvLayout read(ByteBuffer buffer) {
        return new KvLayout(buffer.getInt(), buffer.getInt(), buffer.getInt());
    }

    void write(ByteBuffer buffer) {
        buffer.putInt(slots).putInt(keyBytes).putInt(valueBytes);
    }

    /** Returns whether a key and a value of these lengths have room in a slot. */
    boolean fits(int key, int value) {
        return key > 0 && key <= keyBytes && value <= valueBytes;
    }

    /** Returns the maximum length of a put in bytes: the length of the key, the key and the value. */
    int messageBytes() {
        return Short.BYTES + keyBytes + valueBytes;
    }

    /** Returns the size of a slot in bytes, a multiple of 8. */
    int slotBytes() {
        return KvSlot.HEADER + keyBytes + valueBytes + 7 & ~7;
    }

    /** Returns the size of the table in bytes. */
    long bytes() {
        return (long) slots * slotBytes();
    }

    /** Returns the offset of one of the slots that a key can be in. */
    long offset(byte[] key, int probe) {
        int slot = spread(Arrays.hashCode(key)) + probe & slots - 1;
        return (long) slot * slotBytes();
    }

    /** Reads the slots of a key into a copy until no write overlapped. Returns the value, or null if there is none. */
    byte[] find(byte[] key, KvSlot copy, Reader reader) throws IOException, InterruptedException {
        int tries = 0;
        for (int probe = 0; probe < PROBES;) {
            reader.read(offset(key, probe));
            switch (copy.check(key)) {
                case FOUND -> {
                    return copy.value();
                }
                case EMPTY -> {
                    return null;
                }
                // It may be in the next slot.
                case OTHER_KEY -> probe++;
                case TORN -> {
                    if (++tries == MAX_TRIES) {
                        throw new IOException("a slot was being written during each of " + tries + " reads");
                    }
                }
            }
        }
        return null;
    }

    /** Mixes all bits into the lowest ones, so that keys that differ in one letter lie far apart. */
    private static int spread(int hash) {
        int mixed = (hash ^ hash >>> 16) * 0x85ebca6b;
        mixed = (mixed ^ mixed >>> 13) * 0xc2b2ae35;
        return mixed ^ mixed >>> 16;
    }
}
