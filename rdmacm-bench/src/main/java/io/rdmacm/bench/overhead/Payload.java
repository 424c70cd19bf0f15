// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

/** The payload of a request; the loop in C has the same. */
public enum Payload {
    /** 64 bytes, one scatter/gather entry. */
    ONE_ENTRY(1, false, 64),
    /** 64 bytes, two scatter/gather entries. */
    TWO_ENTRIES(2, false, 32),
    /** 16 bytes, sent inline. */
    INLINE(1, true, 16);

    private final int entries;
    private final boolean inline;
    private final int entryLength;

    Payload(int entries, boolean inline, int entryLength) {
        this.entries = entries;
        this.inline = inline;
        this.entryLength = entryLength;
    }

    /** {@return the number of scatter/gather entries} */
    public int entries() {
        return entries;
    }

    /** {@return whether the data is sent inline} */
    public boolean inline() {
        return inline;
    }

    /** {@return the length of each entry in bytes} */
    public int entryLength() {
        return entryLength;
    }
}
