// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.ibv_ece;
import io.rdmacm.verbs.Ece;

/** Options of enhanced connection establishment between Java and {@code struct ibv_ece}. */
public final class EceStruct {
    private static final long VENDOR_ID = ibv_ece.vendor_id$offset();
    private static final long OPTIONS = ibv_ece.options$offset();

    private EceStruct() {
    }

    /** Returns the address of a new struct, zeroed. */
    public static long allocate(Arena arena) {
        return arena.allocate(ibv_ece.layout()).address();
    }

    /** Reads a struct. */
    public static Ece read(long address) {
        return new Ece(Memory.getInt(address + VENDOR_ID), Memory.getInt(address + OPTIONS));
    }

    /** Returns the address of a new struct with the given options. */
    public static long write(Ece options, Arena arena) {
        long address = allocate(arena);
        Memory.putInt(address + VENDOR_ID, options.vendorId());
        Memory.putInt(address + OPTIONS, options.options());
        return address;
    }
}
