// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for platform and virtual threads. {@link #unlock()} wakes only the first thread that waits. If that is a
 * virtual one and all carriers are busy, the lock stays free, while a platform thread behind it would sleep on. So a
 * platform thread does not rely on being woken, and a signal of a condition wakes all that wait for it.
 *
 * <p>Where the stack ends in a lock of the JDK, it is taken before the error is thrown, and nobody gives it up. This
 * one gives it up itself. An unlock needs no more stack than the lock did, unless only the lock has been compiled by
 * then: where the stack ends in such an unlock, the lock stays held. To rule that out, each lock() would have to call
 * as deep.
 */
public final class MixedThreadsLock extends ReentrantLock implements AutoCloseable {
    private static final long serialVersionUID = 1L;
    private static final long LONGEST_SLEEP = TimeUnit.MILLISECONDS.toNanos(100);

    static {
        // A class that was not verified, as one of an archive, does not know it yet, and where the stack ends there is
        // no room to ask the class loader for what is caught.
        Objects.requireNonNull(StackOverflowError.class);
    }

    /** Takes the lock for a try statement, at the end of which it is given up. */
    public MixedThreadsLock hold() {
        lock();
        return this;
    }

    /** Like {@link #hold}, unless this thread is interrupted. */
    public MixedThreadsLock holdInterruptibly() throws InterruptedException {
        lockInterruptibly();
        return this;
    }

    /** Gives up the lock: what a try statement calls in the end. */
    @Override
    public void close() {
        unlock();
    }

    /**
     * Gives up the lock for a call of the program, after which it is to be {@linkplain #retake taken again}.
     *
     * @return how often this thread held it
     */
    public int release() {
        int holds = getHoldCount();
        unlock();
        return holds;
    }

    /**
     * Takes the lock again after {@link #release}. Where the stack has ended in an unlock that the call led to, this
     * thread still holds the lock once more than it should: that is given up.
     */
    public void retake(int holds) {
        lock();
        while (getHoldCount() > holds) {
            unlock();
        }
    }

    @Override
    public boolean tryLock() {
        int holds = getHoldCount();
        try {
            return super.tryLock();
        } catch (StackOverflowError e) {
            if (getHoldCount() > holds) {
                unlock();
            }
            throw e;
        }
    }

    @Override
    public void lock() {
        int holds = getHoldCount();
        try {
            take();
        } catch (StackOverflowError e) {
            if (getHoldCount() > holds) {
                unlock();
            }
            throw e;
        }
    }

    private void take() {
        if (super.tryLock()) {
            return;
        }
        if (Thread.currentThread().isVirtual()) {
            super.lock();
            return;
        }
        boolean interrupted = false;
        boolean locked = false;
        while (!locked) {
            try {
                locked = tryLock(1, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        int holds = getHoldCount();
        try {
            takeInterruptibly();
        } catch (StackOverflowError e) {
            if (getHoldCount() > holds) {
                unlock();
            }
            throw e;
        }
    }

    private void takeInterruptibly() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (super.tryLock()) {
            return;
        }
        if (Thread.currentThread().isVirtual()) {
            super.lockInterruptibly();
            return;
        }
        boolean locked = false;
        while (!locked) {
            locked = tryLock(1, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public Condition newCondition() {
        return new AnyChange();
    }

    /** A condition whose threads wait outside the queue of the lock, and take the lock as any other thread does. */
    private final class AnyChange implements Condition {
        // guarded by the lock
        private final List<Thread> waiting = new ArrayList<>();

        /** Waits for a signal, an interrupt, or some time; may return earlier. */
        private void sleep(long nanos) {
            Thread me = Thread.currentThread();
            int holds = getHoldCount();
            waiting.add(me);
            for (int i = 0; i < holds; i++) {
                unlock();
            }
            LockSupport.parkNanos(this, nanos);
            for (int i = 0; i < holds; i++) {
                lock();
            }
            waiting.remove(me);
        }

        @Override
        public long awaitNanos(long nanos) throws InterruptedException {
            long end = System.nanoTime() + nanos;
            if (!Thread.currentThread().isInterrupted()) {
                sleep(nanos);
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            return end - System.nanoTime();
        }

        @Override
        public boolean await(long time, TimeUnit unit) throws InterruptedException {
            return awaitNanos(unit.toNanos(time)) > 0;
        }

        @Override
        public void await() throws InterruptedException {
            awaitNanos(Long.MAX_VALUE);
        }

        @Override
        public boolean awaitUntil(Date deadline) throws InterruptedException {
            return await(deadline.getTime() - System.currentTimeMillis(), TimeUnit.MILLISECONDS);
        }

        @Override
        public void awaitUninterruptibly() {
            boolean interrupted = Thread.interrupted();
            // Whoever should signal may have had no stack left for that.
            sleep(LONGEST_SLEEP);
            interrupted |= Thread.interrupted();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void signal() {
            signalAll();
        }

        @Override
        public void signalAll() {
            waiting.forEach(LockSupport::unpark);
        }
    }
}
