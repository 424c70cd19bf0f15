// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

/** A channel with what a {@link java.net.Socket} can do beside: operations in blocking mode that end in time. */
public abstract class TimedSocketChannel extends SocketChannel implements Selectable {
    /** Called by the channels. */
    protected TimedSocketChannel(SelectorProvider provider) {
        super(provider);
    }

    /** Connects; throws SocketTimeoutException when the time has passed. */
    public abstract void connect(SocketAddress remote, Duration timeout) throws IOException;

    /** Reads; throws SocketTimeoutException when the time has passed. */
    public abstract int readWithin(ByteBuffer target, Duration timeout) throws IOException;

    /** Writes all. */
    public abstract void writeAll(ByteBuffer source) throws IOException;

    /** Returns how many bytes can be read without waiting. */
    public abstract int available() throws IOException;

    /** Returns whether it is bound to an address. */
    public abstract boolean isBound();

    /** Returns whether its input was shut down. */
    public abstract boolean isInputEnded();

    /** Returns whether its output was shut down. */
    public abstract boolean isOutputEnded();

    /** Returns the local address, also of a closed channel; null if it is not bound. */
    public abstract @Nullable InetSocketAddress localAddress();

    /** Returns the address of the peer, also of a closed channel; null if it is not connected. */
    public abstract @Nullable InetSocketAddress remoteAddress();

    /** Gives it the keys of the channel that it is a part of, before anybody has registered it. */
    public void share(ChannelKeys shared) {
        throw new UnsupportedOperationException();
    }

    /** Lets interrupts end no operation in blocking mode of a platform thread, as of a socket without a channel. */
    public void ignoreInterrupts() {
        throw new UnsupportedOperationException();
    }

    /** Sends a byte of urgent data. */
    public void sendUrgentData(int data) throws IOException {
        throw new SocketException("Urgent data not supported");
    }
}
