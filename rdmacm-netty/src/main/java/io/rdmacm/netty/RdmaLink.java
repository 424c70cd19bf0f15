// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import org.jspecify.annotations.Nullable;

/** Ties a channel to an event loop with an {@link RdmaIoHandler}, which polls and arms the channel itself. */
final class RdmaLink extends LoopLink {
    private @Nullable IoRegistration registration;
    // what the handler has made of it
    private RdmaIoHandler.@Nullable Registration polled;

    RdmaLink(AbstractRdmaChannel channel) {
        super(channel);
    }

    @Override
    void start(IoRegistration with) {
        registration = with;
        polled = with.attachment();
        progressSoon();
    }

    @Override
    public void handle(IoRegistration source, IoEvent event) {
        // The handler calls the channel.
    }

    @Override
    void progressSoon() {
        if (polled != null) {
            polled.poll();
        }
    }

    @Override
    void armSoon() {
        progressSoon();
    }

    @Override
    void watch(boolean wanted) {
        if (polled != null) {
            polled.watch(wanted);
        }
    }

    @Override
    void cancel() {
        if (registration != null) {
            registration.cancel();
        }
    }
}
