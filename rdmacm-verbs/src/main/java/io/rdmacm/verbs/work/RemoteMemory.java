// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Memory of a peer that this side may read or write: what the peer has from
 * {@link io.rdmacm.verbs.MemoryRegion#remoteMemory()}, and sends in a message or in private data.
 *
 * <p>It is encoded in {@value #BYTES} bytes, in network byte order: the address, the key, and the length in 8, 4 and 8
 * bytes; or, in the compact form, in {@value #COMPACT_BYTES} bytes with a length of 4. Programs in C have structs of
 * their own: read the address and the key as they are laid out there, and create a RemoteMemory with a length that you
 * know.
 *
 * @param address the address of the first byte, unsigned
 * @param key the remote key, unsigned
 * @param length the length in bytes, not negative
 */
public record RemoteMemory(long address, int key, long length) {
    /** No memory, for operations that transfer no bytes. */
    public static final RemoteMemory NONE = new RemoteMemory(0, 0, 0);
    /** The size of the encoded form in bytes. */
    public static final int BYTES = 20;
    /** The size of the compact form in bytes. */
    public static final int COMPACT_BYTES = 16;

    private static final long MOST_COMPACT = 0xFFFF_FFFFL;

    /**
     * Checks the length.
     *
     * @throws IllegalArgumentException when it is negative, or the memory would extend beyond the last address
     */
    public RemoteMemory {
        if (length < 0 || address != 0 && Long.compareUnsigned(length, -address) > 0) {
            throw new IllegalArgumentException("no memory has " + length + " bytes at 0x" + Long.toHexString(address));
        }
    }

    /**
     * Returns a part of this memory.
     *
     * @param offset where the part begins, in bytes
     * @param bytes its length
     * @return the part
     * @throws IndexOutOfBoundsException when it is not within this memory
     */
    public RemoteMemory slice(long offset, long bytes) {
        return new RemoteMemory(addressOf(offset, bytes), key, bytes);
    }

    /**
     * Returns the rest of this memory from an offset on.
     *
     * @param offset where the rest begins, in bytes
     * @return the rest
     * @throws IndexOutOfBoundsException when the offset is not within this memory
     */
    public RemoteMemory slice(long offset) {
        return slice(offset, length - offset);
    }

    /**
     * Returns the address of a part, for a work request; allocates nothing.
     *
     * @param offset where the part begins, in bytes
     * @param bytes its length
     * @return the address
     * @throws IndexOutOfBoundsException when the part is not within this memory
     */
    public long addressOf(long offset, long bytes) {
        return address + Objects.checkFromIndexSize(offset, bytes, length);
    }

    /** {@return the encoded form} */
    public byte[] encode() {
        byte[] encoded = new byte[BYTES];
        encode(ByteBuffer.wrap(encoded));
        return encoded;
    }

    /**
     * Puts the encoded form into a buffer, whatever its byte order.
     *
     * @param target with at least {@value #BYTES} bytes remaining
     * @throws java.nio.BufferOverflowException when there is less room
     */
    public void encode(ByteBuffer target) {
        put(target, ByteBuffer.allocate(BYTES).putLong(address).putInt(key).putLong(length));
    }

    /**
     * Puts the compact form into a buffer, whatever its byte order.
     *
     * @param target with at least {@value #COMPACT_BYTES} bytes remaining
     * @throws java.nio.BufferOverflowException when there is less room
     * @throws IllegalStateException when the length is 4 GiB or more
     */
    public void encodeCompact(ByteBuffer target) {
        if (length > MOST_COMPACT) {
            throw new IllegalStateException("the compact form has no room for a length of " + length);
        }
        put(target, ByteBuffer.allocate(COMPACT_BYTES).putLong(address).putInt(key).putInt((int) length));
    }

    private static void put(ByteBuffer target, ByteBuffer encoded) {
        target.put(encoded.flip());
    }

    /**
     * Returns what the encoded form at the beginning of an array says. Private data of a peer that has sent none are
     * zeros, which say {@link #NONE}.
     *
     * @param encoded may be followed by anything, as private data is by zeros
     * @return the memory
     * @throws IllegalArgumentException when there are less than {@value #BYTES} bytes, or no memory has such a length
     */
    public static RemoteMemory decode(byte[] encoded) {
        return decode(ByteBuffer.wrap(encoded));
    }

    /**
     * Takes the encoded form from a buffer, whatever its byte order.
     *
     * @param source its position is moved behind the encoded form
     * @return the memory
     * @throws IllegalArgumentException when there are less than {@value #BYTES} bytes, or no memory has such a length
     */
    public static RemoteMemory decode(ByteBuffer source) {
        ByteBuffer encoded = take(source, BYTES);
        return new RemoteMemory(encoded.getLong(), encoded.getInt(), encoded.getLong());
    }

    /**
     * Takes the compact form from a buffer, whatever its byte order.
     *
     * @param source its position is moved behind the compact form
     * @return the memory
     * @throws IllegalArgumentException when there are less than {@value #COMPACT_BYTES} bytes, or no memory has such a
     *         length
     */
    public static RemoteMemory decodeCompact(ByteBuffer source) {
        ByteBuffer encoded = take(source, COMPACT_BYTES);
        return new RemoteMemory(encoded.getLong(), encoded.getInt(), Integer.toUnsignedLong(encoded.getInt()));
    }

    private static ByteBuffer take(ByteBuffer source, int bytes) {
        if (source.remaining() < bytes) {
            throw new IllegalArgumentException("remote memory is encoded in " + bytes + " bytes, not "
                    + source.remaining());
        }
        ByteBuffer encoded = source.slice(source.position(), bytes).order(ByteOrder.BIG_ENDIAN);
        source.position(source.position() + bytes);
        return encoded;
    }

    @Override
    public String toString() {
        return "RemoteMemory[" + length + " bytes at 0x" + Long.toHexString(address) + ", rkey 0x"
                + Integer.toHexString(key) + "]";
    }
}
