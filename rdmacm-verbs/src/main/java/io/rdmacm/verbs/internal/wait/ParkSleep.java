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
    // guarded by this: null before the files are watched, and whether they may not be watched any more
    private FileWatch watching;
    private boolean abandoned;

    ParkSleep(int[] files) {
        this.files = files;
    }

    @Override
    public void run(long nanos) throws RdmaException {
        long start = System.nanoTime();
        try {
            watch();
            long left = nanos;
            while (!over && !thread.isInterrupted() && left > 0) {
                park(left);
                left = nanos - (System.nanoTime() - start);
            }
        } finally {
            // Before the wait ends, because the files may be closed then.
            abandon();
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

    private synchronized void watch() throws RdmaException {
        if (abandoned) {
            over = true;
            return;
        }
        watching = FileWatch.get();
        for (int file : files) {
            while (!watching.add(file, this)) {
                watching = FileWatch.get();
            }
        }
    }

    @Override
    public synchronized void abandon() throws RdmaException {
        abandoned = true;
        FileWatch watch = watching;
        watching = null;
        if (watch != null) {
            for (int file : files) {
                watch.remove(file, this);
            }
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
