// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

/** What a request carries; the loop in C has the same. */
public enum Payload {
    /** 64 bytes, one entry of the scatter list. */
    ONE_ENTRY(1, false, 64),
    /** 64 bytes, two entries of the scatter list. */
    TWO_ENTRIES(2, false, 32),
    /** 16 bytes that are copied into the queue entry. */
    INLINE(1, true, 16);

    private final int entries;
    private final boolean inline;
    private final int entryLength;

    Payload(int entries, boolean inline, int entryLength) {
        this.entries = entries;
        this.inline = inline;
        this.entryLength = entryLength;
    }

    /** Entries of the scatter list. */
    public int entries() {
        return entries;
    }

    /** Whether the data goes with the request. */
    public boolean inline() {
        return inline;
    }

    /** Bytes of each entry. */
    public int entryLength() {
        return entryLength;
    }
}
