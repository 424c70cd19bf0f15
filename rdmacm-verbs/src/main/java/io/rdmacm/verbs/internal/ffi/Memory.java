// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Native memory by absolute address. The data path and the structs that the C libraries own are read and written
 * through it: no scope to check, no segment to allocate. Whoever passes an address vouches that it is alive.
 */
public final class Memory {
    private static final MemorySegment ALL = everything();
    // Structs of C are aligned: there is nothing to check.
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    // Changes no address that there is. What it tells the compiler makes the checks of the bounds go away, which would
    // never fail: some percent of a post and a poll.
    private static final long ADDRESSES = (1L << 62) - 1;

    private Memory() {
    }

    @SuppressWarnings("restricted")
    private static MemorySegment everything() {
        try {
            return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
        } catch (IllegalCallerException e) {
            // a static initialiser must not fail: the first native call says what is missing, and nothing comes
            // here before it
            return MemorySegment.NULL;
        }
    }

    /** A byte. */
    public static byte getByte(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address & ADDRESSES);
    }

    /** A 16-bit number in the byte order of the machine. */
    public static short getShort(long address) {
        return ALL.get(SHORT, address & ADDRESSES);
    }

    /** A 32-bit number in the byte order of the machine. */
    public static int getInt(long address) {
        return ALL.get(INT, address & ADDRESSES);
    }

    /** A 32-bit number in a struct: with the offset apart, the compiler makes one instruction of it. */
    public static int getInt(long struct, long offset) {
        return ALL.get(INT, (struct & ADDRESSES) + offset);
    }

    /** A size, which is unsigned in C: one that is too large for an int is the largest int. */
    public static int getSize(long address) {
        int size = getInt(address);
        return size < 0 ? Integer.MAX_VALUE : size;
    }

    /** A 64-bit number or a pointer. */
    public static long getLong(long address) {
        return ALL.get(LONG, address & ADDRESSES);
    }

    /** A 64-bit number in a struct; see {@link #getInt(long, long)}. */
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

    /** Writes a 64-bit number or a pointer. */
    public static void putLong(long address, long value) {
        ALL.set(LONG, address & ADDRESSES, value);
    }

    /** Writes a 64-bit number into a struct; see {@link #getInt(long, long)}. */
    public static void putLong(long struct, long offset, long value) {
        ALL.set(LONG, (struct & ADDRESSES) + offset, value);
    }

    /** Copies bytes; both ranges must be alive. */
    public static void copy(long source, long target, long bytes) {
        MemorySegment.copy(ALL, source, ALL, target, bytes);
    }

    /** Copies native bytes into a new array. */
    public static byte[] bytes(long address, int length) {
        byte[] copy = new byte[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, copy, 0, length);
        return copy;
    }

    /** A C string; null for the null pointer. */
    public static String string(long address) {
        return address == 0 ? null : ALL.getString(address);
    }

    /** A view of a struct that a C library owns, for {@code handle()}. */
    @SuppressWarnings("restricted")
    public static MemorySegment view(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}
