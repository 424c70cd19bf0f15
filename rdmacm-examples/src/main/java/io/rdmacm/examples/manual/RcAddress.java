// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.nio.ByteBuffer;

import io.rdmacm.verbs.address.Gid;

/**
 * What one side must know of the other before two queue pairs can be connected by hand, and before one of them can read
 * and write the memory of the other. It travels over TCP, in network byte order.
 *
 * @param memory where the buffer begins, in the memory of its owner
 * @param key the owner's key for it
 * @param queuePair the number of the queue pair
 * @param lid the local identifier of the port: its address on InfiniBand, 0 on RoCE
 * @param gid the global identifier of the port: its address on RoCE; all zeros when it is not used
 */
record RcAddress(long memory, int key, int queuePair, int lid, Gid gid) {
    /** How many bytes it travels in. */
    static final int BYTES = Long.BYTES + 2 * Integer.BYTES + Short.BYTES + Gid.BYTES;

    byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(memory).putInt(key).putInt(queuePair).putShort((short) lid)
                .put(gid.toBytes()).array();
    }

    static RcAddress of(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        long memory = buffer.getLong();
        int key = buffer.getInt();
        int queuePair = buffer.getInt();
        int lid = Short.toUnsignedInt(buffer.getShort());
        byte[] gid = new byte[Gid.BYTES];
        buffer.get(gid);
        return new RcAddress(memory, key, queuePair, lid, Gid.of(gid));
    }

    @Override
    public String toString() {
        return String.format("memory 0x%x, key 0x%x, queue pair 0x%x, LID 0x%x, GID %s", memory, key, queuePair, lid,
                gid);
    }
}
