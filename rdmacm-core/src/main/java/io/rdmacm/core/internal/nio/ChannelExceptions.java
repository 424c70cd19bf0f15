// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;

/** The exceptions of channels that are closed, or whose threads are interrupted. */
public final class ChannelExceptions {
    private ChannelExceptions() {
    }

    /** Throws ClosedChannelException if the channel is closed. */
    public static void requireOpen(Channel channel) throws ClosedChannelException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** An operation that may wait: if this thread has been interrupted, closes the channel and throws. */
    public static void requireNotInterrupted(Channel channel) throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted(channel);
        }
    }

    /** Closes the channel, because this thread was interrupted while it waited for it. */
    private static ClosedByInterruptException interrupted(Channel channel) throws IOException {
        Thread.currentThread().interrupt();
        channel.close();
        return new ClosedByInterruptException();
    }

    /**
     * Returns what to throw for the failure of an operation of a channel that was open when it began, which may have
     * been closed since: a stream that is closed is in the wrong state, too.
     */
    public static IOException of(Channel channel, Exception failure) throws IOException {
        if (failure instanceof InterruptedException) {
            return interrupted(channel);
        }
        if (!channel.isOpen()) {
            // Another thread has closed the channel, because it, or its interrupt of this thread, wanted to.
            return Thread.currentThread().isInterrupted() ? new ClosedByInterruptException()
                    : new AsynchronousCloseException();
        }
        if (failure instanceof RuntimeException wrongState) {
            throw wrongState;
        }
        return (IOException) failure;
    }
}
