// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.util.concurrent.Future;
import io.rdmacm.core.internal.access.StreamAccess.SharedQueues;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The registration of a channel with its event loop. Used in the thread of the event loop. */
abstract class LoopRegistration {
    private static final Logger LOG = LoggerFactory.getLogger(LoopRegistration.class);

    final AbstractRdmaChannel channel;

    LoopRegistration(AbstractRdmaChannel channel) {
        this.channel = channel;
    }

    /** Returns whether channels can be registered with this event loop. */
    static boolean isPossible(EventLoop loop) {
        return loop instanceof IoEventLoop io
                && (io.isCompatible(RdmaIoHandle.class) || io.isCompatible(EpollIoHandle.class));
    }

    /**
     * Registers a channel with an event loop. Called in its thread.
     *
     * @param failed told if the event loop does not take the channel
     */
    static LoopRegistration create(AbstractRdmaChannel channel, EventLoop loop, Consumer<Throwable> failed)
            throws IOException {
        IoEventLoop io = (IoEventLoop) loop;
        if (!io.isCompatible(RdmaIoHandle.class)) {
            return new EpollRegistration(channel, io);
        }
        RdmaIoHandle handle = new RdmaIoHandle(channel);
        Future<IoRegistration> registration = io.register(handle);
        if (registration.isSuccess()) {
            // At once, so that an event cannot find the channel without its registration.
            handle.start(registration.getNow());
        } else {
            registration.addListener(future -> {
                if (future.isSuccess()) {
                    handle.start(registration.getNow());
                } else {
                    failed.accept(future.cause());
                }
            });
        }
        return handle;
    }

    /** Has the channel do soon what it can do. */
    abstract void progressSoon();

    /** The stream may have become ready for something. Called by any thread; neither throws nor waits. */
    abstract void changed();

    /** The stream was written, so that an answer may come soon. */
    abstract void used();

    /** Returns the queues for the streams of the event loop, for a channel that shares them. */
    abstract SharedQueues queues();

    /** Has a task run, unless the event loop has ended. */
    static void executeOrIgnore(Executor loop, Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.trace("an event loop has ended", e);
        }
    }

    /**
     * Has a task run at the end of this iteration of the event loop, to execute another one for the next iteration.
     * That one would be part of this iteration if it was executed at once, and if it went on like that, keep the event
     * loop from its files, for up to a second with Netty's settings.
     */
    static void executeAfterIteration(EventLoop loop, Runnable task) {
        if (loop instanceof SingleThreadEventLoop single) {
            single.executeAfterEventLoopIteration(task);
        } else {
            task.run();
        }
    }

    /** The file has or has no longer to be watched, because the channel does or does not want to know of it. */
    abstract void watch(boolean wanted);

    /** Ends the handle. May be called from any thread. */
    abstract void cancel();

    /** The event loop is ending. */
    public final void close() {
        channel.closeForLoop();
    }
}
