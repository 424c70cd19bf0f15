// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Interleavings;

/** Completion queues with one channel, and the places where threads sleep on its file, in plain Java. */
final class FakeQueues implements Wait.Source {
    // more than any of the scenarios needs
    private static final int MAX_POLLS = 5_000;

    /** What the library's threads hold. */
    final ReentrantLock lock = new ReentrantLock();
    final Sleep platform = new Sleep();
    final Sleep virtual = new Sleep();
    final Wait wait = new Wait(lock, this, platform, virtual);
    final LoopFile loop = new LoopFile();
    /** Guarded by the lock: thrown by the next poll. */
    RdmaException failure;
    /** Guarded by the lock: whether a poll that finds something runs code of the program, without the lock. */
    boolean callsHandlers;
    /** Guarded by the lock: whether each poll finds something for somebody else. */
    boolean busy;
    /** Guarded by the lock: whether there is no memory for the next event. */
    boolean outOfMemory;

    // the queues that are polled and armed; guarded by the lock
    private final List<Queue> queues = new ArrayList<>();
    // The device's own lock, which guards all below, and what is told to those who wait for the file.
    private final ReentrantLock device = new ReentrantLock();
    private final Condition changed = device.newCondition();
    private int events;
    private int polls;

    /** A connection: completions that have arrived for it, and whether it has ended. Guarded by the lock. */
    static final class Peer extends Wait.Subject {
        int arrived;
        boolean ended;
        /** Its completions are for a handler that the loop of the program calls. */
        boolean handled;

        /** The goal of those that wait for so many completions. */
        boolean hasArrived(long count) throws RdmaException {
            if (arrived >= count) {
                return true;
            }
            if (ended) {
                throw new RdmaClosedException("test", "the peer");
            }
            return false;
        }
    }

    /** A completion queue. */
    final class Queue {
        private final ArrayDeque<Peer> completions = new ArrayDeque<>();
        private boolean armed;

        /** What the device does: a completion, and an event if the queue is armed. */
        void complete(Peer peer) {
            Interleavings.point();
            device.lock();
            try {
                completions.add(peer);
                if (armed) {
                    armed = false;
                    events++;
                    changed.signalAll();
                }
            } finally {
                device.unlock();
            }
        }

        private Peer next() {
            device.lock();
            try {
                return completions.poll();
            } finally {
                device.unlock();
            }
        }

        private void arm() {
            device.lock();
            try {
                armed = true;
            } finally {
                device.unlock();
            }
        }
    }

    /** Where one thread sleeps on the file. */
    final class Sleep implements Sleeper {
        /** Guarded by the device's lock: a virtual thread that finds no carrier. */
        boolean stuck;
        private boolean sleeping;
        private boolean woken;
        private boolean closed;

        @Override
        public void await(long nanos) throws InterruptedException {
            Interleavings.point();
            device.lockInterruptibly();
            try {
                if (sleeping || closed && this == platform) {
                    throw new AssertionError(closed ? "a sleep on a closed file" : "two sleep in one place");
                }
                sleeping = true;
                changed.signalAll();
                try {
                    awaitChange(nanos);
                } finally {
                    sleeping = false;
                    woken = false;
                }
            } finally {
                device.unlock();
            }
        }

        private void awaitChange(long nanos) throws InterruptedException {
            long left = nanos;
            while (stuck || !closed && !woken && events == 0 && left > 0) {
                left = changed.awaitNanos(left);
                if (closed && this == platform) {
                    throw new AssertionError("the file was closed under a thread that sleeps on it");
                }
            }
        }

        @Override
        public void wake() {
            device.lock();
            try {
                woken = true;
                changed.signalAll();
            } finally {
                device.unlock();
            }
        }

        @Override
        public void close() {
            device.lock();
            try {
                closed = true;
                if (sleeping && this == platform) {
                    throw new AssertionError("closed while a platform thread sleeps on the file");
                }
                changed.signalAll();
            } finally {
                device.unlock();
            }
        }

        /** Waits until a thread sleeps here. */
        void awaitSleep() throws InterruptedException {
            device.lockInterruptibly();
            try {
                while (!sleeping) {
                    changed.await();
                }
            } finally {
                device.unlock();
            }
        }

        /** Lets the virtual thread have a carrier, or not. */
        void stuck(boolean without) {
            device.lock();
            try {
                stuck = without;
                changed.signalAll();
            } finally {
                device.unlock();
            }
        }
    }

    /** The file that a program's event loop sleeps on. */
    final class LoopFile implements Wait.Loop {
        private boolean woken;

        @Override
        public void wake() {
            device.lock();
            try {
                woken = true;
                changed.signalAll();
            } finally {
                device.unlock();
            }
        }

        @Override
        public void reset() {
            device.lock();
            try {
                woken = false;
            } finally {
                device.unlock();
            }
        }

        boolean isWoken() {
            device.lock();
            try {
                return woken;
            } finally {
                device.unlock();
            }
        }

        /** What epoll_wait(2) does without a time-out. */
        void awaitReadable() throws InterruptedException {
            Interleavings.point();
            device.lockInterruptibly();
            try {
                while (!woken && events == 0) {
                    changed.await();
                }
            } finally {
                device.unlock();
            }
        }
    }

    /** Adds a queue while threads may be waiting. */
    Queue add() {
        lock.lock();
        try {
            Queue queue = new Queue();
            queues.add(queue);
            wait.rearm();
            return queue;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean poll() throws RdmaException {
        if (failure != null) {
            throw failure;
        }
        Interleavings.point();
        if (++polls > MAX_POLLS && Interleavings.isControlled()) {
            throw new AssertionError("polled without end");
        }
        boolean any = busy;
        for (Queue queue : queues) {
            Peer peer = queue.next();
            if (peer != null) {
                any = true;
                peer.arrived++;
                wait.wake(peer);
                if (peer.handled) {
                    wait.tellLoop();
                }
            }
        }
        if (any && callsHandlers) {
            lock.unlock();
            Interleavings.point();
            lock.lock();
        }
        return any;
    }

    @Override
    public boolean arm() {
        queues.forEach(Queue::arm);
        return true;
    }

    @Override
    public boolean takeEvents() {
        device.lock();
        try {
            boolean any = events > 0;
            events = 0;
            if (any && outOfMemory) {
                outOfMemory = false;
                throw new OutOfMemoryError("in a test");
            }
            return any;
        } finally {
            device.unlock();
        }
    }

    /** Returns whether an event is pending. */
    boolean isReadable() {
        device.lock();
        try {
            return events > 0;
        } finally {
            device.unlock();
        }
    }
}
