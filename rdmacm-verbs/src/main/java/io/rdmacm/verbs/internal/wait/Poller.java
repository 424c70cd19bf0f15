// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import io.rdmacm.verbs.error.RdmaException;

/**
 * Waits for files, until one is readable, {@link #wake()} is called or the thread is interrupted. A platform thread
 * sleeps in poll(2). A virtual thread parks, because a thread in poll(2) would keep its carrier. Only one thread at a
 * time may wait.
 */
public final class Poller implements Sleeper {
    private final int[] files;
    // All fields below are guarded by this.
    // created by the first platform thread that waits
    private PollSleep platform;
    // of the thread that waits; null if there is none
    private Sleep sleep;
    // whether wake() was called in the current wait, or since the last one
    private boolean woken;
    // a wake has not come to its end, because the stack did: the next one tells the thread again
    private boolean telling;
    private boolean closed;

    /**
     * Creates a poller.
     *
     * @param files the file descriptors to wait for; they must stay open until the last wait has ended
     */
    public Poller(int... files) {
        this.files = files.clone();
    }

    @Override
    public void await(long nanos) throws RdmaException, InterruptedException {
        Sleep mine = begin();
        if (mine != null) {
            try {
                mine.run(nanos);
            } finally {
                end(mine);
            }
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    @Override
    public synchronized void wake() {
        if (closed || woken && !telling) {
            return;
        }
        woken = true;
        if (sleep != null) {
            telling = true;
            sleep.wake();
            telling = false;
        }
    }

    @Override
    public synchronized void leaveFiles() throws RdmaException {
        wake();
        if (sleep != null) {
            sleep.abandon();
        }
    }

    @Override
    public synchronized void close() throws RdmaException {
        leaveFiles();
        closed = true;
        if (platform != null) {
            PollSleep ended = platform;
            platform = null;
            ended.close();
        }
    }

    /** Returns the exception for a file that is not open although it should be. */
    static RdmaException notOpen(int file) {
        return new RdmaException("poll", "file descriptor " + file + " was closed outside this library");
    }

    /** Returns the way to sleep; null if the sleep has been ended by a wake or a close already. */
    private synchronized Sleep begin() throws RdmaException {
        if (sleep != null) {
            throw new IllegalStateException("another thread is waiting");
        }
        if (closed) {
            return null;
        }
        if (woken) {
            woken = false;
            return null;
        }
        sleep = Thread.currentThread().isVirtual() ? new ParkSleep(files) : platformSleep();
        return sleep;
    }

    private PollSleep platformSleep() throws RdmaException {
        if (platform == null) {
            platform = new PollSleep(files, this::wake);
        }
        return platform;
    }

    private synchronized void end(Sleep ended) throws RdmaException {
        sleep = null;
        if (woken) {
            woken = false;
            ended.woken();
        }
    }
}
