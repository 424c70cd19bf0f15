// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A source of events: a file descriptor, which is made non-blocking, shared by several threads that {@link Wait}. An
 * event that the reading thread does not want is kept as pending for the thread that does.
 *
 * <p>The lock is held while an event is read, and while an object that events may refer to is destroyed, so that the C
 * library never handles an event of an object that is being destroyed. Nothing is read after the close.
 *
 * @param <E> the type of the events
 */
public final class EventSource<E> {
    private static final Logger LOG = LoggerFactory.getLogger(EventSource.class);
    private static final int READS_SKIPPED = 15;
    private static final BooleanSupplier NEVER = () -> false;

    private final MixedThreadsLock lock = new MixedThreadsLock();
    private final Reader<E> reader;
    private final Wait wait;
    // The rest is guarded by the lock.
    private final ArrayDeque<E> pending = new ArrayDeque<>();
    // an event that there was no memory to keep
    private E unkept;
    // an event was read that nobody may have been told of
    private boolean fresh;
    // the last of those whose threads sleep
    private Request<?> sleeping;
    // After a read that found nothing, the next one will most likely find nothing either: so many waits begin without.
    private int readsToSkip;
    private FirstRead firstRead = FirstRead.DONE;
    // The number of calls of wakeup(), and the number of those that have taken effect. A wait is ended by a call that
    // came after the end of the previous wait.
    private long wakeups;
    private long wakeupsTaken;

    /**
     * Creates a source for the events of an open file.
     *
     * @param fd the file descriptor, which is made non-blocking
     * @param reader reads an event from it
     */
    public EventSource(int fd, Reader<E> reader) throws RdmaException {
        this(reader, new Poller(fd), new Poller(fd));
        Libc.makeNonBlocking(fd);
    }

    /** Creates a source for the events of a file on which threads sleep in the given ways. */
    EventSource(Reader<E> reader, Sleeper platform, Sleeper virtual) {
        this.reader = reader;
        this.wait = new Wait(lock, new File(), platform, virtual);
    }

    /** What becomes of the first read of a wait. */
    private enum FirstRead { DUE, SKIPPED, DONE }

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

    /** Closes the file. */
    @FunctionalInterface
    public interface Closer {
        /** Closes it. Called with the lock held. */
        void close() throws RdmaException;
    }

    /** Decides whether a wait goes on. */
    @FunctionalInterface
    public interface Guard {
        /** Throws an exception to end the wait. Called with the lock held. */
        void check() throws RdmaException;
    }

    /** The file, which is readable as long as there is an event: it needs no arming. */
    private final class File implements Wait.Source {
        @Override
        public boolean poll() throws RdmaException {
            FirstRead first = firstRead;
            firstRead = FirstRead.DONE;
            boolean any = first != FirstRead.SKIPPED && readOne();
            if (first == FirstRead.DUE && !any) {
                readsToSkip = READS_SKIPPED;
            }
            return any;
        }

        @Override
        public boolean arm() {
            return false;
        }

        @Override
        public boolean takeEvents() {
            return false;
        }
    }

    /** What one thread waits for. */
    private final class Request<R> extends Wait.Subject {
        private final Predicate<? super E> wanted;
        private final Guard guard;
        private final BooleanSupplier ended;
        private final Delivery<E, R> delivery;
        // a greater number of wakeups ends the wait
        private final long wakeupsBefore;
        private R result;
        private Request<?> before;
        private Request<?> after;

        Request(Predicate<? super E> wanted, Guard guard, BooleanSupplier ended, Delivery<E, R> delivery,
                long wakeupsBefore) {
            this.wanted = wanted;
            this.guard = guard;
            this.ended = ended;
            this.delivery = delivery;
            this.wakeupsBefore = wakeupsBefore;
        }

        @Override
        protected Object sleepBegins() {
            before = sleeping;
            if (before != null) {
                before.after = this;
            }
            sleeping = this;
            return null;
        }

        @Override
        protected void sleepEnds(Object begun, long nanos, boolean leading) {
            if (before != null) {
                before.after = after;
            }
            if (after == null) {
                sleeping = before;
            } else {
                after.before = before;
            }
            before = null;
            after = null;
        }

        boolean isDone(long none) throws RdmaException {
            guard.check();
            result = takePending(wanted, delivery);
            if (result != null || wakeups <= wakeupsBefore) {
                return result != null || ended.getAsBoolean();
            }
            result = poll(wanted, delivery);
            return true;
        }
    }

    /** Returns the lock, to be held around native calls that destroy or change objects that events may refer to. */
    public MixedThreadsLock lock() {
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
        return next(wanted, guard, NEVER, deadline, delivery, true, false);
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
        return next(wanted, guard, NEVER, deadline, delivery, true, true);
    }

    /**
     * Like {@link #next}, for callers that do not expect an event to be there yet: waits before it reads, which saves a
     * system call.
     *
     * @param <R> the type that the caller receives
     * @param wanted whether an event is wanted
     * @param guard throws an exception to end the wait
     * @param ended whether the wait is to end without an event; looked at after each {@link #wake}
     * @param deadline when to give up
     * @param delivery converts the event to what the caller receives
     * @return the result of the delivery; null if the deadline has passed or the wait has ended without an event
     */
    public <R> R awaitNext(Predicate<? super E> wanted, Guard guard, BooleanSupplier ended, Deadline deadline,
            Delivery<E, R> delivery) throws RdmaException, InterruptedException {
        return next(wanted, guard, ended, deadline, delivery, false, false);
    }

    private <R> R next(Predicate<? super E> wanted, Guard guard, BooleanSupplier ended, Deadline deadline,
            Delivery<E, R> delivery, boolean readFirst, boolean wakeable) throws RdmaException, InterruptedException {
        lock.lockInterruptibly();
        try {
            Request<R> request = new Request<>(wanted, guard, ended, delivery,
                    wakeable ? wakeupsTaken : Long.MAX_VALUE);
            boolean skips = (!readFirst || readsToSkip > 0 && !wait.isSleptOn()) && !deadline.hasPassed();
            readsToSkip -= skips && readsToSkip > 0 ? 1 : 0;
            firstRead = skips ? FirstRead.SKIPPED : readFirst ? FirstRead.DUE : FirstRead.DONE;
            boolean ignored = wait.await(request, Request::isDone, 0, deadline, 0);
            return request.result;
        } catch (RdmaClosedException e) {
            // This thread gets up late. The guard knows more.
            guard.check();
            throw e;
        } finally {
            firstRead = FirstRead.DONE;
            if (wakeable) {
                wakeupsTaken = wakeups;
            }
            lock.unlock();
        }
    }

    /** Takes an event without waiting; returns null if there is none. Called with the lock held. */
    public <R> R poll(Predicate<? super E> wanted, Delivery<E, R> delivery) throws RdmaException {
        R delivered = takePending(wanted, delivery);
        while (delivered == null && readOne()) {
            delivered = takePending(wanted, delivery);
        }
        return delivered;
    }

    /** Reads all events from the kernel, and keeps them as pending. Called with the lock held. */
    public void readAll() throws RdmaException {
        try {
            while (readOne()) {
                continue;
            }
        } finally {
            tellOfPending();
        }
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

    /** Returns whether there is an event that there was no memory to keep. Called with the lock held. */
    public boolean hasUnkept() {
        return unkept != null;
    }

    /** Wakes all waiting threads, which then call their guards again. */
    public void wake() {
        addPending(List.of());
    }

    /** Ends all current waits of {@link #nextOrWakeup}, or if there are none, the next one. */
    public void wakeup() {
        try (var _ = lock.hold()) {
            wakeups++;
            wait.wakeAll();
        }
    }

    /** Removes pending events and returns them: all, or none if there is no memory. Called with the lock held. */
    public List<E> removePending(Predicate<? super E> which) {
        List<E> removed = new ArrayList<>();
        for (E event : pending) {
            if (which.test(event)) {
                removed.add(event);
            }
        }
        pending.removeIf(which);
        return removed;
    }

    /** Adds pending events, either to put back removed ones or to take over those of another source. */
    public void addPending(List<E> events) {
        try (var _ = lock.hold()) {
            pending.addAll(events);
            wait.wakeAll();
        }
    }

    /**
     * Closes the file, and frees what threads have slept with. Virtual threads may still be waiting. If the file cannot
     * be closed, threads may wait again.
     */
    public void close(Closer closer) throws RdmaException {
        try (var _ = lock.hold()) {
            wait.endSleeps();
            closer.close();
            wait.close();
        }
    }

    /** Takes a pending event; returns null if there is none that is wanted and has not become void. */
    private <R> R takePending(Predicate<? super E> wanted, Delivery<E, R> delivery) throws RdmaException {
        R delivered = null;
        if (!pending.isEmpty()) {
            // the usual case is that it is, and then no iterator is created
            try {
                for (Iterator<E> i = pending.iterator(); delivered == null && i.hasNext();) {
                    E event = i.next();
                    if (wanted.test(event)) {
                        i.remove();
                        delivered = deliver(event, delivery);
                    }
                }
            } finally {
                tellOfPending();
            }
        }
        return delivered;
    }

    /** Delivers an event that is not pending any more, or is again if there is no memory or stack for it. */
    private <R> R deliver(E event, Delivery<E, R> delivery) throws RdmaException {
        try {
            return delivery.deliver(event);
        } catch (Error e) {
            pending.addFirst(event);
            throw e;
        }
    }

    private boolean readOne() throws RdmaException {
        wait.requireOpen();
        if (unkept == null) {
            unkept = reader.read();
        }
        if (unkept == null) {
            return false;
        }
        pending.add(unkept);
        unkept = null;
        fresh = true;
        return true;
    }

    /**
     * What this thread has read and does not want may be wanted by others, and the file not become readable again:
     * wakes those that want any of it.
     */
    private void tellOfPending() {
        if (fresh) {
            fresh = false;
            for (Request<?> request = sleeping; request != null && !pending.isEmpty(); request = request.before) {
                if (isPending(request.wanted)) {
                    wait.wake(request);
                }
            }
        }
    }

    private boolean isPending(Predicate<? super E> wanted) {
        for (E event : pending) {
            if (wanted.test(event)) {
                return true;
            }
        }
        return false;
    }
}
