// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectionKey;

import org.jspecify.annotations.Nullable;

/** A channel's registration with an {@link RdmaSelector}, which owns all fields but the sets of operations. */
final class RdmaSelectionKey extends AbstractSelectionKey {
    private final RdmaSelector selector;
    private final SelectableChannel channel;
    private final Selectable source;
    private volatile int interest;
    private volatile int ready;

    // Whether the selector is going to check the channel by itself. Written by the thread that selects. It clears the
    // mark before it checks for the last time: whoever changes something first and then finds the mark set knows that
    // it will be seen.
    private volatile boolean listed;

    /** Whether the key is in the queue; guarded by the selector's lock. */
    boolean queued;
    /** The next one in the queue; guarded by the selector's lock. */
    @Nullable RdmaSelectionKey next;
    /** What epoll calls the file of the channel by, 0 if the selector does not have it; guarded by the lock. */
    long token;
    /** The file, as long as there is a token; guarded by the selector's lock. */
    int file;
    /** The events that the file is watched for, if the channel is a reported one; guarded by the selector's lock. */
    int watched;
    /** The events that epoll has reported; of the thread that selects. */
    int events;
    /** Whether the channel is closed, or the key cancelled; guarded by the selector's lock. */
    boolean detached;

    RdmaSelectionKey(RdmaSelector selector, SelectableChannel channel, Selectable source, int interest,
            Object attachment) {
        this.selector = selector;
        this.channel = channel;
        this.source = source;
        this.interest = interest;
        attach(attachment);
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    @Override
    public RdmaSelector selector() {
        return selector;
    }

    @Override
    public int interestOps() {
        requireValid();
        return interest;
    }

    @Override
    public SelectionKey interestOps(int ops) {
        requireValid();
        if ((ops & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException("operations " + ops + ", but the channel has only "
                    + channel.validOps());
        }
        interest = ops;
        if (!listed) {
            selector.queue(this, false);
        }
        return this;
    }

    @Override
    public int readyOps() {
        requireValid();
        return ready;
    }

    private void requireValid() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    Selectable source() {
        return source.current();
    }

    ChannelKeys keys() {
        return source.keys();
    }

    int interest() {
        return interest;
    }

    /** Returns the operations that are both wanted and possible now. */
    int pollReadyOps() {
        int wanted = interest;
        // Even if nothing is wanted: it makes the file unreadable, which otherwise would be reported again and again.
        int possible = source().readyOps();
        source.keys().recheckOthers(this);
        return possible & wanted;
    }

    boolean wantsNothing() {
        return interest == 0;
    }

    void ready(int ops) {
        ready = ops;
    }

    int ready() {
        return ready;
    }

    boolean isListed() {
        return listed;
    }

    void listed(boolean on) {
        listed = on;
    }

    /** See {@link ChannelKeys#recheck}. A selector that sleeps is woken only if it has something to report. */
    void recheck() {
        if (listed || interest == 0 || selector.queueUnlessAsleep(this)) {
            return;
        }
        if ((source().readyOps() & interest) != 0 || !arm()) {
            selector.queue(this, true);
        }
    }

    private boolean arm() {
        try {
            Selectable current = source();
            return current.isArmedBySelector() || current.arm();
        } catch (IOException e) {
            // The selector is told, too.
            return false;
        }
    }

    /** See {@link ChannelKeys#changed}. */
    void channelChanged() {
        selector.queue(this, true);
    }

    void detach() {
        selector.detach(this, true);
    }

    void release() {
        selector.detach(this, false);
    }

    void deregistered() throws IOException {
        source.deregistered();
    }
}
