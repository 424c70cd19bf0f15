// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/** The exceptions of channels for what goes wrong in a stream. */
final class Causes {
    private Causes() {
    }

    /** Throws ClosedChannelException if the channel is closed. */
    static void requireOpen(Channel channel) throws ClosedChannelException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** An operation that may wait: if this thread has been interrupted, closes the channel and throws. */
    static void requireNotInterrupted(Channel channel) throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted(channel);
        }
    }

    /** Closes the channel, because this thread was interrupted while it waited for it. */
    static ClosedByInterruptException interrupted(Channel channel) throws IOException {
        Thread.currentThread().interrupt();
        channel.close();
        return new ClosedByInterruptException();
    }

    /**
     * Returns what to throw for the failure of an operation of a channel that was open when it began, which may have
     * been closed since: a stream that is closed is in the wrong state, too.
     */
    static IOException of(Channel channel, Exception failure) throws IOException {
        if (failure instanceof InterruptedException) {
            return interrupted(channel);
        }
        if (!channel.isOpen()) {
            return closed();
        }
        if (failure instanceof RuntimeException wrongState) {
            throw wrongState;
        }
        return (IOException) failure;
    }

    /** Returns what sockets throw when a timeout has passed. */
    static SocketTimeoutException timedOut(String message, RdmaTimeoutException cause) {
        return because(cause, new SocketTimeoutException(message));
    }

    private static IOException closed() {
        // Another thread has closed the channel, because it, or its interrupt of this thread, wanted to.
        return Thread.currentThread().isInterrupted() ? new ClosedByInterruptException()
                : new AsynchronousCloseException();
    }

    /** Returns what to throw for a failure to connect. */
    static IOException ofConnect(IOException failure, InetSocketAddress remote) {
        return switch (failure) {
            case RejectedException rejected -> because(rejected,
                    new ConnectException("Connection refused by " + remote + ": " + rejected.getMessage()));
            case UnreachableException unreachable -> because(unreachable,
                    new NoRouteToHostException("No route to " + remote + ": " + unreachable.getMessage()));
            case RdmaTimeoutException timeout -> because(timeout,
                    new ConnectException("Connection to " + remote + " timed out: " + timeout.getMessage()));
            case RdmaException other when other.errno() == Rdma.EHOSTUNREACH() || other.errno() == Rdma.ENETUNREACH() ->
                    because(other, new NoRouteToHostException("No route to " + remote + ": " + other.getMessage()));
            case RdmaException other when other.errno() == Rdma.ENODEV() || other.errno() == Rdma.EADDRNOTAVAIL() ->
                    because(other, new ConnectException("Cannot connect to " + remote + ": " + other.getMessage()));
            default -> failure;
        };
    }

    /** Returns what to throw for a failure to bind. */
    static IOException ofBind(RdmaException failure, InetSocketAddress local) {
        return failure.errno() == Rdma.EADDRINUSE() || failure.errno() == Rdma.EADDRNOTAVAIL()
                || failure.errno() == Rdma.ENODEV()
                ? because(failure, new BindException("Cannot bind to " + local + ": " + failure.getMessage()))
                : failure;
    }

    private static <T extends IOException> T because(IOException cause, T failure) {
        failure.initCause(cause);
        return failure;
    }
}
