// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import org.jspecify.annotations.Nullable;

/** Ties a channel to an event loop with an {@link RdmaIoHandler}, which polls and arms the channel itself. */
final class RdmaLink implements LoopLink, RdmaIoHandle {
    private final LoopChannel channel;
    private @Nullable IoRegistration registration;

    RdmaLink(LoopChannel channel) {
        this.channel = channel;
    }

    void start(IoRegistration with) {
        registration = with;
        look();
    }

    @Override
    public LoopChannel channel() {
        return channel;
    }

    @Override
    public void handle(IoRegistration source, IoEvent event) {
        // The handler calls the channel.
    }

    @Override
    public void look() {
        submit(RdmaIoOps.LOOK);
    }

    @Override
    public void touched() {
        submit(RdmaIoOps.LOOK);
    }

    @Override
    public void interest(boolean interested) {
        submit(interested ? RdmaIoOps.WATCH : RdmaIoOps.IGNORE);
    }

    @Override
    public void cancel() {
        if (registration != null) {
            registration.cancel();
        }
    }

    @Override
    public void close() {
        channel.closeForLoop();
    }

    private void submit(RdmaIoOps ops) {
        if (registration != null) {
            registration.submit(ops);
        }
    }
}
