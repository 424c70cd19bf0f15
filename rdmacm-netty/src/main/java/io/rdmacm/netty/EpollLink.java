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
final class EpollLink implements LoopLink, EpollIoHandle {
    // A channel that still has something to do then lets others go first.
    private static final int MOST_TURNS = 8;
    // never reported for the file of a stream; no events at all would remove the file for good
    private static final EpollIoOps NOTHING = EpollIoOps.EPOLLRDHUP;

    private final LoopChannel channel;
    private final EventLoop loop;
    // never closed here: it belongs to the stream
    private final FileDescriptor file;
    private final Runnable settling = this::settleLater;
    private final Runnable looking = this::lookNow;
    @SuppressWarnings("NullAway.Init") // set by start, before anything else happens
    private IoRegistration registration;
    private boolean settlePending;
    private boolean lookPending;
    private boolean busy;
    private boolean cancelled;

    EpollLink(LoopChannel channel, EventLoop loop) throws IOException {
        this.channel = channel;
        this.loop = loop;
        this.file = new FileDescriptor(channel.file());
    }

    void start(IoRegistration with) {
        registration = with;
        registration.submit(EpollIoOps.EPOLLIN);
        look();
    }

    @Override
    public FileDescriptor fd() {
        return file;
    }

    @Override
    public void handle(IoRegistration source, IoEvent event) {
        settle();
    }

    @Override
    public void look() {
        if (!lookPending && !busy) {
            lookPending = true;
            loop.execute(looking);
        }
    }

    @Override
    public void touched() {
        if (settlePending || busy || lookPending) {
            return;
        }
        settlePending = true;
        if (loop instanceof SingleThreadEventLoop single) {
            single.executeAfterEventLoopIteration(settling);
        } else {
            loop.execute(settling);
        }
    }

    @Override
    public void interest(boolean interested) {
        if (registration != null && registration.isValid()) {
            registration.submit(interested ? EpollIoOps.EPOLLIN : NOTHING);
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        if (registration != null) {
            registration.cancel();
        }
    }

    @Override
    public void close() {
        channel.closeForLoop();
    }

    private void lookNow() {
        lookPending = false;
        settle();
    }

    private void settleLater() {
        settlePending = false;
        settle();
    }

    /** Does what can be done, and arms the file. */
    private void settle() {
        if (cancelled) {
            return;
        }
        boolean settled = false;
        busy = true;
        try {
            for (int turn = 0; turn < MOST_TURNS && !settled; turn++) {
                settled = cancelled || !channel.progress() && !spin() && channel.arm();
            }
        } finally {
            busy = false;
        }
        if (!settled && !cancelled) {
            look();
        }
    }

    /** Polls for a while, unless there are tasks for the event loop; returns whether there is something to do. */
    private boolean spin() {
        long nanos = channel.spinNanos();
        if (nanos == 0) {
            return false;
        }
        long begin = System.nanoTime();
        while (!channel.hasNews()) {
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
