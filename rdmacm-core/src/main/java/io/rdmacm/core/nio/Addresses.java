// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Checks of addresses and families, with the exceptions that the channels of the JDK throw; and what a wildcard stands
 * for.
 */
final class Addresses {
    private static final int IPV6_LENGTH = 16;
    private static final boolean HAS_IPV6 = !Boolean.getBoolean("java.net.preferIPv4Stack")
            && new File("/proc/net/if_inet6").exists();

    private Addresses() {
    }

    /** Returns the family; null for both kinds of internet addresses. */
    static ProtocolFamily requireInternet(@Nullable ProtocolFamily family) {
        Objects.requireNonNull(family, "family");
        if (family != StandardProtocolFamily.INET && family != StandardProtocolFamily.INET6) {
            throw new UnsupportedOperationException("RDMA has no protocol family " + family.name());
        }
        return family;
    }

    private static InetSocketAddress require(SocketAddress address, @Nullable ProtocolFamily family) {
        Objects.requireNonNull(address, "address");
        if (!(address instanceof InetSocketAddress internet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (internet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        if (family == StandardProtocolFamily.INET && !isIpv4(internet)) {
            throw new UnsupportedAddressTypeException();
        }
        return internet;
    }

    static boolean isIpv4(InetSocketAddress address) {
        return address.getAddress() instanceof Inet4Address;
    }

    /** Returns an address to bind a client to: any, if the program names none. */
    static InetSocketAddress requireLocal(SocketAddress address, @Nullable ProtocolFamily family) {
        return address == null ? new InetSocketAddress(wildcard(true), 0) : require(address, family);
    }

    /** Returns an address to listen at: any, if the program names none, and then of both families if it may. */
    static InetSocketAddress requireListening(SocketAddress address, @Nullable ProtocolFamily family) {
        InetSocketAddress local = requireLocal(address, family);
        return local.getAddress().isAnyLocalAddress() && family != StandardProtocolFamily.INET && HAS_IPV6
                ? new InetSocketAddress(wildcard(false), local.getPort()) : local;
    }

    static InetAddress wildcard(boolean ipv4) {
        try {
            return InetAddress.getByAddress(new byte[ipv4 ? Integer.BYTES : IPV6_LENGTH]);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns an address to connect to. The wildcard address stands for this host, as it does for the JDK; RDMA has no
     * loopback interface, so it becomes the first address that belongs to an RDMA device.
     */
    static InetSocketAddress requireRemote(SocketAddress address, @Nullable ProtocolFamily family)
            throws IOException {
        InetSocketAddress remote = require(address, family);
        return remote.getAddress().isAnyLocalAddress() ? new InetSocketAddress(ofThisHost(remote), remote.getPort())
                : remote;
    }

    private static InetAddress ofThisHost(InetSocketAddress wildcard) throws IOException {
        boolean ipv4 = isIpv4(wildcard);
        // A wildcard of IPv6 stands for IPv4 as well.
        List<InetAddress> addresses = NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress()
                        && (!ipv4 || address instanceof Inet4Address))
                .sorted(Comparator.comparing(address -> ipv4 != address instanceof Inet4Address)).toList();
        ConnectException none = new ConnectException("Cannot connect to " + wildcard
                + ", which stands for this host: none of its addresses " + addresses + " is one of an RDMA device");
        for (InetAddress address : addresses) {
            try (RdmaStream stream = RdmaStream.open()) {
                stream.bind(new InetSocketAddress(address, 0));
                return address;
            } catch (RdmaException e) {
                none.addSuppressed(e);
            }
        }
        throw none;
    }
}
