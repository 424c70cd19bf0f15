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
 * Where events come from: a non-blocking file of the kernel. One of the waiting threads (the leader) waits for the
 * file, the others for what is read. An event that its reader does not want is kept for the one who does.
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
    // guarded by the lock; made by the first one who waits, for many sources are never waited for
    private Poller poller;
    private boolean polling;
    // guarded by the lock; where a look found nothing, the next one most likely finds nothing either
    private int looksToSkip;

    /**
     * A source on an open file.
     *
     * @param fd the file; made non-blocking here
     * @param reader reads one event of it
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
        /** The next event; null when there is none now. Called with the lock held. */
        E read() throws RdmaException;
    }

    /**
     * Makes of an event what its taker gets.
     *
     * @param <E> the events
     * @param <R> what they are delivered as
     */
    @FunctionalInterface
    public interface Delivery<E, R> {
        /** The result is null when the event has become void meanwhile. Called with the lock held. */
        R deliver(E event) throws RdmaException;
    }

    /** Whether the wait still makes sense. */
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
     * @param <R> what it is delivered as
     * @param wanted which one; called with the lock held, once an event and round
     * @param guard throws when the wait must end; asked after each wake-up
     * @param deadline until when
     * @param delivery makes of the event what the caller gets
     * @return what the delivery made; null when the time ran out
     */
    public <R> R next(Predicate<? super E> wanted, Guard guard, Deadline deadline, Delivery<E, R> delivery)
            throws RdmaException, InterruptedException {
        return next(wanted, guard, deadline, delivery, true);
    }

    /**
     * As {@link #next}, for a caller who knows that there can hardly be an event yet: waits before it looks into the
     * kernel, which saves a system call.
     *
     * @param <R> what it is delivered as
     * @param wanted which one
     * @param guard throws when the wait must end
     * @param deadline until when
     * @param delivery makes of the event what the caller gets
     * @return what the delivery made; null when the time ran out
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
            // Whoever waits for the leader may have to become it.
            changed.signalAll();
            lock.unlock();
        }
    }

    /** Takes an event if one is there, without waiting; null when there is none. With the lock held. */
    public <R> R poll(Predicate<? super E> wanted, Delivery<E, R> delivery) throws RdmaException {
        return take(wanted, delivery, true);
    }

    /** Takes an event; only of those that were read already when it is not to look further. */
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

    /** Reads all that the kernel has reported and keeps it for those who wait. With the lock held. */
    public void readAll() throws RdmaException {
        readUntil(event -> false);
    }

    /**
     * As {@link #readAll}, before an object that events may name is destroyed. What cannot be read is no reason to keep
     * it: C waits for events that were read only, and of a device that was removed the kernel gives no more of them.
     */
    public void readBeforeDestroy() {
        try {
            readAll();
        } catch (RdmaException e) {
            LOG.debug("an object is destroyed without a look at its last events", e);
        }
    }

    /** Ends all waits for now: each asks its guard again. */
    public void wake() {
        lock.lock();
        try {
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /** Who is not waiting yet asks its guard with the lock held, so it needs no waking. */
    private void wakeAll() {
        if (polling) {
            poller.wake();
        }
        changed.signalAll();
    }

    /** Takes out all events that were read and not asked for yet. With the lock held. */
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

    /** Gives back events that were removed, or takes over those of another source. */
    public void addPending(List<E> events) {
        lock.lock();
        try {
            pending.addAll(events);
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    /** Frees what waiting needed; nobody may be waiting. */
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

    /** How long a pause of the given nanoseconds is in the milliseconds of poll(2), rounded up. */
    static int milliseconds(long nanos) {
        long rounded = TimeUnit.NANOSECONDS.toMillis(nanos);
        return (int) Math.min(Integer.MAX_VALUE, nanos % 1_000_000 == 0 ? rounded : rounded + 1);
    }
}
