// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/**
 * Waits for completions, always in the same way: poll, arm, poll again, sleep.
 *
 * <p>A completion that arrives between the first poll and the arming raises no event, but the second poll finds it. One
 * that arrives later raises the event that ends the sleep. So no completion is missed, and none is lost if a wait ends
 * without completions: they stay in the queue.
 *
 * <p>Nothing is allocated if completions are available immediately.
 */
public final class CompletionWait {
    private final Object subject;
    private final ReentrantLock lock;
    private final Source source;

    /**
     * Creates a way to wait for the completions of a queue.
     *
     * @param subject the object that is waited for, for messages
     * @param lock a lock that is held by the thread that takes completions. An event wakes only one thread, so a second
     *        one could wait for an event that the first has consumed.
     * @param source the source of the events
     */
    public CompletionWait(Object subject, ReentrantLock lock, Source source) {
        this.subject = subject;
        this.lock = lock;
        this.source = source;
    }

    /** Raises an event when a completion arrives. */
    public interface Source {
        /** Requests an event for the next completion. */
        void arm() throws RdmaException;

        /**
         * Sleeps until a completion may have arrived, or something else has happened. Called with the lock held, after
         * the queue was armed and then found empty.
         *
         * @return false if the deadline has passed
         * @throws RdmaException to end the wait, because the connection has ended, for instance
         * @throws InterruptedException if this thread was interrupted
         */
        boolean sleep(Deadline deadline) throws RdmaException, InterruptedException;
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
        /** Takes completions and returns their number. Called with the lock held. */
        int poll(Q queue, B buffer) throws RdmaException;
    }

    /**
     * Takes completions; waits if there are none. Only one thread at a time waits for completions, the others wait for
     * their turn.
     *
     * @param <Q> the type of the queue
     * @param <B> the type of the buffer
     * @param function the C function, for messages
     * @param poll takes completions
     * @param queue the queue to take them from
     * @param buffer the buffer to put them into
     * @param timeout the maximum time to wait, including the time until it is this thread's turn
     * @return the number of completions, at least 1
     * @throws RdmaTimeoutException if none arrived in time
     * @throws InterruptedException if this thread was interrupted, even if completions are available
     */
    public <Q, B> int take(String function, Poll<Q, B> poll, Q queue, B buffer, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        // Only created if the thread has to wait, because that allocates and reads the clock.
        Deadline deadline = lock.tryLock() ? null : awaitTurn(function, timeout);
        try {
            int taken = poll.poll(queue, buffer);
            if (taken == 0) {
                deadline = deadline == null ? Deadline.after(timeout) : deadline;
                taken = armOrSleep(function, poll, queue, buffer, deadline);
                while (taken == 0) {
                    taken = takeOrSleep(function, poll, queue, buffer, deadline);
                }
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs one round of a wait: takes completions, or else sleeps until something has happened. Called with the lock
     * held, by callers that wait for more than completions and check for the rest between rounds.
     *
     * @param <Q> the type of the queue
     * @param <B> the type of the buffer
     * @param function the C function, for messages
     * @param poll takes completions
     * @param queue the queue to take them from
     * @param buffer the buffer to put them into
     * @param deadline when to stop sleeping
     * @return the number of completions; 0 if the thread slept
     * @throws RdmaTimeoutException if the deadline has passed
     */
    public <Q, B> int takeOrSleep(String function, Poll<Q, B> poll, Q queue, B buffer, Deadline deadline)
            throws RdmaException, InterruptedException {
        int taken = poll.poll(queue, buffer);
        return taken > 0 ? taken : armOrSleep(function, poll, queue, buffer, deadline);
    }

    private <Q, B> int armOrSleep(String function, Poll<Q, B> poll, Q queue, B buffer, Deadline deadline)
            throws RdmaException, InterruptedException {
        source.arm();
        int taken = poll.poll(queue, buffer);
        if (taken == 0 && !source.sleep(deadline)) {
            throw new RdmaTimeoutException(function, function + ": nothing completed in time on " + subject);
        }
        return taken;
    }

    private Deadline awaitTurn(String function, Duration timeout) throws RdmaTimeoutException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        if (!lock.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
            throw new RdmaTimeoutException(function, function + ": timed out while another thread was waiting for"
                    + " completions of " + subject);
        }
        return deadline;
    }
}
