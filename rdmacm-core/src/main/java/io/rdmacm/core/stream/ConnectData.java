// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What each side tells the other one when they connect, as private data ({@code struct rs_conn_data}): where to write
 * to, and how much. All numbers are in network byte order.
 *
 * @param bigEndian the byte order of this side, which is that of everything written to its memory
 * @param credits how many messages it can receive, 16 bits
 * @param mapSlots how many mappings it can hold, which follow the target list
 * @param targets the address of its target list: the entries that say where it can receive data
 * @param targetCount how many entries the target list has
 * @param targetKey the remote key of the target list
 * @param buffer the address of the first part of its receive buffer
 * @param bufferLength the length of that part in bytes
 * @param bufferKey the remote key of that part
 */
record ConnectData(boolean bigEndian, int credits, int mapSlots, long targets, int targetCount, int targetKey,
        long buffer, int bufferLength, int bufferKey) {
    static final int SIZE = 40;

    private static final byte VERSION = 1;
    private static final int FLAG_BIG_ENDIAN = 1;
    private static final int FLAG_MAPS = 1 << 1;
    // Of the list, only the second entry and those after it are written.
    private static final int LEAST_TARGETS = 2;
    private static final int MOST_TARGETS = 1 << 16;

    /** Returns the byte order of this machine. */
    static boolean isBigEndianHere() {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
    }

    byte[] encode() {
        return ByteBuffer.allocate(SIZE).put(VERSION).put((byte) (FLAG_MAPS | (bigEndian ? FLAG_BIG_ENDIAN : 0)))
                .putShort((short) credits)
                // three reserved bytes
                .putShort((short) 0).put((byte) 0).put(MapSlots.encode(mapSlots))
                .putLong(targets).putInt(targetKey).putInt(targetCount)
                .putLong(buffer).putInt(bufferKey).putInt(bufferLength).array();
    }

    /**
     * Reads the private data of a peer.
     *
     * @param data may be longer, because it is padded
     */
    static ConnectData decode(byte[] data) throws StreamProtocolException {
        if (data.length < SIZE) {
            throw new StreamProtocolException("its private data has " + data.length + " bytes instead of " + SIZE);
        }
        ByteBuffer in = ByteBuffer.wrap(data);
        byte version = in.get();
        if (version != VERSION) {
            throw new StreamProtocolException("its version is " + version + " instead of " + VERSION);
        }
        byte flags = in.get();
        int credits = Short.toUnsignedInt(in.getShort());
        in.getShort();
        in.get();
        int mapSlots = MapSlots.decode(in.get());
        long targets = in.getLong();
        int targetKey = in.getInt();
        int targetCount = in.getInt();
        long buffer = in.getLong();
        int bufferKey = in.getInt();
        int bufferLength = in.getInt();
        if (credits == 0) {
            throw new StreamProtocolException("it grants no credits");
        }
        if (targetCount < LEAST_TARGETS || targetCount > MOST_TARGETS) {
            throw new StreamProtocolException("its target list has " + Integer.toUnsignedString(targetCount)
                    + " entries");
        }
        requireLength(bufferLength);
        return new ConnectData((flags & FLAG_BIG_ENDIAN) != 0, credits, (flags & FLAG_MAPS) != 0 ? mapSlots : 0,
                targets, targetCount, targetKey, buffer, bufferLength, bufferKey);
    }

    /** Checks the length of a target. */
    static void requireLength(int length) throws StreamProtocolException {
        if (length <= 0 || length > StreamSettings.MAX_BUFFER_SIZE) {
            throw new StreamProtocolException("it offers a buffer of " + Integer.toUnsignedString(length) + " bytes");
        }
    }
}
