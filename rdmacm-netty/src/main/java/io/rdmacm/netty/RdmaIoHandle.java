// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.util.Objects;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;
import io.rdmacm.core.internal.access.StreamAccess.SharedQueues;
import org.jspecify.annotations.Nullable;

/** The registration of a channel with an {@link RdmaIoHandler}, which polls and arms the channel itself. */
final class RdmaIoHandle extends LoopRegistration implements IoHandle {
    private @Nullable IoRegistration registration;
    // what the handler has made of it
    private volatile RdmaIoHandler.@Nullable Registration polled;

    RdmaIoHandle(AbstractRdmaChannel channel) {
        super(channel);
    }

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
        RdmaIoHandler.Registration target = polled;
        if (target != null) {
            target.poll();
        }
    }

    @Override
    void changed() {
        RdmaIoHandler.Registration target = polled;
        if (target != null) {
            target.changed();
        }
    }

    @Override
    void used() {
        RdmaIoHandler.Registration target = polled;
        if (target != null) {
            target.used();
        }
    }

    @Override
    SharedQueues queues() {
        return Objects.requireNonNull(polled, "not registered").queues();
    }

    @Override
    void watch(boolean wanted) {
        RdmaIoHandler.Registration target = polled;
        if (target != null) {
            target.watch(wanted);
        }
    }

    @Override
    void cancel() {
        if (registration != null) {
            registration.cancel();
        }
    }
}
