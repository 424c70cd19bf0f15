// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Stands in for the class of this name, in plain Java: the events of completion queues. */
public final class CompletionChannel {
    private static volatile CompletionChannel last;

    /** The device's, and guards its queues too. */
    public final ReentrantLock lock = new ReentrantLock();
    /** Signalled when something becomes readable or is closed. */
    public final Condition changed = lock.newCondition();
    private final ArrayDeque<CompletionQueue> events = new ArrayDeque<>();
    private boolean closed;

    static CompletionChannel open() {
        CompletionChannel channel = new CompletionChannel();
        last = channel;
        return channel;
    }

    /** Returns the channel that was opened last. */
    public static CompletionChannel last() {
        return last;
    }

    /** Returns a number for messages. */
    public int fd() {
        return 4;
    }

    /** Returns whether there is an event. With the lock held. */
    public boolean isReadable() {
        if (closed) {
            throw new AssertionError("a sleep on a closed file");
        }
        return !events.isEmpty();
    }

    /** Takes an event, null if there is none. */
    public CompletionQueue take() {
        lock.lock();
        try {
            return events.poll();
        } finally {
            lock.unlock();
        }
    }

    void raise(CompletionQueue queue) {
        events.add(queue);
        changed.signalAll();
    }

    /** Closes the channel. */
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
