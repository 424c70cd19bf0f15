// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The table, in memory that clients may read at any time. One thread writes at a time. Readers, local and remote, take
 * no lock: they copy a slot, and check whether the copy is consistent.
 */
final class KvTable {
    /** The result of a put that found no slot for its key. */
    static final long FULL = 0;

    private static final int ALIGNMENT = 4096;
    private static final VarHandle VERSION = ValueLayout.JAVA_LONG.withOrder(KvSlot.ORDER).varHandle();

    private final KvLayout layout;
    private final MemorySegment memory;
    private final KvSlot present;
    private final KvSlot next;

    KvTable(KvLayout layout, Arena arena) {
        this.layout = layout;
        this.memory = arena.allocate(layout.bytes(), ALIGNMENT);
        this.present = new KvSlot(layout);
        this.next = new KvSlot(layout);
    }

    KvLayout layout() {
        return layout;
    }

    /** Returns the memory of all slots, to be registered. */
    MemorySegment memory() {
        return memory;
    }

    /**
     * Puts a value.
     *
     * @return its version, an even number that grows; {@link #FULL} if there is no slot left for the key
     */
    synchronized long put(byte[] key, byte[] value) {
        if (!layout.fits(key.length, value.length)) {
            throw new IllegalArgumentException("a key of " + key.length + " bytes and a value of " + value.length
                    + " in a table for 1 to " + layout.keyBytes() + " and " + layout.valueBytes());
        }
        for (int probe = 0; probe < KvLayout.PROBES; probe++) {
            MemorySegment slot = slot(key, probe);
            copy(slot, present);
            KvSlot.Content content = present.check(key);
            if (content == KvSlot.Content.EMPTY || content == KvSlot.Content.FOUND) {
                long version = present.version() + 2;
                next.fill(version, key, value);
                write(slot, version);
                return version;
            }
        }
        return FULL;
    }

    /** Writes the odd version, then the rest, then the even version, in that order for every reader. */
    private void write(MemorySegment slot, long version) {
        VERSION.setVolatile(slot, 0L, version - 1);
        VarHandle.storeStoreFence();
        int rest = next.length() - KvSlot.CHECKSUM;
        MemorySegment.copy(next.bytes(), KvSlot.CHECKSUM, slot, ValueLayout.JAVA_BYTE, KvSlot.CHECKSUM, rest);
        VERSION.setVolatile(slot, 0L, version);
    }

    private MemorySegment slot(byte[] key, int probe) {
        return memory.asSlice(layout.offset(key, probe), layout.slotBytes());
    }

    private static void copy(MemorySegment slot, KvSlot to) {
        MemorySegment.copy(slot, ValueLayout.JAVA_BYTE, 0, to.bytes(), 0, to.bytes().length);
    }
}
