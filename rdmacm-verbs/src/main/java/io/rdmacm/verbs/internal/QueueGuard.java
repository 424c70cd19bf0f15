// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets threads into the native side of one queue, one at a time, and lets a close wait until nobody is inside. Made so
 * that the usual case, one thread that posts or polls, costs two loads and two stores and no fence.
 *
 * <p>The queue is claimed by the thread that uses it: as long as the claim is its own, it marks itself inside with an
 * opaque store, looks at the claim once more, and goes in. Whoever wants the queue instead (another thread, or the
 * closer) takes the claim away, runs a barrier on all threads, and waits for the mark to go: after the barrier either
 * the mark is seen, or the marking thread sees that its claim is gone. A queue that keeps changing hands ends up
 * shared, from then on and for good under a lock.
 *
 * <p>This leans on HotSpot keeping opaque accesses of one thread in program order. A queue that is posted to extends
 * it, and it is itself the claim of its first thread: what a post touches lies together, which is worth as much as the
 * rest of it costs, and more where there are many queues.
 */
public class QueueGuard extends QueueClaim {
    private static final VarHandle CLAIM;
    private static final VarHandle INSIDE;
    private static final QueueClaim NOBODY = new QueueClaim();
    private static final int HANDOVERS_BEFORE_SHARING = 32;
    // some microseconds
    private static final int SPINS_BEFORE_YIELDING = 100;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            CLAIM = lookup.findVarHandle(QueueGuard.class, "claim", QueueClaim.class);
            INSIDE = lookup.findVarHandle(QueueClaim.class, "inside", int.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final String name;
    private final ReentrantLock lock = new ReentrantLock();
    @SuppressWarnings("FieldMayBeFinal")
    private QueueClaim claim = NOBODY;
    // written with the lock held
    private volatile boolean closed;
    // guarded by lock
    private boolean given;
    private int handovers;
    private long lastThread = -1;

    /**
     * A guard.
     *
     * @param name what is guarded, for the exception after close
     */
    public QueueGuard(String name) {
        this.name = name;
    }

    /**
     * Goes in.
     *
     * @return to be given to {@link #leave(QueueClaim)}
     * @throws IllegalStateException when closed
     */
    public final QueueClaim enter() {
        QueueClaim mine = (QueueClaim) CLAIM.getOpaque(this);
        if (mine.thread == Thread.currentThread()) {
            INSIDE.setOpaque(mine, 1);
            Membarrier.light();
            if ((QueueClaim) CLAIM.getOpaque(this) == mine) {
                return mine;
            }
            INSIDE.setOpaque(mine, 0);
        }
        return enterSlowly();
    }

    /**
     * Goes in for a call that may call back into Java: what is called back cannot use or close the queue, for this
     * thread would wait for itself.
     *
     * @return to be given to {@link #leave(QueueClaim)}
     * @throws IllegalStateException when closed
     */
    public final QueueClaim enterAlone() {
        lock();
        boolean stay = false;
        try {
            requireOpen();
            revoke();
            stay = true;
            return null;
        } finally {
            if (!stay) {
                lock.unlock();
            }
        }
    }

    /**
     * Comes out.
     *
     * @param mine what {@link #enter()} or {@link #enterAlone()} gave
     */
    public final void leave(QueueClaim mine) {
        if (mine != null) {
            INSIDE.setRelease(mine, 0);
        } else {
            lock.unlock();
        }
    }

    /** Keeps everybody out, and returns when nobody is inside. */
    public final void close() {
        lock();
        try {
            closed = true;
            revoke();
        } finally {
            lock.unlock();
        }
    }

    /** Undoes {@link #close()}, for a destroy that failed. */
    public final void reopen() {
        lock();
        try {
            closed = false;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until whoever is inside now has come out. */
    public final void awaitQuiet() {
        lock();
        try {
            revoke();
        } finally {
            lock.unlock();
        }
    }

    /** Whether the queue changed hands so often that it is used under the lock. */
    public final boolean isShared() {
        lock();
        try {
            return handovers > HANDOVERS_BEFORE_SHARING;
        } finally {
            lock.unlock();
        }
    }

    private QueueClaim enterSlowly() {
        // Whoever is refused need not wait for the closer.
        requireOpen();
        lock();
        boolean stay = false;
        try {
            requireOpen();
            revoke();
            if (handovers > HANDOVERS_BEFORE_SHARING) {
                // in, with the lock held until leave
                stay = true;
                return null;
            }
            Thread me = Thread.currentThread();
            if (lastThread != me.threadId()) {
                lastThread = me.threadId();
                handovers++;
            }
            QueueClaim mine = given ? new QueueClaim() : this;
            given = true;
            mine.thread = me;
            // Marked before it can be seen, so that nobody takes it away before this thread is out again.
            mine.inside = 1;
            CLAIM.setRelease(this, mine);
            return mine;
        } finally {
            if (!stay) {
                lock.unlock();
            }
        }
    }

    /** Not once more by the thread that has it: it is inside then. */
    private void lock() {
        lock.lock();
        if (lock.getHoldCount() > 1) {
            lock.unlock();
            throw new IllegalStateException(name + " is in use by this very thread");
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(name + " is closed");
        }
    }

    /** Takes the claim away; afterwards nobody is inside. With the lock held. */
    private void revoke() {
        QueueClaim taken = claim;
        if (taken == NOBODY) {
            return;
        }
        CLAIM.setOpaque(this, NOBODY);
        Membarrier.heavy();
        for (int spins = 0; (int) INSIDE.getAcquire(taken) != 0; spins++) {
            // one post or poll: too short to sleep for, but its thread may have to be scheduled first
            if (spins < SPINS_BEFORE_YIELDING) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
        taken.thread = null;
    }
}
