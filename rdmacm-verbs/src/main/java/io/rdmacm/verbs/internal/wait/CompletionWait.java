// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.time.Duration;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/**
 * How several threads {@link Wait} for the completions of one queue, each with a buffer of its own: poll, arm, poll
 * again, sleep. No completion is lost if a wait ends without: it stays in the queue.
 *
 * <p>Nothing is allocated if completions are available immediately.
 */
public final class CompletionWait {
    private final Object owner;
    private final MixedThreadsLock lock = new MixedThreadsLock();
    private final Wait wait;
    private final Wait.Subject subject = new Wait.Subject();

    /**
     * Creates a way to wait for the completions of a queue.
     *
     * @param owner the object that is waited for, for messages
     * @param source arms the queue; its own polls take nothing, because each thread takes its completions itself
     * @param platform where a platform thread sleeps
     * @param virtual where a virtual thread sleeps
     */
    public CompletionWait(Object owner, Wait.Source source, Sleeper platform, Sleeper virtual) {
        this.owner = owner;
        this.wait = new Wait(lock, source, platform, virtual);
    }

    /**
     * Takes completions without waiting. Should not capture anything, so that it is a constant that the JIT compiler
     * can inline.
     *
     * @param <Q> the type of the queue
     * @param <B> the type of the buffer
     */
    @FunctionalInterface
    public interface Poll<Q, B> {
        /**
         * Takes completions and returns their number. Called with the lock held.
         *
         * @throws RdmaException to end the wait, because the connection has ended for instance
         */
        int poll(Q queue, B buffer) throws RdmaException;
    }

    /** What one thread waits for. */
    private static final class Taking<Q, B> {
        private final Poll<Q, B> poll;
        private final Q queue;
        private final B buffer;
        private int taken;

        Taking(Poll<Q, B> poll, Q queue, B buffer) {
            this.poll = poll;
            this.queue = queue;
            this.buffer = buffer;
        }

        boolean isDone(Wait.Subject all, long none) throws RdmaException {
            taken = poll.poll(queue, buffer);
            return taken > 0;
        }
    }

    /**
     * Takes completions; waits if there are none.
     *
     * @param <Q> the type of the queue
     * @param <B> the type of the buffer
     * @param function the C function, for messages
     * @param poll takes completions
     * @param queue the queue to take them from
     * @param buffer the buffer to put them into
     * @param timeout the maximum time to wait
     * @return the number of completions, at least 1
     * @throws RdmaTimeoutException if none arrived in time
     * @throws InterruptedException if this thread was interrupted, even if completions are available
     */
    public <Q, B> int take(String function, Poll<Q, B> poll, Q queue, B buffer, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        try (var _ = lock.holdInterruptibly()) {
            int taken = poll.poll(queue, buffer);
            if (taken > 0) {
                return taken;
            }
            Taking<Q, B> taking = new Taking<>(poll, queue, buffer);
            // The program may have taken the event that an earlier wait has asked for.
            wait.doubtArming();
            if (!wait.awaitNext(subject, taking::isDone, timeout)) {
                throw new RdmaTimeoutException(function, function + ": nothing completed in time on " + owner);
            }
            return taking.taken;
        }
    }

    /**
     * Wakes the threads that wait, which poll again, one after the other. Does not take the lock: may be called by a
     * thread that holds a lock which the polls take.
     */
    public void wake() {
        wait.wakeSleepers();
    }

    /** Ends all sleeps, before the files are closed: what the threads wait for has ended. */
    public void endSleeps() throws RdmaException {
        lock.lock();
        try {
            wait.endSleeps();
        } finally {
            lock.unlock();
        }
    }

    /** Frees what threads have slept with. No platform thread may be waiting. */
    public void close() throws RdmaException {
        try (var _ = lock.hold()) {
            wait.close();
        }
    }
}
