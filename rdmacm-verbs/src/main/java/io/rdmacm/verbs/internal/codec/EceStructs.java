// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.ibv_ece;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.Ece;

/** Converts the options of enhanced connection establishment to and from {@code struct ibv_ece}. */
public final class EceStructs {
    private EceStructs() {
    }

    /** Allocates a zeroed {@code struct ibv_ece} and returns its address. */
    public static long allocate(Arena arena) {
        return arena.allocate(ibv_ece.layout()).address();
    }

    /** Allocates a {@code struct ibv_ece} with the given options and returns its address. */
    public static long write(Ece options, Arena arena) {
        long struct = allocate(arena);
        Memory.putInt(struct + ibv_ece.vendor_id$offset(), options.vendorId());
        Memory.putInt(struct + ibv_ece.options$offset(), options.options());
        return struct;
    }

    /** Reads a {@code struct ibv_ece}. */
    public static Ece read(long struct) {
        return new Ece(Memory.getInt(struct + ibv_ece.vendor_id$offset()),
                Memory.getInt(struct + ibv_ece.options$offset()));
    }
}
