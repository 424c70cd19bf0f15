// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is to read, or to write. A thread that copies data holds the lock; one whose operation waits keeps its
 * turn without the lock, so that others who do not want to wait find that out.
 */
final class Turn {
    private final MixedThreadsLock lock = new MixedThreadsLock();
    private final Condition over = lock.newCondition();
    // guarded by the lock
    private @Nullable Thread owner;
    private int waiting;

    /** Takes the lock, whoever's turn it is. No thread copies data meanwhile. */
    void lock() {
        lock.lock();
    }

    /** Like {@link #lock}, for a try statement. */
    MixedThreadsLock hold() {
        return lock.hold();
    }

    /** Returns whether no other thread holds the lock now. */
    boolean isIdle() {
        if (!lock.tryLock()) {
            return false;
        }
        lock.unlock();
        return true;
    }

    void unlock() {
        lock.unlock();
    }

    /** Returns whether another thread has kept its turn. Called with the lock held. */
    boolean isOfAnother() {
        return owner != null && owner != Thread.currentThread();
    }

    /** Waits for the turn; returns false if the deadline has passed. Called with the lock held. */
    boolean await(Deadline deadline) throws InterruptedException {
        waiting++;
        try {
            while (isOfAnother()) {
                if (deadline.hasPassed()) {
                    return false;
                }
                over.await(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
            }
            return true;
        } finally {
            waiting--;
        }
    }

    /** Keeps the turn when the lock is given up. Called with the lock held. */
    void keep() {
        owner = Thread.currentThread();
    }

    /** Ends the turn. Takes the lock. */
    void end() {
        try (var _ = lock.hold()) {
            owner = null;
            if (waiting > 0) {
                over.signal();
            }
        }
    }
}
