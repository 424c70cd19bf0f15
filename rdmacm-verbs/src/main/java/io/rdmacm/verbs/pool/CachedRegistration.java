// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.LeakDetector;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.RemoteMemory;

/**
 * The use of a region of a {@link RegistrationCache}, from {@link RegistrationCache#register} to {@link #close()}. Work
 * requests that use it must have completed by then. All methods may be called from any thread.
 *
 * <p>It cannot keep the arena of the memory open. If that is closed meanwhile, the device reads and writes the pages
 * that were registered, which nobody else sees any more, and the region is deregistered at the end of its use.
 */
public final class CachedRegistration implements AutoCloseable {
    private final RegistrationCache cache;
    private final RegistrationCache.Entry entry;
    private final long offset;
    private final long length;
    private final Lifetime life;

    CachedRegistration(RegistrationCache cache, RegistrationCache.Entry entry, MemorySegment memory, Lifetime life) {
        this.cache = cache;
        this.entry = entry;
        this.offset = memory.address() - entry.region().memory().address();
        this.length = memory.byteSize();
        this.life = life;
        String text = length + " bytes at " + offset + " of " + entry.region();
        life.describe(() -> text);
        LeakDetector.watch(this, life);
    }

    /**
     * Returns the region that the memory is part of, for work requests. It belongs to the cache: it cannot be closed
     * otherwise, and must not be reregistered.
     *
     * @return the region
     * @throws IllegalStateException if this registration is closed
     */
    public MemoryRegion region() {
        life.ensureOpen();
        return entry.region();
    }

    /** {@return where the memory begins in {@link #region()}, in bytes} */
    public long offset() {
        return offset;
    }

    /** {@return the length of the memory in bytes} */
    public long length() {
        return length;
    }

    /**
     * Returns what a peer needs to access the memory.
     *
     * @return the address, the key and the length; the key reaches all of {@link #region()}
     * @throws IllegalStateException if this registration is closed
     */
    public RemoteMemory remoteMemory() {
        return region().remoteMemory().slice(offset, length);
    }

    /** {@return whether this registration is open} Never throws. */
    public boolean isOpen() {
        return life.isOpen();
    }

    /** Ends the use; the cache may keep the region. Has no effect when called again. */
    @Override
    public void close() {
        try {
            life.close(() -> { }, () -> cache.release(entry));
        } catch (RdmaException e) {
            throw new AssertionError("nothing is called that could fail", e);
        }
    }

    @Override
    public String toString() {
        return life + (isOpen() ? "" : " (closed)");
    }
}
