// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.net.Inet6Address;

/**
 * Matches the IPv6 header of packets ({@code struct ibv_flow_spec_ipv6}, ibv_create_flow(3)). Created by
 * {@link FlowMatch}. Immutable.
 */
public final class Ipv6Match extends FlowMatch {
    Ipv6Match(FlowFields fields) {
        super(fields);
    }

    /**
     * Matches the source address.
     *
     * @param address the address
     * @return a new match
     */
    public Ipv6Match source(Inet6Address address) {
        return new Ipv6Match(fields().with(FlowField.IPV6_SRC_IP, address));
    }

    /**
     * Matches those bits of the source address that are set in a mask.
     *
     * @param address the address
     * @param mask the bits to compare
     * @return a new match
     */
    public Ipv6Match source(Inet6Address address, Inet6Address mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_SRC_IP, address, mask));
    }

    /**
     * Matches the destination address.
     *
     * @param address the address
     * @return a new match
     */
    public Ipv6Match destination(Inet6Address address) {
        return new Ipv6Match(fields().with(FlowField.IPV6_DST_IP, address));
    }

    /**
     * Matches those bits of the destination address that are set in a mask.
     *
     * @param address the address
     * @param mask the bits to compare
     * @return a new match
     */
    public Ipv6Match destination(Inet6Address address, Inet6Address mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_DST_IP, address, mask));
    }

    /**
     * Matches the flow label.
     *
     * @param label the flow label, 20 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 20 bits
     */
    public Ipv6Match flowLabel(int label) {
        return new Ipv6Match(fields().with(FlowField.IPV6_FLOW_LABEL, label));
    }

    /**
     * Matches those bits of the flow label that are set in a mask.
     *
     * @param label the flow label, 20 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 20 bits
     */
    public Ipv6Match flowLabel(int label, int mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_FLOW_LABEL, label, mask));
    }

    /**
     * Matches the next header number.
     *
     * @param number the protocol number, 8 bits: 6 for TCP, 17 for UDP
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 8 bits
     */
    public Ipv6Match nextHeader(int number) {
        return new Ipv6Match(fields().with(FlowField.IPV6_NEXT_HDR, number));
    }

    /**
     * Matches those bits of the next header number that are set in a mask.
     *
     * @param number the protocol number, 8 bits: 6 for TCP, 17 for UDP
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 8 bits
     */
    public Ipv6Match nextHeader(int number, int mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_NEXT_HDR, number, mask));
    }

    /**
     * Matches the traffic class.
     *
     * @param number the traffic class, 8 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 8 bits
     */
    public Ipv6Match trafficClass(int number) {
        return new Ipv6Match(fields().with(FlowField.IPV6_TRAFFIC_CLASS, number));
    }

    /**
     * Matches those bits of the traffic class that are set in a mask.
     *
     * @param number the traffic class, 8 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 8 bits
     */
    public Ipv6Match trafficClass(int number, int mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_TRAFFIC_CLASS, number, mask));
    }

    /**
     * Matches the hop limit.
     *
     * @param hops the hop limit, 8 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 8 bits
     */
    public Ipv6Match hopLimit(int hops) {
        return new Ipv6Match(fields().with(FlowField.IPV6_HOP_LIMIT, hops));
    }

    /**
     * Matches those bits of the hop limit that are set in a mask.
     *
     * @param hops the hop limit, 8 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 8 bits
     */
    public Ipv6Match hopLimit(int hops, int mask) {
        return new Ipv6Match(fields().with(FlowField.IPV6_HOP_LIMIT, hops, mask));
    }

    @Override
    public Ipv6Match inner() {
        return new Ipv6Match(fields().ofInner());
    }
}
