// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/**
 * The one way to wait for completions: poll, arm, poll again, sleep.
 *
 * <p>A completion that arrives between the first poll and the arming raises no event, but the second poll finds it. One
 * that arrives later raises the event that ends the sleep. So none is missed, and a wait that ends without completions
 * loses none either: they stay in the queue.
 *
 * <p>Nothing is allocated when completions are there already.
 */
public final class CompletionWait {
    private final Object subject;
    private final ReentrantLock lock;
    private final Source source;

    /**
     * A way to wait.
     *
     * @param subject what is waited for; messages name it
     * @param lock held by the thread that takes completions. An event wakes one thread only, so a second one could wait
     *        for an event that the first has consumed.
     * @param source what raises the events
     */
    public CompletionWait(Object subject, ReentrantLock lock, Source source) {
        this.subject = subject;
        this.lock = lock;
        this.source = source;
    }

    /** What raises an event when a completion arrives. */
    public interface Source {
        /** Asks for an event when the next completion arrives. */
        void arm() throws RdmaException;

        /**
         * Sleeps until a completion may have arrived, or something else has happened. Called with the lock held, when
         * the queue is armed and was found empty after that.
         *
         * @return false when the time has run out
         * @throws RdmaException what ends the wait, such as the end of the connection or a close by another thread
         * @throws InterruptedException when this thread was interrupted
         */
        boolean sleep(Deadline deadline) throws RdmaException, InterruptedException;
    }

    /**
     * Takes completions without waiting. Should not capture anything, so that it is a constant which the compiler can
     * inline.
     *
     * @param <Q> what they are taken from
     * @param <B> what they are put into
     */
    @FunctionalInterface
    public interface Poll<Q, B> {
        /** Returns how many were taken. Called with the lock held. */
        int poll(Q queue, B buffer) throws RdmaException;
    }

    /**
     * Takes completions, and waits when there are none. Threads take turns.
     *
     * @param <Q> what they are taken from
     * @param <B> what they are put into
     * @param function the C function, for messages
     * @param poll takes them
     * @param queue passed to poll
     * @param buffer passed to poll
     * @param timeout how long to wait at most, the wait for the turn included
     * @return how many were taken, at least 1
     * @throws RdmaTimeoutException when none arrived in time
     * @throws InterruptedException when this thread was interrupted, even if completions are there
     */
    public <Q, B> int take(String function, Poll<Q, B> poll, Q queue, B buffer, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        // Made only when there is something to wait for: it allocates and reads the clock.
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
     * One round of a wait, with the lock held: takes completions, or else sleeps until something has happened. For
     * callers who wait for more than completions, and look at the rest between the rounds.
     *
     * @param <Q> what they are taken from
     * @param <B> what they are put into
     * @param function the C function, for messages
     * @param poll takes them
     * @param queue passed to poll
     * @param buffer passed to poll
     * @param deadline until when to sleep at most
     * @return how many were taken, 0 when it slept
     * @throws RdmaTimeoutException when the time has run out
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
            throw new RdmaTimeoutException(function, function + ": another thread was waiting for completions of "
                    + subject + " all the time");
        }
        return deadline;
    }
}
