// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;

import io.netty.channel.IoEventLoop;
import io.rdmacm.core.internal.access.StreamAccess.SharedQueues;

/**
 * The registration of a channel with an event loop that has Netty's EpollIoHandler, where {@link EpollStreams} stand
 * for all streams, and others for each server.
 */
final class EpollRegistration extends LoopRegistration {
    private final EpollStreams streams;
    private final Runnable activation = this::progressSoon;
    private boolean active;
    private volatile boolean cancelled;

    EpollRegistration(AbstractRdmaChannel channel, IoEventLoop loop) throws IOException {
        super(channel);
        int file = channel.file();
        streams = EpollStreams.of(loop, file < 0 ? channel.queues() : new OwnFile(file));
        streams.add(this);
        progressSoon();
    }

    /** The file of a server, in place of queues. */
    private final class OwnFile implements SharedQueues {
        private final int file;

        OwnFile(int file) {
            this.file = file;
        }

        @Override
        public boolean poll() {
            // The channel looks for itself.
            progressSoon();
            return false;
        }

        @Override
        public boolean arm() {
            return channel.arm();
        }

        @Override
        public int fd() {
            return file;
        }

        @Override
        public void close() {
            // It belongs to the server.
        }
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
        streams.watch(wanted);
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
