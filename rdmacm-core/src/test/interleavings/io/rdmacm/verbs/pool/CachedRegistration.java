// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import io.rdmacm.verbs.MemoryRegion;

/** Stands in for the class of this name, in plain Java. */
public final class CachedRegistration implements AutoCloseable {
    private final MemoryRegion region;

    /** Creates one of a region that is closed with it. */
    public CachedRegistration(MemoryRegion region) {
        this.region = region;
    }

    @Override
    public void close() {
        region.close();
    }
}
