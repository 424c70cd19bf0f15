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
 * A source of events: a non-blocking file descriptor of the kernel. One of the waiting threads (the leader) waits for
 * the file, the others for what it reads. An event that the thread that reads it does not want is kept pending for the
 * one that does.
 *
 * <p>The lock is held while an event is read and whenever an object that events may name is destroyed, so that the C
 * library never handles an event of an object that is being destroyed.
 *
 * @param <E> the events
 */
public final class EventSource<E> {
    private static final Logger LOG = LoggerFactory.getLogger(EventSource.class);
    private static final int READS_SKIPPED = 15;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<E> pending = new ArrayDeque<>();
    private final Reader<E> reader;
    private final int file;
    // guarded by the lock; made by the first thread that waits, because many sources are never waited for
    private Poller poller;
    private boolean polling;
    // guarded by the lock; when a read found nothing, the next one will most likely find nothing either
    private int readsToSkip;
    // Guarded by the lock: how often wakeup() was called, and how many of these calls have ended a wait. A wait is
    // ended by those calls that came after the end of the last one.
    private long wakeups;
    private long wakeupsTaken;

    /**
     * A source of the events of an open file.
     *
     * @param fd the file descriptor; made non-blocking here
     * @param reader reads one event from it
     */
    public EventSource(int fd, Reader<E> reader) throws RdmaException {
        Libc.makeNonBlocking(fd);
        this.file = fd;
        this.reader = reader;
    }

    /**
     * Reads one event.
     *
     * @param <E> the events
     */
    @FunctionalInterface
    public interface Reader<E> {
        /** Returns the next event; null when there is none now. Called with the lock held. */
        E read() throws RdmaException;
    }

    /**
     * Turns an event into what the caller gets.
     *
     * @param <E> the events
     * @param <R> what they are delivered as
     */
    @FunctionalInterface
    public interface Delivery<E, R> {
        /** Returns null when the event has become void meanwhile. Called with the lock held. */
        R deliver(E event) throws RdmaException;
    }

    /** Decides whether a wait goes on. */
    @FunctionalInterface
    public interface Guard {
        /** Throws an exception to end the wait. Called with the lock held. */
        void check() throws RdmaException;
    }

    /** Returns the lock, to be held around every native call that destroys or changes what an event may name. */
    public ReentrantLock lock() {
        return lock;
    }

    /**
     * Waits for an event.
     *
     * @param <R> what it is delivered as
     * @param wanted whether an event is wanted; called with the lock held, after each wake-up once for each event
     * @param guard throws when the wait must end; called before the wait and after each wake-up
     * @param deadline when to give up
     * @param delivery turns the event into what the caller gets
     * @return what the delivery returned; null when the time ran out
     */
    public <R> R next(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery)
            throws RdmaException, InterruptedException {
        return next(wanted, guard, deadline, delivery, true, false);
    }

    /**
     * As {@link #next}, but {@link #wakeup()} ends the wait too.
     *
     * @param <R> what it is delivered as
     * @param wanted which one
     * @param guard throws when the wait must end
     * @param deadline until when
     * @param delivery makes of the event what the caller gets
     * @return what the delivery made; null when the time ran out or wakeup() was called
     */
    public <R> R nextOrWakeup(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery)
            throws RdmaException, InterruptedException {
        return next(wanted, guard, deadline, delivery, true, true);
    }

    /**
     * As {@link #next}, for a caller who knows that there can hardly be an event yet: waits before it asks the kernel,
     * which saves a system call.
     *
     * @param <R> what it is delivered as
     * @param wanted whether an event is wanted
     * @param guard throws when the wait must end
     * @param deadline when to give up
     * @param delivery turns the event into what the caller gets
     * @return what the delivery returned; null when the time ran out
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
            // a thread that waits for the leader may have to take its place
            changed.signalAll();
            lock.unlock();
        }
    }

    /** Takes an event if there is one, without waiting; returns null when there is none. With the lock held. */
    public <R> R poll(Predicate<? super E> wanted, Delivery<E, R> delivery) throws RdmaException {
        return take(wanted, delivery, true);
    }

    /** Takes an event: a pending one or, if {@code read}, one that the kernel has. */
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

    /** Reads all events that the kernel has, and keeps them for those who want them. With the lock held. */
    public void readAll() throws RdmaException {
        readUntil(event -> false);
    }

    /**
     * As {@link #readAll}, before an object that events may name is destroyed. It is destroyed even if they cannot be
     * read: C waits only for events that were read, and the kernel has no more of them when the device was removed.
     */
    public void readBeforeDestroy() {
        try {
            readAll();
        } catch (RdmaException e) {
            LOG.debug("an object is destroyed without reading its last events", e);
        }
    }

    /** Wakes all waiting threads, each of which calls its guard again. */
    public void wake() {
        lock.lock();
        try {
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the waits of {@link #nextOrWakeup} that are under way; when there are none, the next one. */
    public void wakeup() {
        lock.lock();
        try {
            wakeups++;
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /** With the lock held. A thread that does not wait yet calls its guard with the lock held, and needs no waking. */
    private void wakeAll() {
        if (polling) {
            poller.wake();
        }
        changed.signalAll();
    }

    /** Removes pending events and returns them. With the lock held. */
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

    /** Adds pending events: puts back those that were removed, or takes over those of another source. */
    public void addPending(List<E> events) {
        lock.lock();
        try {
            pending.addAll(events);
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /** Frees what waiting needs. No thread may be waiting. */
    public void close() throws RdmaException {
        lock.lock();
        try {
            if (poller != null) {
                poller.close();
            }
        } finally {
            lock.unlock();
        }
    }

    private E takePending(Predicate<? super E> wanted) {
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
            // the leader may want it, and does not find the file readable any more
            wakeAll();
        }
        return null;
    }

    private void pollUnlocked(Deadline deadline) throws RdmaException, InterruptedException {
        if (poller == null) {
            poller = new Poller(file);
        }
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
