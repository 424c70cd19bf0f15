// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A completion queue in plain Java, with its channel: an arrival raises an event only if the queue is armed, and
 * disarms it; the event makes the file readable until it is taken.
 */
final class FakeSource implements Wait.Source {
    final ReentrantLock lock = new ReentrantLock();
    final Wait wait = new Wait(lock, this, new FileSleep(), new FileSleep());
    // what the kernel and the device have, with a lock of their own
    private final ReentrantLock device = new ReentrantLock();
    private final Condition readable = device.newCondition();
    private final ArrayDeque<Inbox> arrived = new ArrayDeque<>();
    private boolean armed;
    private int events;

    /** Somebody for whom things arrive. */
    static final class Inbox extends Wait.Subject {
        int count;
        RuntimeException end;

        boolean hasAny(long least) {
            if (end != null) {
                throw end;
            }
            return count >= least;
        }
    }

    /** The device has something for somebody. Called by any thread, without a lock. */
    void arrive(Inbox inbox) {
        device.lock();
        try {
            arrived.add(inbox);
            if (armed) {
                armed = false;
                events++;
                readable.signalAll();
            }
        } finally {
            device.unlock();
        }
    }

    @Override
    public boolean poll() {
        boolean any = false;
        for (Inbox next = take(); next != null; next = take()) {
            next.count++;
            wait.wake(next);
            any = true;
        }
        return any;
    }

    private Inbox take() {
        device.lock();
        try {
            return arrived.poll();
        } finally {
            device.unlock();
        }
    }

    @Override
    public boolean arm() {
        device.lock();
        try {
            armed = true;
            return true;
        } finally {
            device.unlock();
        }
    }

    @Override
    public boolean takeEvents() {
        device.lock();
        try {
            boolean any = events > 0;
            events = 0;
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

    /** Sleeps like poll(2) on the file of the channel. */
    final class FileSleep implements Sleeper {
        private boolean woken;

        @Override
        public void await(Deadline deadline) throws InterruptedException {
            device.lockInterruptibly();
            try {
                while (events == 0 && !woken && !deadline.hasPassed()) {
                    long ignored = readable.awaitNanos(Math.min(deadline.remainingNanos(),
                            TimeUnit.DAYS.toNanos(36_500)));
                }
                woken = false;
            } finally {
                device.unlock();
            }
        }

        @Override
        public void wake() {
            device.lock();
            try {
                woken = true;
                readable.signalAll();
            } finally {
                device.unlock();
            }
        }

        @Override
        public void close() {
            // there is no file
        }
    }

    /** Waits for something. Called without the lock. */
    boolean await(Inbox inbox, long least, Deadline deadline) throws Exception {
        lock.lock();
        try {
            return wait.await(inbox, (subject, number) -> subject.hasAny(number), least, deadline, 0);
        } finally {
            lock.unlock();
        }
    }
}
