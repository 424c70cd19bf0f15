// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import io.rdmacm.verbs.RdmaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A source of events: a non-blocking file of the kernel. One of the waiting threads, the leader, waits for the file,
 * and the others wait for the leader. An event that its reader does not want is kept for the thread that does.
 *
 * <p>The lock is held while an event is read and whenever an object that events may name is destroyed, so that the C
 * library never handles an event of an object that is going away.
 *
 * @param <E> the events
 */
public final class EventSource<E> {
    private static final Logger LOG = LoggerFactory.getLogger(EventSource.class);
    private static final int LOOKS_SKIPPED = 15;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<E> pending = new ArrayDeque<>();
    private final Reader<E> reader;
    private final int file;
    // guarded by the lock; created by the first wait, because many sources are never waited for
    private Poller poller;
    private boolean polling;
    // guarded by the lock; if one read found nothing, the next one most likely finds nothing either
    private int looksToSkip;

    /**
     * Creates a source on an open file.
     *
     * @param fd the file descriptor, which is made non-blocking
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
        /** Returns the next event, null when there is none now. Called with the lock held. */
        E read() throws RdmaException;
    }

    /**
     * Turns an event into what its taker gets.
     *
     * @param <E> the events
     * @param <R> what they are turned into
     */
    @FunctionalInterface
    public interface Delivery<E, R> {
        /** Returns null when the event has become void in the meantime. Called with the lock held. */
        R deliver(E event) throws RdmaException;
    }

    /** Checks whether a wait may go on. */
    @FunctionalInterface
    public interface Guard {
        /** Throws what ends the wait. Called with the lock held. */
        void check() throws RdmaException;
    }

    /** Held around every native call that destroys or changes what an event may name. */
    public ReentrantLock lock() {
        return lock;
    }

    /**
     * Waits for an event.
     *
     * @param <R> what it is turned into
     * @param wanted whether an event is wanted; called with the lock held, for each event in each round
     * @param guard throws when the wait must end; called after each wake-up
     * @param deadline until when to wait
     * @param delivery turns the event into what the caller gets
     * @return the result of the delivery, null when the time ran out
     */
    public <R> R next(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery)
            throws RdmaException, InterruptedException {
        return next(wanted, guard, deadline, delivery, true);
    }

    /**
     * As {@link #next}, for a caller who knows that there is hardly an event yet: waits before it reads the file, which
     * saves a system call.
     *
     * @param <R> what it is turned into
     * @param wanted whether an event is wanted
     * @param guard throws when the wait must end
     * @param deadline until when to wait
     * @param delivery turns the event into what the caller gets
     * @return the result of the delivery, null when the time ran out
     */
    public <R> R awaitNext(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery)
            throws RdmaException, InterruptedException {
        return next(wanted, guard, deadline, delivery, false);
    }

    private <R> R next(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery,
            boolean lookFirst) throws RdmaException, InterruptedException {
        lock.lockInterruptibly();
        try {
            boolean first = lookFirst && (polling || looksToSkip == 0);
            boolean look = first;
            while (true) {
                guard.check();
                boolean last = deadline.hasPassed();
                R delivered = take(wanted, delivery, look || last);
                if (delivered != null) {
                    return delivered;
                }
                if (last) {
                    return null;
                }
                if (first) {
                    looksToSkip = LOOKS_SKIPPED;
                } else if (!look && looksToSkip > 0) {
                    looksToSkip--;
                }
                first = false;
                look = true;
                if (polling) {
                    long ignored = changed.awaitNanos(deadline.remainingNanos());
                } else {
                    pollUnlocked(deadline);
                }
            }
        } finally {
            // If this was the leader, another thread has to become it.
            changed.signalAll();
            lock.unlock();
        }
    }

    /** Takes an event without waiting; returns null when there is none. With the lock held. */
    public <R> R poll(Predicate<? super E> wanted, Delivery<E, R> delivery) throws RdmaException {
        return take(wanted, delivery, true);
    }

    /** Takes an event; if it is not to look into the file, only one of those that were already read. */
    private <R> R take(Predicate<? super E> wanted, Delivery<E, R> delivery, boolean look) throws RdmaException {
        while (true) {
            E event = takePending(wanted);
            if (event == null && look) {
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

    /** Reads all events that the kernel has reported, and keeps them for the threads that wait. With the lock held. */
    public void readAll() throws RdmaException {
        readUntil(event -> false);
    }

    /**
     * As {@link #readAll}, before an object that events may name is destroyed. A failed read does not prevent that: C
     * waits only for events that were read, and the kernel reports no more of them for a removed device.
     */
    public void readBeforeDestroy() {
        try {
            readAll();
        } catch (RdmaException e) {
            LOG.debug("an object is destroyed although its last events could not be read", e);
        }
    }

    /** Makes all waiting threads ask their guards again. */
    public void wake() {
        lock.lock();
        try {
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /** A thread that is not waiting yet asks its guard with the lock held, so it need not be woken. */
    private void wakeAll() {
        if (polling) {
            poller.wake();
        }
        changed.signalAll();
    }

    /** Removes and returns the events that were read and not taken yet. With the lock held. */
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

    /** Adds events that were removed from here or from another source. */
    public void addPending(List<E> events) {
        lock.lock();
        try {
            pending.addAll(events);
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /** Frees what waiting needed; no thread may be waiting. */
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
            // it may be the leader's, for whom the file is no longer readable
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
