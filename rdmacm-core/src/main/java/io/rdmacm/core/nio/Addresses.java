// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/** Checks of addresses and families, with the exceptions that the channels of the JDK throw. */
final class Addresses {
    // of both families, as any wildcard
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0);

    private static final boolean IPV4_ONLY = Boolean.getBoolean("java.net.preferIPv4Stack");

    private Addresses() {
    }

    /** Returns the family; null for both kinds of internet addresses. */
    static ProtocolFamily requireInternet(@Nullable ProtocolFamily family) {
        Objects.requireNonNull(family, "family");
        if (family != StandardProtocolFamily.INET && family != StandardProtocolFamily.INET6) {
            throw new UnsupportedOperationException("RDMA has no protocol family " + family.name());
        }
        if (family == StandardProtocolFamily.INET6 && IPV4_ONLY) {
            throw new UnsupportedOperationException("java.net.preferIPv4Stack leaves no IPv6");
        }
        return family;
    }

    static InetSocketAddress require(SocketAddress address, @Nullable ProtocolFamily family) {
        Objects.requireNonNull(address, "address");
        if (!(address instanceof InetSocketAddress internet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (internet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        if ((family == StandardProtocolFamily.INET || IPV4_ONLY) && !(internet.getAddress() instanceof Inet4Address)) {
            throw new UnsupportedAddressTypeException();
        }
        return internet;
    }

    /** Returns an address to bind to: any, if the program names none. */
    static InetSocketAddress requireLocal(SocketAddress address, @Nullable ProtocolFamily family) {
        return address == null ? ANY : require(address, family);
    }
}
