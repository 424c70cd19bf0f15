// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Stands in for the class of this name, in plain Java: the events of completion queues. */
public final class CompletionChannel extends NativeObject {
    private static volatile CompletionChannel last;

    /** The device's, and guards its queues too. */
    public final ReentrantLock lock = new ReentrantLock();
    /** Signalled when something becomes readable or is closed. */
    public final Condition changed = lock.newCondition();
    private final ArrayDeque<CompletionQueue> events = new ArrayDeque<>();
    private boolean closed;
    // taken from the file, but not by who had no memory
    private CompletionQueue unread;
    private boolean outOfMemory;

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
            unread = unread == null ? events.poll() : unread;
            if (unread != null && outOfMemory) {
                outOfMemory = false;
                throw new OutOfMemoryError("in a test");
            }
            CompletionQueue taken = unread;
            unread = null;
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /** There is no memory for the next event. */
    public void runOutOfMemory() {
        lock.lock();
        try {
            outOfMemory = true;
        } finally {
            lock.unlock();
        }
    }

    void raise(CompletionQueue queue) {
        events.add(queue);
        changed.signalAll();
    }

    /** Closes the channel. */
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
}
