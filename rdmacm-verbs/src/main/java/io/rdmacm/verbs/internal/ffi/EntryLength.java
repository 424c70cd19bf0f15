// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

/**
 * The length of the data of a request. C has 32 bits for that of a scatter/gather entry, but no message may be longer
 * than 2 GiB, and cards use the last bit for other purposes.
 */
public final class EntryLength {
    private static final long MOST = Integer.MAX_VALUE;

    private EntryLength() {
    }

    /** Returns a length that a request may have, or throws. Negative lengths are left to the check of the bounds. */
    public static long require(long bytes) {
        if (bytes > MOST) {
            throw new IllegalArgumentException(bytes + " bytes in one request: the most is " + MOST);
        }
        return bytes;
    }
}
