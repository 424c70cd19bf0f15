// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import org.jspecify.annotations.Nullable;

/** Turns failures of the connection manager into exceptions. */
final class CmFailures {
    private static final Set<Integer> UNREACHABLE = Set.of(Rdma.ENETUNREACH(), Rdma.EHOSTUNREACH(),
            Rdma.EADDRNOTAVAIL(), Rdma.ENETDOWN(), Rdma.EHOSTDOWN());

    private CmFailures() {
    }

    /** Checks the result of a function that returns -1 and sets errno. */
    static void check(NativeFunction function, int result, String detail) throws RdmaException {
        if (result == -1) {
            int errno = Check.cause();
            if (errno == Rdma.ECONNREFUSED()) {
                throw new RejectedException(function.name(), detail);
            }
            throw UNREACHABLE.contains(errno)
                    ? new UnreachableException(function.name(), errno, detail)
                    : Failures.of(function.name(), errno, detail);
        }
    }

    /**
     * Checks the result of a function that binds an id. The kernel says EADDRNOTAVAIL also if the port is in use and
     * one of the two addresses is the wildcard.
     *
     * @param local the address to bind to; null to let the kernel choose
     */
    static void checkBind(NativeFunction function, int result, @Nullable SocketAddress local, String detail)
            throws RdmaException {
        if (result == -1 && Check.cause() == Rdma.EADDRNOTAVAIL() && isLocal(local)) {
            throw Failures.of(function.name(), Rdma.EADDRINUSE(), detail);
        }
        check(function, result, detail);
    }

    /**
     * Checks the result of a function that resolves an address. The kernel says EINVAL when the only devices are of
     * iWARP and the peer is a loopback address, to which none of them leads.
     *
     * @param local the address to bind to; null to let the kernel choose
     */
    static void checkResolve(NativeFunction function, int result, @Nullable SocketAddress local, SocketAddress peer)
            throws RdmaException {
        String detail = describe(peer) + (local == null ? "" : " from " + describe(local));
        if (result == -1 && Check.cause() == Rdma.EINVAL() && peer instanceof InetSocketAddress inet
                && inet.getAddress().isLoopbackAddress()) {
            throw new UnreachableException(function.name(), Rdma.EINVAL(), detail);
        }
        checkBind(function, result, local, detail);
    }

    /** Returns an address as text, and what is missing in it. */
    static String describe(SocketAddress address) {
        return SocketAddresses.lacksScope(address)
                ? address + ", which needs the name of its interface: fe80::1%eth0" : address.toString();
    }

    /** Returns whether this host has an address. */
    private static boolean isLocal(@Nullable SocketAddress address) {
        try {
            return address instanceof InetSocketAddress inet && (inet.getAddress().isAnyLocalAddress()
                    || NetworkInterface.getByInetAddress(inet.getAddress()) != null);
        } catch (SocketException e) {
            return false;
        }
    }

    /** Returns the exception for an event that arrived in place of the expected one. */
    static RdmaException of(CmEventType event, int status, byte[] privateData, String waitedFor) {
        return switch (event) {
            case REJECTED -> new RejectedException(waitedFor, status, privateData);
            case ADDR_ERROR, ROUTE_ERROR, UNREACHABLE -> new UnreachableException(waitedFor, event, status);
            // negative from the kernel, positive from librdmacm
            case ADDRINFO_ERROR -> new UnreachableException(waitedFor, event, -Math.abs(status));
            case DEVICE_REMOVAL -> new DeviceRemovedException(waitedFor);
            // -1 is no error number: the peer has answered, but librdmacm's own next step has failed, as it does when
            // the peer has gone meanwhile.
            case CONNECT_ERROR -> status == -1
                    ? new DisconnectedException(waitedFor + ": " + event + ", status -1, the queue pair cannot be"
                            + " connected any more", DisconnectedException.Reason.PEER_GAVE_UP, null)
                    : other(event, status, waitedFor);
            default -> other(event, status, waitedFor);
        };
    }

    private static RdmaException other(CmEventType event, int status, String waitedFor) {
        return new RdmaException("rdma_get_cm_event", waitedFor + ": " + event + ", status " + describe(status));
    }

    static String describe(int status) {
        return status < 0 ? status + " (" + Errno.name(-status) + ", " + Errno.text(-status) + ")" : "" + status;
    }
}
