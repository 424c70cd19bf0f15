// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;

/**
 * A biased lock: admits one thread at a time to the native side of a queue, and lets a close wait until no thread is
 * inside. In the usual case, where a single thread posts or polls, it costs two loads and two stores, and no fence.
 *
 * <p>The lock is biased towards the thread that uses it. While that thread owns a bias, it marks itself as inside
 * with an opaque store, reads the bias again, and enters. Anyone else who wants the queue (another thread, or a close)
 * revokes the bias, executes a memory barrier on all threads, and waits until the mark is cleared: after the barrier,
 * either the mark is visible, or the marking thread sees that its bias is gone. A queue that changes hands too often is
 * protected by an ordinary lock from then on.
 *
 * <p>The lock itself serves as the bias of its first thread, which therefore reads nothing but this object.
 *
 * <h2>Why this holds on weakly ordered processors</h2>
 * The Java memory model orders opaque accesses of one variable only, HotSpot emits those of one thread in program
 * order, and an ARM processor may reorder any two of them. Three things have to be shown.
 * <ol>
 * <li><b>Either the thread sees that it has lost its bias, or the revoker sees its mark.</b> The thread stores
 * {@code inside} and then loads {@code thread}; the revoker stores {@code thread} and then loads {@code inside}. The
 * revoker calls membarrier(2) in between, which returns after each running thread of the process has executed a full
 * barrier between two of its instructions; a thread that is not running executes one when it is scheduled. If that
 * point of the thread comes before its load of {@code thread}, the load sees the revocation. Otherwise it comes after
 * its store to {@code inside}, which the revoker then sees. Nothing in this depends on the processor. Without
 * membarrier, both sides execute a full fence, which gives the same alternative.</li>
 * <li><b>What is done inside is visible to the next owner.</b> {@link #leave(Bias)} clears the mark with a release
 * store, which comes after all accesses of the section, those of C included. The revoker reads it with an acquire load
 * and hands the queue on under {@code lock}.</li>
 * <li><b>What is done inside sees what the owner before did.</b> A thread gets a bias under {@code lock}, after it has
 * waited for the owner before. While it keeps that bias, nobody else has been inside: a revoker waits until the mark is
 * cleared, and a load of the section that the processor executes early still comes after that barrier of
 * membarrier(2), or the mark is seen and the load is complete before it is cleared. Stores of the section do not take
 * effect before the branch on {@code thread} is decided.</li>
 * </ol>
 */
public class BiasedLock extends Bias {
    private static final VarHandle BIAS;
    private static final VarHandle THREAD;
    private static final VarHandle INSIDE;
    private static final Bias NOBODY = new Bias();
    private static final int HANDOVERS_BEFORE_SHARING = 32;
    // a few microseconds
    private static final int SPINS_BEFORE_YIELDING = 100;
    private static final long PAUSE = TimeUnit.MICROSECONDS.toNanos(50);

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            BIAS = lookup.findVarHandle(BiasedLock.class, "bias", Bias.class);
            THREAD = lookup.findVarHandle(Bias.class, "thread", Thread.class);
            INSIDE = lookup.findVarHandle(Bias.class, "inside", int.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final String name;
    private final MixedThreadsLock lock = new MixedThreadsLock();
    @SuppressWarnings("FieldMayBeFinal")
    private Bias bias = NOBODY;
    // Why threads are refused; null while the queue is open. Written with the lock held.
    private volatile String refusal;
    // guarded by lock
    private boolean ownBiasUsed;
    private int handovers;
    private long lastThread = -1;
    // The bias that was revoked last; its thread may still be inside. Written with the lock held.
    private volatile Bias revoked = NOBODY;

    /**
     * Creates an open lock.
     *
     * @param name the name of the class of the queue, for messages
     */
    public BiasedLock(String name) {
        this.name = name;
    }

    /**
     * Enters; waits while another thread is inside.
     *
     * @return a token for {@link #leave(Bias)}
     * @throws IllegalStateException if the queue is closed
     */
    public final Bias enter() {
        Thread me = Thread.currentThread();
        if (mark(this, me)) {
            return this;
        }
        Bias mine = (Bias) BIAS.getOpaque(this);
        return mine != this && mark(mine, me) ? mine : enterSlowly();
    }

    /**
     * Enters if this thread was the first one and still has its bias: there is no token to keep during the section. To
     * be left with {@link #leaveAsFirst}.
     *
     * @return false if the thread has to call {@link #enter()}
     */
    public final boolean enterAsFirst() {
        return mark(this, Thread.currentThread());
    }

    /** Leaves, after {@link #enterAsFirst} has returned true. */
    public final void leaveAsFirst() {
        INSIDE.setRelease(this, 0);
    }

    /** Marks a thread as inside, if it owns the bias. */
    private static boolean mark(Bias bias, Thread thread) {
        if ((Thread) THREAD.getOpaque(bias) == thread) {
            INSIDE.setOpaque(bias, 1);
            Membarrier.light();
            if ((Thread) THREAD.getOpaque(bias) == thread) {
                return true;
            }
            INSIDE.setOpaque(bias, 0);
        }
        return false;
    }

    /**
     * Enters for a call that may call back into Java. If the callback uses or closes the queue, it gets an
     * IllegalStateException, because the thread would wait for itself.
     *
     * @return a token for {@link #leave(Bias)}
     * @throws IllegalStateException if the queue is closed
     */
    public final Bias enterAlone() {
        lockAlone();
        return null;
    }

    /**
     * Like {@link #enterAlone}, unless another thread is inside: then it returns false.
     *
     * @throws IllegalStateException if the queue is closed
     */
    public final boolean tryEnterAlone() {
        boolean alone = false;
        lock();
        try {
            requireOpen();
            alone = isOutside(revoke());
            return alone;
        } finally {
            if (!alone) {
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

    /** Closes the lock: from now on threads are refused. Returns when no thread is inside any more. */
    public final void close() {
        close(name + " is closed");
    }

    /**
     * Like {@link #close()}, for a queue that somebody else uses from now on.
     *
     * @param reason what threads that are refused are told
     */
    public final void close(String reason) {
        Bias last;
        lock();
        String before = refusal;
        refusal = reason;
        boolean done = false;
        try {
            last = revoke();
            done = true;
        } finally {
            if (!done) {
                refusal = before;
            }
            lock.unlock();
        }
        awaitOutside(last);
    }

    /**
     * Closes the lock and destroys the queue. If that fails, the lock is as it was before.
     *
     * @param destroyer destroys the queue; called when no thread is inside
     */
    public final void closeAndDestroy(Lifetime.Destroyer destroyer) throws RdmaException {
        String before = refusal;
        close();
        boolean destroyed = false;
        try {
            destroyer.destroy();
            destroyed = true;
        } finally {
            if (!destroyed) {
                reopen(before);
            }
        }
    }

    /** Undoes a close, if the queue could not be destroyed. */
    final void reopen(String before) {
        lock();
        try {
            refusal = before;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the thread that is currently inside, if any, has left. */
    public final void awaitQuiet() {
        Bias last;
        lock();
        try {
            last = revoke();
        } finally {
            lock.unlock();
        }
        awaitOutside(last);
    }

    /**
     * Returns whether no thread is inside that was there before the last {@link Membarrier#heavy}. A thread that is has
     * the bias; or nobody has one, and it had the one that was revoked last, or holds the lock. The barrier has made
     * that visible.
     */
    final boolean isQuiet() {
        Bias owner = (Bias) BIAS.getAcquire(this);
        return isOutside(owner) && (owner != NOBODY || isOutside(revoked) && !lock.isLocked());
    }

    /** Returns whether a thread can enter without a lock. */
    final boolean isBiasedTo(Thread thread) {
        return (Thread) THREAD.getOpaque((Bias) BIAS.getAcquire(this)) == thread;
    }

    /** Returns whether the queue has changed hands so often that it is protected by the ordinary lock now. */
    public final boolean isShared() {
        lock();
        try {
            return handovers > HANDOVERS_BEFORE_SHARING;
        } finally {
            lock.unlock();
        }
    }

    private Bias enterSlowly() {
        // Checked before locking too, so that a refused thread does not have to wait for the closer.
        requireOpen();
        lockAlone();
        boolean stay = false;
        try {
            if (handovers > HANDOVERS_BEFORE_SHARING) {
                // Inside: the lock is held until leave().
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
            // Marked before other threads can see the bias, so that a revoker waits until this thread has left.
            mine.inside = 1;
            BIAS.setRelease(this, mine);
            return mine;
        } finally {
            if (!stay) {
                lock.unlock();
            }
        }
    }

    /** Locks, when no thread is inside; throws IllegalStateException as {@link #lock()}, and if the queue is closed. */
    private void lockAlone() {
        while (!tryEnterAlone()) {
            awaitOutside(revoked);
        }
    }

    /** Locks; throws IllegalStateException if this thread holds the lock already, which means that it is inside. */
    private void lock() {
        lock.lock();
        if (lock.getHoldCount() > 1) {
            lock.unlock();
            throw new IllegalStateException(name + " is already in use by this thread");
        }
    }

    private void requireOpen() {
        String reason = refusal;
        if (reason != null) {
            throw new IllegalStateException(reason);
        }
    }

    /**
     * Revokes the bias. Called with the lock held. If it fails half way, the next call begins again.
     *
     * @return the bias that was revoked last: no thread is inside once its own is outside
     */
    private Bias revoke() {
        Bias owner = bias;
        if (owner != NOBODY) {
            revoked = owner;
            THREAD.setOpaque(owner, null);
            Membarrier.heavy();
            BIAS.setOpaque(this, NOBODY);
        }
        return revoked;
    }

    private static boolean isOutside(Bias revoked) {
        return (int) INSIDE.getAcquire(revoked) == 0;
    }

    /**
     * Waits until the thread of a revoked bias is outside. Called without the lock: a virtual thread, which gives up
     * its carrier meanwhile, may not run again for long.
     */
    private static void awaitOutside(Bias revoked) {
        boolean virtual = Thread.currentThread().isVirtual();
        boolean interrupted = false;
        for (int spins = 0; !isOutside(revoked); spins++) {
            // A post or a poll is too short to sleep for, but its thread may not be running at the moment.
            if (spins < SPINS_BEFORE_YIELDING) {
                Thread.onSpinWait();
            } else if (!virtual) {
                Thread.yield();
            } else {
                // After a mere yield, the carrier may resume this thread for ever, and never the one that is inside.
                interrupted |= Thread.interrupted();
                LockSupport.parkNanos(PAUSE);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
