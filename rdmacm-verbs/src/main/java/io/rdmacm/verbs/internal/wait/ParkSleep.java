// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.rdmacm.verbs.error.RdmaException;

/**
 * A virtual thread parks, so that its carrier is free for others, until {@link FileWatch} finds a file readable. Each
 * sleep is an object of its own: what is too late for one sleep cannot end the next.
 */
final class ParkSleep implements Sleep, FileWatch.Watcher {
    private static final long CENTURY = TimeUnit.DAYS.toNanos(36_500);

    private final int[] files;
    private final Thread thread = Thread.currentThread();
    // written before over
    private RdmaException failure;
    private volatile boolean over;

    ParkSleep(int[] files) {
        this.files = files;
    }

    @Override
    public void run(Deadline deadline) throws RdmaException {
        FileWatch watch = FileWatch.get();
        int added = 0;
        try {
            while (added < files.length) {
                watch.add(files[added], this);
                added++;
            }
            while (!over && !thread.isInterrupted() && !deadline.hasPassed()) {
                park(deadline.remainingNanos());
            }
        } finally {
            // Before the wait ends, because the files may be closed then.
            while (added > 0) {
                added--;
                watch.remove(files[added], this);
            }
        }
        if (over && failure != null) {
            throw failure;
        }
    }

    /** A wait that will never time out need not bother the timer of the JDK. */
    private void park(long nanos) {
        if (nanos > CENTURY) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, nanos);
        }
    }

    @Override
    public void ready() {
        wake();
    }

    @Override
    public void failed(RdmaException reason) {
        failure = reason;
        wake();
    }

    @Override
    public void wake() {
        over = true;
        LockSupport.unpark(thread);
    }

    @Override
    public void woken() {
    }
}
