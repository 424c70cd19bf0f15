// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

/** The length of a scatter/gather entry, which has 32 bits in C. */
public final class EntryLength {
    private static final long MOST = 0xFFFF_FFFFL;

    private EntryLength() {
    }

    /** Returns a length that C can take, or throws an exception. Whether it is negative shows when bounds are checked. */
    public static long require(long bytes) {
        if (bytes > MOST) {
            throw new IllegalArgumentException(bytes + " bytes in one request: an entry has at most " + MOST);
        }
        return bytes;
    }
}
