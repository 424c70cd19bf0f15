// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A copy of a slot, and the check whether the copy is consistent. An RDMA read is not atomic: the server may write the
 * same bytes meanwhile, and the result is then partly old and partly new. Two fields reveal that:
 * <ul>
 * <li>the version, which is odd while the slot is being written;
 * <li>a checksum over the whole slot and its version, which does not match a mixture of two versions.
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
    /** The length of the header before the key, in bytes. */
    static final int HEADER = 16;
    /** The offset of the version. */
    static final int VERSION = 0;
    /** The offset of the checksum. */
    static final int CHECKSUM = 8;
    /** The offset of the length of the key; that of the value follows. */
    static final int LENGTHS = 12;
    /** The byte order of all fields, on all machines. */
    static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private final byte[] bytes;
    private final ByteBuffer buffer;
    private final CRC32C crc = new CRC32C();

    KvSlot(KvLayout layout) {
        bytes = new byte[layout.slotBytes()];
        buffer = ByteBuffer.wrap(bytes).order(ORDER);
    }

    /** The content of a copy. */
    enum Content {
        /** The slot was never written: the key is neither here nor in the slots that follow. */
        EMPTY,
        /** The key and its value. */
        FOUND,
        /** Another key. */
        OTHER_KEY,
        /** The copy is inconsistent and has to be read again. */
        TORN
    }

    /** Returns the array that holds the copy. */
    byte[] bytes() {
        return bytes;
    }

    /** Checks the copy, and compares its key. */
    Content check(byte[] key) {
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

    /** Returns the version of the copy. */
    long version() {
        return buffer.getLong(VERSION);
    }

    /** Returns the value of a copy in which the key was found. */
    byte[] value() {
        int start = HEADER + keyLength();
        return Arrays.copyOfRange(bytes, start, start + valueLength());
    }

    /** Fills the copy with a consistent slot. */
    void fill(long version, byte[] key, byte[] value) {
        buffer.putLong(VERSION, version).putShort(LENGTHS, (short) key.length)
                .putShort(LENGTHS + Short.BYTES, (short) value.length);
        buffer.put(HEADER, key).put(HEADER + key.length, value);
        buffer.putInt(CHECKSUM, checksum(key.length + value.length));
    }

    /** Returns how many bytes of the slot are used. */
    int length() {
        return HEADER + keyLength() + valueLength();
    }

    private int keyLength() {
        return Short.toUnsignedInt(buffer.getShort(LENGTHS));
    }

    private int valueLength() {
        return Short.toUnsignedInt(buffer.getShort(LENGTHS + Short.BYTES));
    }

    /** Computes the checksum of everything but the checksum itself. */
    private int checksum(int length) {
        crc.reset();
        crc.update(bytes, VERSION, Long.BYTES);
        crc.update(bytes, LENGTHS, HEADER - LENGTHS + length);
        return (int) crc.getValue();
    }
}
