// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import io.rdmacm.verbs.internal.life.BiasedLock;

/**
 * The posts that use the memory regions, windows and address handles of a protection domain. A post with inline data
 * makes the processor read the memory of a region, so a region waits for the posts in progress before its memory is
 * freed. A parent domain shares this object with the domain below it, because its queues use the regions of that one.
 */
final class DomainPosts {
    // may be posted to right now
    private final List<BiasedLock> queues = new CopyOnWriteArrayList<>();
    private final AtomicLong changes = new AtomicLong();

    void add(BiasedLock queue) {
        queues.add(queue);
    }

    void remove(BiasedLock queue) {
        queues.remove(queue);
    }

    /**
     * Returns how often an object of the domain was closed or changed. What was found to be usable remains so as long
     * as this number does, see {@link #await}.
     */
    long changes() {
        return changes.getPlain();
    }

    /**
     * Waits until all posts that were in progress at the call have returned. Later ones see what the caller has
     * changed, and that it has changed something.
     */
    void await() {
        changes.incrementAndGet();
        queues.forEach(BiasedLock::awaitQuiet);
    }
}
