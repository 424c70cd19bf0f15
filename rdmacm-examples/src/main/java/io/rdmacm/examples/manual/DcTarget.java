// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.nio.ByteBuffer;

import io.rdmacm.verbs.address.Gid;

/**
 * What an initiator must know of a target to send to it. It is exchanged over TCP, in network byte order.
 *
 * @param key the access key of the target, chosen by its owner
 * @param number the number of the queue pair
 * @param lid the local identifier of the port: its address on InfiniBand, 0 on RoCE
 * @param gid the global identifier of the port: its address on RoCE; zero if it is not used
 */
record DcTarget(long key, int number, int lid, Gid gid) {
    private static final int BYTES = Long.BYTES + Integer.BYTES + Short.BYTES + Gid.BYTES;

    byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(key).putInt(number).putShort((short) lid).put(gid.toBytes()).array();
    }

    static DcTarget of(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        long key = buffer.getLong();
        int number = buffer.getInt();
        int lid = Short.toUnsignedInt(buffer.getShort());
        byte[] gid = new byte[Gid.BYTES];
        buffer.get(gid);
        return new DcTarget(key, number, lid, Gid.of(gid));
    }

    @Override
    public String toString() {
        return String.format("target 0x%x, key 0x%x, LID 0x%x, GID %s", number, key, lid, gid);
    }
}
