// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.nio.ByteBuffer;

import io.rdmacm.verbs.address.Gid;

/**
 * What a side must know of the other one to connect the queue pairs without a connection manager, and to read and write
 * the other side's memory. It is exchanged over TCP, in network byte order.
 *
 * @param memory the address of the buffer in its owner's process
 * @param key the remote key of the buffer
 * @param queuePair the number of the queue pair
 * @param lid the local identifier of the port: its address on InfiniBand, 0 on RoCE
 * @param gid the global identifier of the port: its address on RoCE; zero if it is not used
 */
record RcAddress(long memory, int key, int queuePair, int lid, Gid gid) {
    /** The length of the encoded form. */
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
