// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.ArrayDeque;

import io.rdmacm.verbs.testing.Interleavings;

/** Stands in for the class of this name, in plain Java. */
public final class CompletionQueue extends NativeObject {
    private final CompletionChannel channel;
    private final int capacity;
    // guarded by the lock of the channel, and so is all below
    private final ArrayDeque<WorkCompletions.Completion> completions = new ArrayDeque<>();
    private boolean armed;
    private boolean closed;

    CompletionQueue(int capacity, CompletionChannel channel) {
        this.capacity = capacity;
        this.channel = channel;
    }

    /** Returns the capacity. */
    public int capacity() {
        return capacity;
    }

    /** Takes completions. */
    public int poll(WorkCompletions into) {
        Interleavings.point();
        channel.lock.lock();
        try {
            requireOpen();
            return into.fill(completions);
        } finally {
            channel.lock.unlock();
        }
    }

    /** Asks for an event. */
    public void requestNotification(boolean solicitedOnly) {
        Interleavings.point();
        channel.lock.lock();
        try {
            requireOpen();
            armed = true;
        } finally {
            channel.lock.unlock();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new AssertionError("the queue is closed");
        }
    }

    /** Closes the queue. */
    @Override
    public void close() {
        channel.lock.lock();
        try {
            closed = true;
        } finally {
            channel.lock.unlock();
        }
    }

    /** What the device does: a completion, and an event if the queue is armed. */
    public void complete(int queuePairNumber) {
        complete(new WorkCompletions.Completion(queuePairNumber, null, null, null));
    }

    /** The same, with what it is about. */
    public void complete(WorkCompletions.Completion completion) {
        Interleavings.point();
        channel.lock.lock();
        try {
            completions.add(completion);
            if (armed) {
                armed = false;
                channel.raise(this);
            }
        } finally {
            channel.lock.unlock();
        }
    }
}
