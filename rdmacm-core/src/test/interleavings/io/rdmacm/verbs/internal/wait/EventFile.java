// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import io.rdmacm.verbs.CompletionChannel;

/** Stands in for the class of this name, in plain Java: readable once it was woken, or while the channel is. */
public final class EventFile implements Wait.Loop {
    private static final int FD = 5;
    private static volatile EventFile last;

    private final CompletionChannel channel;
    private boolean woken;
    private boolean sleptOn;

    private EventFile(CompletionChannel channel) {
        this.channel = channel;
    }

    /** Opens a file for the channel that was opened last, or for none. */
    public static EventFile open(int... files) {
        EventFile file = new EventFile(files.length == 0 ? new CompletionChannel() : CompletionChannel.last());
        last = file;
        return file;
    }

    /** Returns the file that was opened last. */
    public static EventFile last() {
        return last;
    }

    /** Returns a number for messages. */
    public int fd() {
        return FD;
    }

    @Override
    public void wake() {
        set(true);
    }

    @Override
    public void reset() {
        set(false);
    }

    private void set(boolean readable) {
        channel.lock.lock();
        try {
            woken = readable;
            channel.changed.signalAll();
        } finally {
            channel.lock.unlock();
        }
    }

    /** Closes the file. */
    public void close() {
        wake();
    }

    /** What epoll_wait(2) does without a time-out. */
    public void awaitReadable() throws InterruptedException {
        channel.lock.lockInterruptibly();
        try {
            sleptOn = true;
            channel.changed.signalAll();
            while (!woken && !channel.isReadable()) {
                channel.changed.await();
            }
        } finally {
            sleptOn = false;
            channel.lock.unlock();
        }
    }

    /** Waits until a thread sleeps on the file. */
    public void awaitSleep() throws InterruptedException {
        channel.lock.lockInterruptibly();
        try {
            while (!sleptOn) {
                channel.changed.await();
            }
        } finally {
            channel.lock.unlock();
        }
    }
}
