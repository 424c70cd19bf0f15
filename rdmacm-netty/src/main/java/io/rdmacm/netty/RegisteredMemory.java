// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.util.concurrent.atomic.AtomicReferenceArray;

import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Registered memory for buffers of all sizes up to 1 MiB: a pool for each power of two. Thread-safe. */
final class RegisteredMemory {
    private static final Logger LOG = LoggerFactory.getLogger(RegisteredMemory.class);
    private static final int SMALLEST_BITS = 8;
    private static final int LARGEST_BITS = 20;

    private final ProtectionDomain domain;
    // created when they are first needed
    private final AtomicReferenceArray<RegisteredPool> pools =
            new AtomicReferenceArray<>(LARGEST_BITS - SMALLEST_BITS + 1);
    private volatile boolean ended;

    RegisteredMemory(ProtectionDomain domain) {
        this.domain = domain;
    }

    ProtectionDomain domain() {
        return domain;
    }

    /** Memory that was taken. */
    record Piece(RegisteredMemory memory, RegisteredSlice slice) {
        void free() {
            slice.close();
            if (memory.ended) {
                memory.closePools();
            }
        }
    }

    /** Returns memory for so many bytes; null if they are too many, or the memory has ended. */
    @Nullable Piece take(int bytes) throws RdmaException {
        int bits = Math.max(SMALLEST_BITS, Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(bytes, 1) - 1));
        if (bits > LARGEST_BITS || ended) {
            return null;
        }
        int index = bits - SMALLEST_BITS;
        try {
            RegisteredPool pool = pools.get(index);
            if (pool == null) {
                pool = addPool(index, 1 << bits);
            }
            return pool == null ? null : new Piece(this, pool.take());
        } catch (IllegalStateException e) {
            // The last channel has been closed meanwhile.
            return null;
        }
    }

    private synchronized @Nullable RegisteredPool addPool(int index, int size) throws RdmaException {
        RegisteredPool pool = pools.get(index);
        if (pool == null && !ended) {
            pool = RegisteredPool.create(domain, size);
            pools.set(index, pool);
        }
        return pool;
    }

    /** Deregisters the memory, that of buffers in use when they are freed. */
    void end() {
        ended = true;
        closePools();
    }

    private synchronized void closePools() {
        for (int i = 0; i < pools.length(); i++) {
            RegisteredPool pool = pools.get(i);
            if (pool != null && pool.isOpen() && pool.taken() == 0) {
                try {
                    pool.close();
                } catch (RdmaException | IllegalStateException e) {
                    LOG.debug("{} is still in use", pool, e);
                }
            }
        }
    }
}
