// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.testing.Interleavings;

/** Stands in for the class of this name, in plain Java, on the file of the channel that was opened last. */
public final class Poller implements Sleeper {
    private final CompletionChannel channel = CompletionChannel.last();
    private boolean sleeping;
    private boolean woken;
    private boolean closed;

    /** Creates a place to sleep. */
    public Poller(int... files) {
        // there is one channel
    }

    @Override
    public void await(long nanos) throws InterruptedException {
        Interleavings.point();
        channel.lock.lockInterruptibly();
        try {
            if (sleeping) {
                throw new AssertionError("two sleep in one place");
            }
            sleeping = true;
            try {
                long left = nanos;
                while (!closed && !woken && !channel.isReadable() && left > 0) {
                    left = channel.changed.awaitNanos(left);
                }
            } finally {
                sleeping = false;
                woken = false;
            }
        } finally {
            channel.lock.unlock();
        }
    }

    @Override
    public void wake() {
        channel.lock.lock();
        try {
            woken = true;
            channel.changed.signalAll();
        } finally {
            channel.lock.unlock();
        }
    }

    @Override
    public void close() {
        channel.lock.lock();
        try {
            closed = true;
            channel.changed.signalAll();
        } finally {
            channel.lock.unlock();
        }
    }
}
