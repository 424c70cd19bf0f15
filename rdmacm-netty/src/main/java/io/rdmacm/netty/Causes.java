// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.verbs.error.RdmaException;

/** The exceptions that programs over TCP know, for what goes wrong with a stream. */
final class Causes {
    private Causes() {
    }

    /** Returns what a connect fails with. */
    static Throwable ofConnect(Throwable failure) {
        return switch (failure) {
            case RejectedException rejected -> because(rejected, new ConnectException("Connection refused"));
            case UnreachableException unreachable -> because(unreachable,
                    new NoRouteToHostException("No route to host"));
            case RdmaException other when isOneOf(other, Rdma.EHOSTUNREACH(), Rdma.ENETUNREACH()) ->
                    because(other, new NoRouteToHostException("No route to host"));
            case RdmaException other when isOneOf(other, Rdma.ENODEV(), Rdma.EADDRNOTAVAIL()) ->
                    because(other, new ConnectException(other.getMessage()));
            default -> failure;
        };
    }

    /** Returns what a bind fails with. */
    static IOException ofBind(RdmaException failure, InetSocketAddress local) {
        return isOneOf(failure, Rdma.EADDRINUSE(), Rdma.EADDRNOTAVAIL(), Rdma.ENODEV())
                ? because(failure, new BindException("Cannot bind to " + local + ": " + failure.getMessage()))
                : failure;
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
