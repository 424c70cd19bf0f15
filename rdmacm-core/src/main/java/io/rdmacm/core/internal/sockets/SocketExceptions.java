// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.sockets;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/** The exceptions of {@link java.net} for failures of streams, which become their causes. */
public final class SocketExceptions {
    private SocketExceptions() {
    }

    /**
     * Returns what to throw for a failure to connect.
     *
     * @param failure what happened
     * @param remote where to
     * @return the exception; the failure itself if sockets know nothing like it
     */
    public static IOException ofConnect(IOException failure, SocketAddress remote) {
        return switch (failure) {
            case RejectedException rejected -> because(rejected,
                    new ConnectException("Connection refused by " + remote + ": " + rejected.getMessage()));
            case DisconnectedException gone -> because(gone,
                    new ConnectException("Connection reset by " + remote + ": " + gone.getMessage()));
            case UnreachableException unreachable -> because(unreachable,
                    new NoRouteToHostException("No route to " + remote + ": " + unreachable.getMessage()));
            case RdmaTimeoutException timeout -> because(timeout,
                    new ConnectException("Connection to " + remote + " timed out: " + timeout.getMessage()));
            case RdmaException other when isOneOf(other, Rdma.EHOSTUNREACH(), Rdma.ENETUNREACH()) ->
                    because(other, new NoRouteToHostException("No route to " + remote + ": " + other.getMessage()));
            case RdmaException other when isOneOf(other, Rdma.ENODEV(), Rdma.EADDRNOTAVAIL()) ->
                    because(other, new ConnectException("Cannot connect to " + remote + ": " + other.getMessage()));
            default -> failure;
        };
    }

    /**
     * Returns what to throw for a failure to bind.
     *
     * @param failure what happened
     * @param local the address that was to be bound
     * @return the exception; the failure itself if sockets know nothing like it
     */
    public static IOException ofBind(RdmaException failure, SocketAddress local) {
        return isOneOf(failure, Rdma.EADDRINUSE(), Rdma.EADDRNOTAVAIL(), Rdma.ENODEV())
                ? because(failure, new BindException("Cannot bind to " + local + ": " + failure.getMessage()))
                : failure;
    }

    /**
     * Returns what to throw when the time that a program gave has passed.
     *
     * @param message what did not happen in time
     * @param cause the exception of the stream
     * @return the exception
     */
    public static SocketTimeoutException timedOut(String message, RdmaTimeoutException cause) {
        return because(cause, new SocketTimeoutException(message));
    }

    private static boolean isOneOf(RdmaException failure, int... errors) {
        for (int error : errors) {
            if (failure.errno() == error) {
                return true;
            }
        }
        return false;
    }

    private static <T extends IOException> T because(IOException cause, T failure) {
        failure.initCause(cause);
        return failure;
    }
}
