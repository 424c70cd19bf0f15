// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.io.File;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Comparator;
import java.util.List;

import io.rdmacm.verbs.internal.ffi.Hints;

/**
 * What the wildcard addresses stand for. For the connection manager, that of IPv4 is one family only, and neither leads
 * anywhere; for programs in Java they are any address of both families, and this host.
 */
public final class Wildcard {
    private static final boolean HAS_IPV6 = !Boolean.getBoolean("java.net.preferIPv4Stack")
            && new File("/proc/net/if_inet6").exists();

    private Wildcard() {
    }

    /**
     * Returns where to listen for both families if the address is a wildcard. For iWARP no address means both: what the
     * program has named is left.
     */
    public static InetSocketAddress ofBothFamilies(InetSocketAddress local) {
        return isAny(local) && HAS_IPV6 && !Hints.hasIwarp() ? new InetSocketAddress(of(false), local.getPort())
                : local;
    }

    /** Returns whether an address is a wildcard; one that is not resolved is none. */
    public static boolean isAny(InetSocketAddress address) {
        return !address.isUnresolved() && address.getAddress().isAnyLocalAddress();
    }

    /** Returns whether an address is of IPv4. */
    public static boolean isIpv4(InetSocketAddress address) {
        return address.getAddress() instanceof Inet4Address;
    }

    /** Returns the wildcard address of a family. */
    public static InetAddress of(boolean ipv4) {
        return InetAddress.ofLiteral(ipv4 ? "0.0.0.0" : "::");
    }

    /** Returns the addresses of this host that a wildcard may stand for: that of IPv6 is any address. */
    static List<InetAddress> ofThisHost(InetSocketAddress wildcard) {
        boolean ipv4 = isIpv4(wildcard);
        try {
            return NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress()
                            && (!ipv4 || address instanceof Inet4Address))
                    .sorted(Comparator.comparing(address -> ipv4 != address instanceof Inet4Address)).toList();
        } catch (SocketException e) {
            return List.of();
        }
    }
}
