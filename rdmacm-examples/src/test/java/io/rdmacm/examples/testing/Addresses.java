// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.net.InetAddress;
import java.util.Optional;

import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.Requirements;

/** The addresses of the RDMA device. */
public final class Addresses {
    private Addresses() {
    }

    /** Returns an IPv6 or IPv4 address of the device. Skips the test if an IPv6 address is wanted and there is none. */
    public static InetAddress of(boolean ipv6) {
        if (!ipv6) {
            return RdmaTestDevice.get().ipv4();
        }
        Optional<? extends InetAddress> found = RdmaTestDevice.get().ipv6();
        Requirements.require(found.isPresent(), "the network interface of the RDMA device has no IPv6 address");
        return found.get();
    }

    /** Returns the IPv4 address of the device as text. */
    public static String ipv4() {
        return of(false).getHostAddress();
    }
}
