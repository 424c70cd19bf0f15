// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * A struct with the functions that a driver provides for an object, for the data path. A pointer is read by the first
 * call, not before: with an old driver the struct is shorter, and the newest pointers lie in unrelated memory. The
 * calls are kept in fields: to read them from an array costs a nanosecond a request.
 */
public abstract class FunctionTable {
    /** The address of the struct, which is the first argument of its functions. */
    protected final long struct;

    /**
     * Creates a table without reading the struct.
     *
     * @param struct the address of the struct
     */
    protected FunctionTable(long struct) {
        this.struct = struct;
    }

    /**
     * Returns a function of at most four arguments that only accesses memory; its pointer is at an offset of the
     * struct.
     */
    protected final DriverCall at(long offset) {
        return at(offset, true);
    }

    /** Like {@link #at(long)}, for a function that may be critical, see {@link DriverCall#of}, or not. */
    protected final DriverCall at(long offset, boolean critical) {
        return DriverCall.of(Memory.getLong(struct + offset), critical);
    }

    /** Like {@link #at(long)}, for a function of five or six arguments. */
    protected final DriverCall withManyAt(long offset) {
        return DriverCall.ofMany(Memory.getLong(struct + offset));
    }
}
