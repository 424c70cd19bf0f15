// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.net.InetAddress;
import java.util.Optional;

import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.Requirements;

/** The addresses of the RDMA device. */
public final class Addresses {
    private Addresses() {
    }

    /** One of the device; a test is skipped where it has none of IPv6. */
    public static InetAddress of(boolean ipv6) {
        if (!ipv6) {
            return RdmaTestDevice.get().ipv4();
        }
        Optional<? extends InetAddress> found = RdmaTestDevice.get().ipv6();
        Requirements.require(found.isPresent(), "the network interface of the RDMA device has no IPv6 address");
        return found.get();
    }

    /** An IPv4 address of the device, as text. */
    public static String ipv4() {
        return of(false).getHostAddress();
    }
}
