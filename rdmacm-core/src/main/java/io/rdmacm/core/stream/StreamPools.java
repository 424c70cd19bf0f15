// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * Memory for the streams of a device, all with the same access: a pool for each size, which exists as long as slices of
 * it are taken.
 */
final class StreamPools {
    private final ProtectionDomain domain;
    private final AccessFlag[] access;
    // by the size of a slice; guarded by this
    private final Map<Integer, RegisteredPool> pools = new HashMap<>();

    StreamPools(ProtectionDomain domain, AccessFlag... access) {
        this.domain = domain;
        this.access = access;
    }

    /** Takes a slice, which holds what its last user left there. */
    synchronized RegisteredSlice take(int size) throws RdmaException {
        RegisteredPool pool = pools.get(size);
        if (pool == null) {
            pool = RegisteredPool.builder(domain).sliceSize(size).access(access).build();
            pools.put(size, pool);
        }
        return pool.take();
    }

    /** Gives a slice back, which no device uses any more. */
    synchronized void giveBack(RegisteredSlice slice) throws RdmaException {
        RegisteredPool pool = Objects.requireNonNull(pools.get(slice.length()));
        slice.close();
        if (pool.taken() == 0) {
            pools.remove(pool.sliceSize());
            pool.close();
        }
    }
}
