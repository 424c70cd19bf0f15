// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A copy of a slot, and whether it is to be trusted. A read of another machine's memory is not atomic: while it is
 * under way the server may write the same bytes, and what arrives is then partly old and partly new. Two things tell:
 * <ul>
 * <li>the version, which is odd while the slot is being written;
 * <li>a checksum over all of it, the version too, which does not fit a mixture of two versions.
 * </ul>
 *
 * <pre>
 * bytes 0-7    version; 0 for a slot that was never written
 *       8-11   checksum
 *       12-13  length of the key
 *       14-15  length of the value
 *       16-    key, value
 * </pre>
 */
final class KvSlot {
    /** What stands before the key. */
    static final int HEADER = 16;
    /** Where the version is. */
    static final int VERSION = 0;
    /** Where the checksum is. */
    static final int CHECKSUM = 8;
    /** Where the length of the key is; that of the value follows. */
    static final int LENGTHS = 12;
    /** Of all that is in a slot, whichever machine reads it. */
    static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private final byte[] bytes;
    private final ByteBuffer buffer;
    private final CRC32C crc = new CRC32C();

    KvSlot(KvLayout layout) {
        bytes = new byte[layout.slotBytes()];
        buffer = ByteBuffer.wrap(bytes).order(ORDER);
    }

    /** What a look into a copy finds. */
    enum Content {
        /** Nothing was ever written: the key is not there, and not in the slots behind. */
        EMPTY,
        /** The key and its value. */
        FOUND,
        /** Another key. */
        OTHER_KEY,
        /** A mixture: read it again. */
        TORN
    }

    /** Where the copy goes to. */
    byte[] bytes() {
        return bytes;
    }

    /** Looks into the copy. */
    Content look(byte[] key) {
        long version = version();
        if (version == 0) {
            return Content.EMPTY;
        }
        int keyLength = keyLength();
        int length = keyLength + valueLength();
        if ((version & 1) != 0 || HEADER + length > bytes.length || buffer.getInt(CHECKSUM) != checksum(length)) {
            return Content.TORN;
        }
        return Arrays.equals(bytes, HEADER, HEADER + keyLength, key, 0, key.length)
                ? Content.FOUND
                : Content.OTHER_KEY;
    }

    /** The version of the copy. */
    long version() {
        return buffer.getLong(VERSION);
    }

    /** The value of a copy in which the key was found. */
    byte[] value() {
        int start = HEADER + keyLength();
        return Arrays.copyOfRange(bytes, start, start + valueLength());
    }

    /** Makes the bytes of a slot, all of them valid. */
    void fill(long version, byte[] key, byte[] value) {
        buffer.putLong(VERSION, version).putShort(LENGTHS, (short) key.length)
                .putShort(LENGTHS + Short.BYTES, (short) value.length);
        buffer.put(HEADER, key).put(HEADER + key.length, value);
        buffer.putInt(CHECKSUM, checksum(key.length + value.length));
    }

    /** How many of the bytes are used. */
    int length() {
        return HEADER + keyLength() + valueLength();
    }

    private int keyLength() {
        return Short.toUnsignedInt(buffer.getShort(LENGTHS));
    }

    private int valueLength() {
        return Short.toUnsignedInt(buffer.getShort(LENGTHS + Short.BYTES));
    }

    /** Of all but itself. */
    private int checksum(int length) {
        crc.reset();
        crc.update(bytes, VERSION, Long.BYTES);
        crc.update(bytes, LENGTHS, HEADER - LENGTHS + length);
        return (int) crc.getValue();
    }
}
