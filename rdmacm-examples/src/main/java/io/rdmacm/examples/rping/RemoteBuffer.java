// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

import io.rdmacm.verbs.MemoryRegion;

/**
 * Memory that its owner offers to a peer, and the message that announces it: address, key and length in network byte
 * order.
 *
 * @param address the address in the owner's process
 * @param key the remote key
 * @param length in bytes, 0 to 2^32 - 1
 */
record RemoteBuffer(long address, int key, long length) {
    /** The length of the message in bytes. */
    static final int MESSAGE = 16;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Returns the description of a local region. */
    static RemoteBuffer of(MemoryRegion region) {
        return new RemoteBuffer(region.remoteAddress(), region.remoteKey(), region.length());
    }

    static RemoteBuffer read(MemorySegment message) {
        return new RemoteBuffer(message.get(LONG, 0), message.get(INT, 8),
                Integer.toUnsignedLong(message.get(INT, 12)));
    }

    void write(MemorySegment message) {
        message.set(LONG, 0, address);
        message.set(INT, 8, key);
        message.set(INT, 12, (int) length);
    }

    @Override
    public String toString() {
        return String.format("address %x key %x length %d", address, key, length);
    }
}
