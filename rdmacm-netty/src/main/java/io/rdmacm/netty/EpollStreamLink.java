// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.util.concurrent.RejectedExecutionException;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.rdmacm.core.internal.access.StreamAccess.SharedQueues;
import io.rdmacm.verbs.error.RdmaException;

/** Ties a stream channel to an event loop with Netty's EpollIoHandler, where {@link EpollStreams} stand for all. */
final class EpollStreamLink extends LoopLink {
    private final EpollStreams streams;
    private final Runnable activation = this::progressSoon;
    private boolean active;
    private volatile boolean cancelled;

    EpollStreamLink(AbstractRdmaChannel channel, IoEventLoop loop) throws RdmaException {
        super(channel);
        streams = EpollStreams.of(loop, channel.queues());
        streams.add(this);
        progressSoon();
    }

    @Override
    void start(IoRegistration with) {
        throw new IllegalStateException("not registered itself");
    }

    @Override
    public void handle(IoRegistration source, IoEvent event) {
        // not registered itself
    }

    @Override
    SharedQueues queues() {
        return streams.queues();
    }

    @Override
    void progressSoon() {
        if (!active && !cancelled) {
            active = true;
            streams.activate(this);
        }
    }

    /** Called by the streams, which have removed this from those that are active. */
    boolean progress() {
        active = false;
        if (cancelled || !channel.progress()) {
            return false;
        }
        progressSoon();
        return true;
    }

    @Override
    void changed() {
        if (cancelled) {
            return;
        }
        if (streams.loop().inEventLoop()) {
            progressSoon();
        } else {
            executeOrIgnore(streams.loop(), activation);
        }
    }

    @Override
    void used() {
        streams.used(this);
    }

    @Override
    void watch(boolean wanted) {
        // has no file
    }

    @Override
    void cancel() {
        cancelled = true;
        if (streams.loop().inEventLoop()) {
            streams.remove(this);
            return;
        }
        try {
            streams.loop().execute(() -> streams.remove(this));
        } catch (RejectedExecutionException e) {
            // The event loop has ended.
            streams.remove(this);
        }
    }
}
