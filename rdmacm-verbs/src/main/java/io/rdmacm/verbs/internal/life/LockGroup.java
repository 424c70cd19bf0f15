// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The locks of the queues that use the same objects, such as the memory regions of a protection domain. A post with
 * inline data makes the processor read the memory of a region, so a region waits for the posts in progress before its
 * memory is freed.
 */
public final class LockGroup {
    private final List<BiasedLock> locks = new CopyOnWriteArrayList<>();
    private final AtomicLong changes = new AtomicLong();

    /** Adds the lock of a queue. */
    public void add(BiasedLock lock) {
        locks.add(lock);
    }

    /** Removes the lock of a queue. */
    public void remove(BiasedLock lock) {
        locks.remove(lock);
    }

    /**
     * Returns how often an object was closed or changed. What was found to be usable remains so as long as this number
     * does, see {@link #await}. Called with one of the locks held.
     */
    public long changes() {
        return changes.getPlain();
    }

    /**
     * Waits until all threads that were inside one of the locks at the call have left. Later ones see what the caller
     * has changed, and that it has changed something. One barrier serves all locks: after it, either the mark of a
     * thread is visible here, or the thread sees the change. Only where a mark is, the bias is revoked.
     */
    public void await() {
        changes.incrementAndGet();
        Membarrier.heavy();
        for (BiasedLock lock : locks) {
            if (!lock.isQuiet()) {
                lock.awaitQuiet();
            }
        }
    }
}
