// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.rdmacm.core.internal.access.StreamAccess.SharedQueues;

/** Ties a channel with a file of its own, a server, to an event loop with Netty's EpollIoHandler. */
final class EpollLink extends LoopLink implements EpollIoHandle {
    // A channel that still has something to do then lets others go first.
    private static final int MOST_TURNS = 8;
    // never reported for the file of a stream; no events at all would remove the file for good
    private static final EpollIoOps NOTHING = EpollIoOps.EPOLLRDHUP;

    private final EventLoop loop;
    // never closed here: it belongs to the stream
    private final FileDescriptor file;
    private final Runnable progressTask = this::progressNow;
    private final Runnable nextTask = this::progressInNextIteration;
    @SuppressWarnings("NullAway.Init") // set by start, before anything else happens
    private IoRegistration registration;
    private boolean progressPending;
    private boolean busy;
    private boolean cancelled;

    EpollLink(AbstractRdmaChannel channel, EventLoop loop) throws IOException {
        super(channel);
        this.loop = loop;
        this.file = new FileDescriptor(channel.file());
    }

    @Override
    void start(IoRegistration with) {
        registration = with;
        registration.submit(EpollIoOps.EPOLLIN);
        progressSoon();
    }

    @Override
    public FileDescriptor fd() {
        return file;
    }

    @Override
    public void handle(IoRegistration source, IoEvent event) {
        progressAndArm();
    }

    @Override
    void progressSoon() {
        if (!progressPending && !busy) {
            progressPending = true;
            loop.execute(progressTask);
        }
    }

    @Override
    void changed() {
        throw new IllegalStateException("the channel has a file");
    }

    @Override
    void used() {
        throw new IllegalStateException("the channel has a file");
    }

    @Override
    SharedQueues queues() {
        throw new IllegalStateException("the channel has a file");
    }

    @Override
    void watch(boolean wanted) {
        if (registration != null && registration.isValid()) {
            registration.submit(wanted ? EpollIoOps.EPOLLIN : NOTHING);
        }
    }

    @Override
    void cancel() {
        cancelled = true;
        if (registration != null) {
            registration.cancel();
        }
    }

    private void progressInNextIteration() {
        executeOrIgnore(loop, progressTask);
    }

    private void progressNow() {
        progressPending = false;
        progressAndArm();
    }

    private void progressAndArm() {
        if (cancelled) {
            return;
        }
        boolean armed = false;
        busy = true;
        try {
            for (int turn = 0; turn < MOST_TURNS && !armed; turn++) {
                armed = cancelled || !channel.progress() && channel.arm();
            }
        } finally {
            busy = false;
        }
        if (!armed && !cancelled && !progressPending) {
            progressPending = true;
            executeAfterIteration(loop, nextTask);
        }
    }
}
