// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A source of events: a file descriptor, which is made non-blocking, shared by several threads. One of the waiting
 * threads (the leader) waits for the file, and the others wait for what it reads. An event that the reading thread does
 * not want is kept as pending for the thread that does.
 *
 * <p>The lock is held while an event is read, and while an object that events may refer to is destroyed, so that the C
 * library never handles an event of an object that is being destroyed.
 *
 * @param <E> the type of the events
 */
public final class EventSource<E> {
    private static final Logger LOG = LoggerFactory.getLogger(EventSource.class);
    private static final int READS_SKIPPED = 15;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<E> pending = new ArrayDeque<>();
    private final Reader<E> reader;
    private final Poller poller;
    // guarded by the lock
    private boolean polling;
    // guarded by the lock; after a read that found nothing, the next one will most likely find nothing either
    private int readsToSkip;
    // Guarded by the lock: the number of calls of wakeup(), and the number of those that have taken effect. A wait is
    // ended by a call that came after the end of the previous wait.
    private long wakeups;
    private long wakeupsTaken;

    /**
     * Creates a source for the events of an open file.
     *
     * @param fd the file descriptor, which is made non-blocking
     * @param reader reads an event from it
     */
    public EventSource(int fd, Reader<E> reader) throws RdmaException {
        Libc.makeNonBlocking(fd);
        this.poller = new Poller(fd);
        this.reader = reader;
    }

    /**
     * Reads an event.
     *
     * @param <E> the type of the events
     */
    @FunctionalInterface
    public interface Reader<E> {
        /** Reads the next event; returns null if there is none at the moment. Called with the lock held. */
        E read() throws RdmaException;
    }

    /**
     * Converts an event to what the caller receives.
     *
     * @param <E> the type of the events
     * @param <R> the type that the caller receives
     */
    @FunctionalInterface
    public interface Delivery<E, R> {
        /** Converts an event; returns null if the event has become void meanwhile. Called with the lock held. */
        R deliver(E event) throws RdmaException;
    }

    /** Decides whether a wait goes on. */
    @FunctionalInterface
    public interface Guard {
        /** Throws an exception to end the wait. Called with the lock held. */
        void check() throws RdmaException;
    }

    /** Returns the lock, to be held around native calls that destroy or change objects that events may refer to. */
    public ReentrantLock lock() {
        return lock;
    }

    /**
     * Waits for an event.
     *
     * @param <R> the type that the caller receives
     * @param wanted whether an event is wanted; called with the lock held, after each wake-up once for each event
     * @param guard throws an exception to end the wait; called before the wait and after each wake-up
     * @param deadline when to give up
     * @param delivery converts the event to what the caller receives
     * @return the result of the delivery; null if the deadline has passed
     */
    public <R> R next(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery)
            throws RdmaException, InterruptedException {
        return next(wanted, guard, deadline, delivery, true, false);
    }

    /**
     * Like {@link #next}, but the wait is also ended by {@link #wakeup()}.
     *
     * @param <R> the type that the caller receives
     * @param wanted whether an event is wanted
     * @param guard throws an exception to end the wait
     * @param deadline when to give up
     * @param delivery converts the event to what the caller receives
     * @return the result of the delivery; null if the deadline has passed or wakeup() was called
     */
    public <R> R nextOrWakeup(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery)
            throws RdmaException, InterruptedException {
        return next(wanted, guard, deadline, delivery, true, true);
    }

    /**
     * Like {@link #next}, for callers that do not expect an event to be there yet: waits before it reads, which saves a
     * system call.
     *
     * @param <R> the type that the caller receives
     * @param wanted whether an event is wanted
     * @param guard throws an exception to end the wait
     * @param deadline when to give up
     * @param delivery converts the event to what the caller receives
     * @return the result of the delivery; null if the deadline has passed
     */
    public <R> R awaitNext(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery)
            throws RdmaException, InterruptedException {
        return next(wanted, guard, deadline, delivery, false, false);
    }

    private <R> R next(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery,
            boolean readFirst, boolean wakeable) throws RdmaException, InterruptedException {
        lock.lockInterruptibly();
        long taken = wakeupsTaken;
        try {
            boolean first = readFirst && (polling || readsToSkip == 0);
            boolean read = first;
            while (true) {
                guard.check();
                boolean last = wakeable && wakeups != taken || deadline.hasPassed();
                R delivered = take(wanted, delivery, read || last);
                if (delivered != null) {
                    return delivered;
                }
                if (last) {
                    return null;
                }
                if (first) {
                    readsToSkip = READS_SKIPPED;
                } else if (!read && readsToSkip > 0) {
                    readsToSkip--;
                }
                first = false;
                read = true;
                if (polling) {
                    long ignored = changed.awaitNanos(deadline.remainingNanos());
                } else {
                    pollUnlocked(deadline);
                }
            }
        } finally {
            if (wakeable) {
                wakeupsTaken = wakeups;
            }
            // Another waiting thread may have to become the leader.
            changed.signalAll();
            lock.unlock();
        }
    }

    /** Takes an event without waiting; returns null if there is none. Called with the lock held. */
    public <R> R poll(Predicate<? super E> wanted, Delivery<E, R> delivery) throws RdmaException {
        return take(wanted, delivery, true);
    }

    /** Takes a pending event or, if {@code read}, one from the kernel. */
    private <R> R take(Predicate<? super E> wanted, Delivery<E, R> delivery, boolean read) throws RdmaException {
        while (true) {
            E event = takePending(wanted);
            if (event == null && read) {
                event = readUntil(wanted);
            }
            if (event == null) {
                return null;
            }
            R delivered = delivery.deliver(event);
            if (delivered != null) {
                return delivered;
            }
        }
    }

    /** Reads all events from the kernel, and keeps them as pending. Called with the lock held. */
    public void readAll() throws RdmaException {
        readUntil(event -> false);
    }

    /**
     * Like {@link #readAll}, before an object that events may refer to is destroyed. Failures are ignored: C waits only
     * for events that were read, and if the device was removed, the kernel has no more of them.
     */
    public void readBeforeDestroy() {
        try {
            readAll();
        } catch (RdmaException e) {
            LOG.debug("an object is destroyed without reading its last events", e);
        }
    }

    /** Wakes all waiting threads, which then call their guards again. */
    public void wake() {
        lock.lock();
        try {
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends all current waits of {@link #nextOrWakeup}, or if there are none, the next one. */
    public void wakeup() {
        lock.lock();
        try {
            wakeups++;
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Wakes all waiting threads. Called with the lock held. Threads that are not waiting yet need no waking, because
     * they have yet to call their guards, which they do with the lock held.
     */
    private void wakeAll() {
        if (polling) {
            poller.wake();
        }
        changed.signalAll();
    }

    /** Removes pending events and returns them. Called with the lock held. */
    public List<E> removePending(Predicate<? super E> which) {
        List<E> removed = new ArrayList<>();
        for (Iterator<E> i = pending.iterator(); i.hasNext();) {
            E event = i.next();
            if (which.test(event)) {
                i.remove();
                removed.add(event);
            }
        }
        return removed;
    }

    /** Adds pending events, either to put back removed ones or to take over those of another source. */
    public void addPending(List<E> events) {
        lock.lock();
        try {
            pending.addAll(events);
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /** Frees the resources used for waiting. No thread may be waiting. */
    public void close() throws RdmaException {
        poller.close();
    }

    private E takePending(Predicate<? super E> wanted) {
        if (pending.isEmpty()) {
            // the usual case, for which no iterator is created
            return null;
        }
        for (Iterator<E> i = pending.iterator(); i.hasNext();) {
            E event = i.next();
            if (wanted.test(event)) {
                i.remove();
                return event;
            }
        }
        return null;
    }

    private E readUntil(Predicate<? super E> wanted) throws RdmaException {
        for (E event = reader.read(); event != null; event = reader.read()) {
            if (wanted.test(event)) {
                return event;
            }
            pending.add(event);
            // The leader may want it, and the file may not become readable again for it.
            wakeAll();
        }
        return null;
    }

    private void pollUnlocked(Deadline deadline) throws RdmaException, InterruptedException {
        polling = true;
        lock.unlock();
        try {
            poller.await(deadline);
        } finally {
            lock.lock();
            polling = false;
        }
    }

    /** Converts nanoseconds to the milliseconds of poll(2), rounded up. */
    static int milliseconds(long nanos) {
        long rounded = TimeUnit.NANOSECONDS.toMillis(nanos);
        return (int) Math.min(Integer.MAX_VALUE, nanos % 1_000_000 == 0 ? rounded : rounded + 1);
    }
}
