// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.net.Inet4Address;

/**
 * The addresses of the IPv4 header that packets of a flow have ({@code struct ibv_flow_spec_ipv4}). Made by {@link
 * FlowMatch}. Immutable.
 */
public final class Ipv4Match extends FlowMatch {
    Ipv4Match(FlowFields fields) {
        super(fields);
    }

    /** The source's address. */
    public Ipv4Match source(Inet4Address address) {
        return new Ipv4Match(fields().with(FlowField.IPV4_SRC_IP, address));
    }

    /** Those bits of {@link #source(Inet4Address)} that are set in a mask. */
    public Ipv4Match source(Inet4Address address, Inet4Address mask) {
        return new Ipv4Match(fields().with(FlowField.IPV4_SRC_IP, address, mask));
    }

    /** The destination's address. */
    public Ipv4Match destination(Inet4Address address) {
        return new Ipv4Match(fields().with(FlowField.IPV4_DST_IP, address));
    }

    /** Those bits of {@link #destination(Inet4Address)} that are set in a mask. */
    public Ipv4Match destination(Inet4Address address, Inet4Address mask) {
        return new Ipv4Match(fields().with(FlowField.IPV4_DST_IP, address, mask));
    }

    @Override
    public Ipv4Match inner() {
        return new Ipv4Match(fields().ofInner());
    }
}
