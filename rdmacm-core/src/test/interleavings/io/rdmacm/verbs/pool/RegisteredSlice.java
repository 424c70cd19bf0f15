// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.MemoryRegion;
import org.jspecify.annotations.Nullable;

/** Stands in for the class of this name, in plain Java: a whole region. */
public final class RegisteredSlice implements AutoCloseable {
    private final MemoryRegion region;
    private final @Nullable RegisteredPool pool;

    /** Creates a slice, which may belong to a pool. */
    public RegisteredSlice(int length, @Nullable RegisteredPool pool) {
        this.region = new MemoryRegion(length);
        this.pool = pool;
    }

    /** Returns its memory. */
    public MemorySegment memory() {
        return region.memory();
    }

    /** Returns its region. */
    public MemoryRegion region() {
        return region;
    }

    /** Returns where it begins. */
    public long offset() {
        return 0;
    }

    @Override
    public void close() {
        region.close();
        if (pool != null) {
            pool.giveBack();
        }
    }
}
