// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.internal.wait.Spin;
import org.jspecify.annotations.Nullable;

/**
 * How threads wait for a stream: they poll for a while; then one of them, the leader, sleeps until a file of the stream
 * is readable, and the others, the followers, until something has changed. Used with the lock of the stream held.
 */
final class StreamWaits {
    private final ReentrantLock lock;
    private final WaitPolicy policy;
    private final ArrayDeque<Thread> followers = new ArrayDeque<>();
    @SuppressWarnings("NullAway.Init")
    private Poller poller;
    // of a sleep that began before the files changed
    private @Nullable Poller formerPoller;
    private @Nullable Thread leader;
    // what the leader sleeps on; null while it is awake
    private @Nullable Poller sleep;

    StreamWaits(ReentrantLock lock, WaitPolicy policy) {
        this.lock = lock;
        this.policy = policy;
    }

    /** Arms the files before a sleep. */
    @FunctionalInterface
    interface Arming {
        /** Returns false if something has happened meanwhile. */
        boolean arm() throws RdmaException;
    }

    /** Sets the files to sleep on. */
    void watch(int... files) {
        wake();
        formerPoller = poller;
        poller = new Poller(files);
    }

    /** Returns how many nanoseconds this thread may poll. */
    long spinNanos() {
        // A virtual thread that spins would keep its carrier from the others, and cannot give up the CPU.
        return Thread.currentThread().isVirtual() ? 0 : TimeUnit.NANOSECONDS.convert(policy.spin());
    }

    /** Lets others work between two polls. */
    void pause(int spins) {
        lock.unlock();
        try {
            Spin.pause(spins);
        } finally {
            lock.lock();
        }
    }

    /** Sleeps until something may have happened; returns whether the files may be readable. */
    boolean sleep(Deadline deadline, Arming arming) throws RdmaException, InterruptedException {
        if (leader != null) {
            follow(deadline);
            return false;
        }
        leader = Thread.currentThread();
        try {
            if (arming.arm()) {
                lead(deadline);
                return true;
            }
            return false;
        } finally {
            leader = null;
        }
    }

    private void lead(Deadline deadline) throws RdmaException, InterruptedException {
        Poller mine = poller;
        sleep = mine;
        lock.unlock();
        try {
            mine.await(deadline);
        } finally {
            lock.lock();
            sleep = null;
        }
    }

    private void follow(Deadline deadline) {
        Thread thread = Thread.currentThread();
        followers.add(thread);
        lock.unlock();
        try {
            LockSupport.parkNanos(this, deadline.remainingNanos());
        } finally {
            lock.lock();
            followers.remove(thread);
        }
    }

    /** Wakes all that wait: something has changed. */
    void wake() {
        if (!followers.isEmpty()) {
            followers.forEach(LockSupport::unpark);
        }
        if (sleep != null) {
            sleep.wake();
        }
    }

    /** Lets a follower take the place of a leader who has left. */
    void promote() {
        if (leader == null && !followers.isEmpty()) {
            LockSupport.unpark(followers.peek());
        }
    }

    /** Frees what threads have slept with. No thread may be waiting. */
    void close() throws RdmaException {
        if (poller != null) {
            poller.close();
        }
        if (formerPoller != null) {
            formerPoller.close();
        }
    }
}
