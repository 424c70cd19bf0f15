// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.rdmacm.verbs.internal.wait.Spin;

/**
 * Ties a channel to an event loop with Netty's EpollIoHandler. That one knows nothing of arming, so a stream is armed
 * whenever the channel has been dealt with: after an event, and after an iteration of the loop in which a task used it.
 */
final class EpollLink extends LoopLink implements EpollIoHandle {
    // A channel that still has something to do then lets others go first.
    private static final int MOST_TURNS = 8;
    // never reported for the file of a stream; no events at all would remove the file for good
    private static final EpollIoOps NOTHING = EpollIoOps.EPOLLRDHUP;

    private final EventLoop loop;
    // never closed here: it belongs to the stream
    private final FileDescriptor file;
    private final Runnable progressTask = this::progressNow;
    private final Runnable armTask = this::armNow;
    @SuppressWarnings("NullAway.Init") // set by start, before anything else happens
    private IoRegistration registration;
    private boolean progressPending;
    private boolean armPending;
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
    void armSoon() {
        if (armPending || busy || progressPending) {
            return;
        }
        armPending = true;
        if (loop instanceof SingleThreadEventLoop single) {
            single.executeAfterEventLoopIteration(armTask);
        } else {
            loop.execute(armTask);
        }
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

    private void progressNow() {
        progressPending = false;
        progressAndArm();
    }

    private void armNow() {
        armPending = false;
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
                armed = cancelled || !channel.progress() && !spin() && channel.arm();
            }
        } finally {
            busy = false;
        }
        if (!armed && !cancelled) {
            progressSoon();
        }
    }

    /** Polls for a while, unless there are tasks for the event loop; returns whether there is something to do. */
    private boolean spin() {
        long nanos = channel.spinNanos();
        if (nanos == 0) {
            return false;
        }
        long begin = System.nanoTime();
        while (!channel.canProgress()) {
            if (System.nanoTime() - begin >= nanos || hasTasks()) {
                return false;
            }
            Spin.pause();
        }
        return true;
    }

    private boolean hasTasks() {
        return loop instanceof SingleThreadEventExecutor single && single.pendingTasks() > 0;
    }
}
