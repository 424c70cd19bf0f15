// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

/** A channel with what a {@link java.net.ServerSocket} can do beside. */
public abstract class TimedServerSocketChannel extends ServerSocketChannel implements Selectable {
    /** Called by the channels. */
    protected TimedServerSocketChannel(SelectorProvider provider) {
        super(provider);
    }

    /**
     * Accepts: without waiting if the timeout is null, and returns null if there is nothing to accept. Throws
     * SocketTimeoutException when the time has passed.
     */
    public abstract @Nullable SocketChannel accept(@Nullable Duration timeout) throws IOException;

    /** Returns the local address, also of a closed channel; null if it is not bound. */
    public abstract @Nullable InetSocketAddress localAddress();
}
