// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Reads and writes native memory by absolute address, for the data path and for structs that the C libraries own: there
 * is no scope to check and no segment to allocate. Callers guarantee that the memory is valid.
 */
public final class Memory {
    private static final MemorySegment ALL = everything();
    // C structs are aligned, so the alignment checks of the aligned layouts would be wasted.
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    // No valid address is changed by this mask. It tells the compiler that bounds checks cannot fail, which saves a few
    // percent of a post or a poll.
    private static final long ADDRESSES = (1L << 62) - 1;

    private Memory() {
    }

    @SuppressWarnings("restricted")
    private static MemorySegment everything() {
        try {
            return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
        } catch (IllegalCallerException e) {
            // A static initialiser must not fail. Nothing is accessed before the first native call, and that reports
            // the missing permission.
            return MemorySegment.NULL;
        }
    }

    /** Reads a byte. */
    public static byte getByte(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address & ADDRESSES);
    }

    /** Reads a 16-bit number in the byte order of the machine. */
    public static short getShort(long address) {
        return ALL.get(SHORT, address & ADDRESSES);
    }

    /** Reads a 32-bit number in the byte order of the machine. */
    public static int getInt(long address) {
        return ALL.get(INT, address & ADDRESSES);
    }

    /** Reads a 32-bit member of a struct. With a separate offset, it compiles to a single instruction. */
    public static int getInt(long struct, long offset) {
        return ALL.get(INT, (struct & ADDRESSES) + offset);
    }

    /** Reads an unsigned 32-bit size; one that is too large for an int becomes the largest int. */
    public static int getSize(long address) {
        int size = getInt(address);
        return size < 0 ? Integer.MAX_VALUE : size;
    }

    /** Reads a 64-bit number or a pointer. */
    public static long getLong(long address) {
        return ALL.get(LONG, address & ADDRESSES);
    }

    /** Reads a 64-bit member of a struct, see {@link #getInt(long, long)}. */
    public static long getLong(long struct, long offset) {
        return ALL.get(LONG, (struct & ADDRESSES) + offset);
    }

    /** Writes a byte. */
    public static void putByte(long address, byte value) {
        ALL.set(ValueLayout.JAVA_BYTE, address & ADDRESSES, value);
    }

    /** Writes a 16-bit number in the byte order of the machine. */
    public static void putShort(long address, short value) {
        ALL.set(SHORT, address & ADDRESSES, value);
    }

    /** Writes a 32-bit number in the byte order of the machine. */
    public static void putInt(long address, int value) {
        ALL.set(INT, address & ADDRESSES, value);
    }

    /** Writes a 32-bit member of a struct, see {@link #getInt(long, long)}. */
    public static void putInt(long struct, long offset, int value) {
        ALL.set(INT, (struct & ADDRESSES) + offset, value);
    }

    /** Writes a 64-bit number or a pointer. */
    public static void putLong(long address, long value) {
        ALL.set(LONG, address & ADDRESSES, value);
    }

    /** Writes a 64-bit member of a struct, see {@link #getInt(long, long)}. */
    public static void putLong(long struct, long offset, long value) {
        ALL.set(LONG, (struct & ADDRESSES) + offset, value);
    }

    /** Copies bytes from one address to another. */
    public static void copy(long source, long target, long bytes) {
        MemorySegment.copy(ALL, source, ALL, target, bytes);
    }

    /** Copies native bytes into a new array. */
    public static byte[] bytes(long address, int length) {
        byte[] copy = new byte[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, copy, 0, length);
        return copy;
    }

    /** Reads a C string; returns null for a null pointer. */
    public static String string(long address) {
        return address == 0 ? null : ALL.getString(address);
    }

    /** Returns a segment over memory that a C library owns, valid until the arena is closed. */
    @SuppressWarnings("restricted")
    public static MemorySegment view(long address, long bytes, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, null);
    }

    /** Returns a segment over a struct that a C library owns, for {@code handle()}. */
    @SuppressWarnings("restricted")
    public static MemorySegment view(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /** Returns a copy of the first bytes of a struct, on the heap. */
    public static MemorySegment heapCopy(MemorySegment struct, long bytes) {
        // of an array of long, so that it is aligned
        MemorySegment copy = MemorySegment.ofArray(new long[(int) (bytes + 7) / Long.BYTES]);
        return copy.copyFrom(struct.asSlice(0, bytes));
    }
}
