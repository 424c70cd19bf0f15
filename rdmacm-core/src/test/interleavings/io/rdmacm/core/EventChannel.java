// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.testing.Interleavings;

/** Stands in for the class of this name, in plain Java: events, and wakeups that end a wait or the next one. */
public final class EventChannel extends NativeObject {
    // guards all ids and events of the channel
    final ReentrantLock lock = new ReentrantLock();
    final Condition changed = lock.newCondition();
    private final ArrayDeque<CmEvent> events = new ArrayDeque<>();
    private boolean woken;
    private boolean closed;

    /** Opens a channel. */
    public static EventChannel open() {
        return new EventChannel();
    }

    /** Returns a number for messages. */
    public int fd() {
        return 3;
    }

    /** Takes the next event. */
    public Optional<CmEvent> pollEvent(Duration timeout) throws RdmaClosedException, InterruptedException {
        Interleavings.point();
        Deadline deadline = Deadline.after(timeout);
        lock.lockInterruptibly();
        try {
            while (true) {
                if (closed) {
                    throw new RdmaClosedException("rdma_get_cm_event", "the channel");
                }
                CmEvent event = events.poll();
                if (event != null) {
                    event.opened();
                    return Optional.of(event);
                }
                if (woken || deadline.hasPassed()) {
                    woken = false;
                    return Optional.empty();
                }
                long ignored = changed.awaitNanos(deadline.remainingNanos());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the wait of a thread, or the next one. */
    public void wakeup() {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the channel is closed");
            }
            woken = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Closes the channel, and ends waits. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Adds an event. With the lock held. */
    void add(CmEvent event) {
        events.add(event);
        changed.signalAll();
    }

    /** Removes the events of an id that is closed, and closes the ids of requests to it. With the lock held. */
    void forget(CmId id) {
        for (CmEvent event : List.copyOf(events)) {
            if (event.concerns(id) && events.remove(event)) {
                event.drop();
            }
        }
    }
}
