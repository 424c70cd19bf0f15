// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.net.Inet6Address;

/**
 * The IPv6 header that packets of a flow have ({@code struct ibv_flow_spec_ipv6}). Made by {@link FlowMatch}.
 * Immutable.
 */
public final class Ipv6Match extends FlowMatch {
    Ipv6Match(FlowFields fields) {
        super(fields);
    }

    /** The source's address. */
    public Ipv6Match source(Inet6Address address) {
        return new Ipv6Match(fields().with(FlowField.IPV6_SRC_IP, address));
    }

    /** Those bits of {@link #source(Inet6Address)} that are set in a mask. */
    public Ipv6Match source(Inet6Address address, Inet6Address mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_SRC_IP, address, mask));
    }

    /** The destination's address. */
    public Ipv6Match destination(Inet6Address address) {
        return new Ipv6Match(fields().with(FlowField.IPV6_DST_IP, address));
    }

    /** Those bits of {@link #destination(Inet6Address)} that are set in a mask. */
    public Ipv6Match destination(Inet6Address address, Inet6Address mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_DST_IP, address, mask));
    }

    /** The flow label, 20 bits. */
    public Ipv6Match flowLabel(int label) {
        return new Ipv6Match(fields().with(FlowField.IPV6_FLOW_LABEL, label));
    }

    /** Those bits of {@link #flowLabel(int)} that are set in a mask. */
    public Ipv6Match flowLabel(int label, int mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_FLOW_LABEL, label, mask));
    }

    /** The protocol inside, 8 bits: 6 for TCP, 17 for UDP. */
    public Ipv6Match nextHeader(int number) {
        return new Ipv6Match(fields().with(FlowField.IPV6_NEXT_HDR, number));
    }

    /** Those bits of {@link #nextHeader(int)} that are set in a mask. */
    public Ipv6Match nextHeader(int number, int mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_NEXT_HDR, number, mask));
    }

    /** The traffic class, 8 bits. */
    public Ipv6Match trafficClass(int number) {
        return new Ipv6Match(fields().with(FlowField.IPV6_TRAFFIC_CLASS, number));
    }

    /** Those bits of {@link #trafficClass(int)} that are set in a mask. */
    public Ipv6Match trafficClass(int number, int mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_TRAFFIC_CLASS, number, mask));
    }

    /** How many hops it may still take, 8 bits. */
    public Ipv6Match hopLimit(int hops) {
        return new Ipv6Match(fields().with(FlowField.IPV6_HOP_LIMIT, hops));
    }

    /** Those bits of {@link #hopLimit(int)} that are set in a mask. */
    public Ipv6Match hopLimit(int hops, int mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_HOP_LIMIT, hops, mask));
    }

    @Override
    public Ipv6Match inner() {
        return new Ipv6Match(fields().ofInner());
    }
}
