// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;
import java.util.function.Consumer;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.util.concurrent.Future;

/** Makes the links that fit an event loop. */
final class LoopLinks {
    private LoopLinks() {
    }

    /** Returns whether there are links to this event loop. */
    static boolean areCompatible(EventLoop loop) {
        return loop instanceof IoEventLoop io
                && (io.isCompatible(RdmaIoHandle.class) || io.isCompatible(EpollIoHandle.class));
    }

    /**
     * Links a channel to an event loop. Called in its thread.
     *
     * @param failed told if the event loop does not take the channel
     */
    static LoopLink link(LoopChannel channel, EventLoop loop, Consumer<Throwable> failed) throws IOException {
        IoEventLoop io = (IoEventLoop) loop;
        if (io.isCompatible(RdmaIoHandle.class)) {
            RdmaLink link = new RdmaLink(channel);
            register(io, link, link::start, failed);
            return link;
        }
        EpollLink link = new EpollLink(channel, loop);
        register(io, link, link::start, failed);
        return link;
    }

    private static void register(IoEventLoop loop, IoHandle handle, Consumer<IoRegistration> registered,
            Consumer<Throwable> failed) {
        Future<IoRegistration> registration = loop.register(handle);
        if (registration.isSuccess()) {
            // At once, so that an event cannot find the channel without its registration.
            registered.accept(registration.getNow());
        } else {
            registration.addListener(future -> {
                if (future.isSuccess()) {
                    registered.accept(registration.getNow());
                } else {
                    failed.accept(future.cause());
                }
            });
        }
    }
}
