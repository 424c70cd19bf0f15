// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.verbs.error.RdmaException;

/**
 * A biased lock: admits threads to the native side of one queue, one at a time, and lets a close wait until nobody is
 * inside. In the usual case, where one thread posts or polls, it costs two loads and two stores, and no fence.
 *
 * <p>The lock is biased towards the thread that uses it. While the bias is its own, that thread marks itself inside
 * with an opaque store, reads the bias once more, and enters. Whoever else wants the queue (another thread, or a close)
 * revokes the bias, runs a barrier on all threads, and waits until the mark is cleared: after the barrier either the
 * mark is visible, or the marking thread sees that its bias is gone. A queue that changes hands too often is used under
 * an ordinary lock from then on.
 *
 * <p>This relies on HotSpot keeping the opaque accesses of one thread in program order. The queues that are posted to
 * extend this class, and it is itself the bias of its first thread: what a post touches then lies together in memory,
 * which saves as much as the rest costs, and more with many queues.
 */
public class BiasedLock extends Bias {
    private static final VarHandle BIAS;
    private static final VarHandle INSIDE;
    private static final Bias NOBODY = new Bias();
    private static final int HANDOVERS_BEFORE_SHARING = 32;
    // some microseconds
    private static final int SPINS_BEFORE_YIELDING = 100;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            BIAS = lookup.findVarHandle(BiasedLock.class, "bias", Bias.class);
            INSIDE = lookup.findVarHandle(Bias.class, "inside", int.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final String name;
    private final ReentrantLock lock = new ReentrantLock();
    @SuppressWarnings("FieldMayBeFinal")
    private Bias bias = NOBODY;
    // written with the lock held
    private volatile boolean closed;
    // guarded by lock
    private boolean ownBiasUsed;
    private int handovers;
    private long lastThread = -1;

    /**
     * A lock.
     *
     * @param name of the class of the queue, for messages
     */
    public BiasedLock(String name) {
        this.name = name;
    }

    /**
     * Enters.
     *
     * @return to be passed to {@link #leave(Bias)}
     * @throws IllegalStateException when closed
     */
    public final Bias enter() {
        Bias mine = (Bias) BIAS.getOpaque(this);
        if (mine.thread == Thread.currentThread()) {
            INSIDE.setOpaque(mine, 1);
            Membarrier.light();
            if ((Bias) BIAS.getOpaque(this) == mine) {
                return mine;
            }
            INSIDE.setOpaque(mine, 0);
        }
        return enterSlowly();
    }

    /**
     * Enters for a call that may call back into Java. A callback that uses or closes the queue is refused: its thread
     * would wait for itself.
     *
     * @return to be passed to {@link #leave(Bias)}
     * @throws IllegalStateException when closed
     */
    public final Bias enterAlone() {
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
     * Leaves.
     *
     * @param mine what {@link #enter()} or {@link #enterAlone()} returned
     */
    public final void leave(Bias mine) {
        if (mine != null) {
            INSIDE.setRelease(mine, 0);
        } else {
            lock.unlock();
        }
    }

    /** Refuses all threads from here on, and returns when nobody is inside. */
    public final void close() {
        lock();
        try {
            closed = true;
            revoke();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Closes the lock and destroys the queue. If that fails, the lock is open again.
     *
     * @param destroyer destroys the queue; called when nobody is inside
     */
    public final void closeAndDestroy(Lifetime.Destroyer destroyer) throws RdmaException {
        close();
        boolean destroyed = false;
        try {
            destroyer.destroy();
            destroyed = true;
        } finally {
            if (!destroyed) {
                reopen();
            }
        }
    }

    /** Undoes {@link #close()}, when the queue could not be destroyed. */
    public final void reopen() {
        lock();
        try {
            closed = false;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the thread that is inside now, if any, has left. */
    public final void awaitQuiet() {
        lock();
        try {
            revoke();
        } finally {
            lock.unlock();
        }
    }

    /** Whether the queue has changed hands so often that it is used under the ordinary lock. */
    public final boolean isShared() {
        lock();
        try {
            return handovers > HANDOVERS_BEFORE_SHARING;
        } finally {
            lock.unlock();
        }
    }

    private Bias enterSlowly() {
        // so that a refused thread need not wait for the closer
        requireOpen();
        lock();
        boolean stay = false;
        try {
            requireOpen();
            revoke();
            if (handovers > HANDOVERS_BEFORE_SHARING) {
                // inside, with the lock held until leave()
                stay = true;
                return null;
            }
            Thread me = Thread.currentThread();
            if (lastThread != me.threadId()) {
                lastThread = me.threadId();
                handovers++;
            }
            Bias mine = ownBiasUsed ? new Bias() : this;
            ownBiasUsed = true;
            mine.thread = me;
            // Marked before others can see it, so that nobody revokes it before this thread has left.
            mine.inside = 1;
            BIAS.setRelease(this, mine);
            return mine;
        } finally {
            if (!stay) {
                lock.unlock();
            }
        }
    }

    /** Locks, unless this thread holds the lock already: then it is inside. */
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

    /** Revokes the bias; afterwards nobody is inside. With the lock held. */
    private void revoke() {
        Bias revoked = bias;
        if (revoked == NOBODY) {
            return;
        }
        BIAS.setOpaque(this, NOBODY);
        Membarrier.heavy();
        for (int spins = 0; (int) INSIDE.getAcquire(revoked) != 0; spins++) {
            // one post or poll: too short to sleep for, but its thread may have to be scheduled first
            if (spins < SPINS_BEFORE_YIELDING) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
        revoked.thread = null;
    }
}
