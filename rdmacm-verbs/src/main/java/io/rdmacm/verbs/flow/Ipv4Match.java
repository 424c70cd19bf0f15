// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.net.Inet4Address;

/**
 * Matches the addresses of the IPv4 header of packets ({@code struct ibv_flow_spec_ipv4}, ibv_create_flow(3)). Created
 * by {@link FlowMatch}. Immutable.
 */
public final class Ipv4Match extends FlowMatch {
    Ipv4Match(FlowFields fields) {
        super(fields);
    }

    /**
     * Matches the source address.
     *
     * @param address the address
     * @return a new match
     */
    public Ipv4Match source(Inet4Address address) {
        return new Ipv4Match(fields().with(FlowField.IPV4_SRC_IP, address));
    }

    /**
     * Matches those bits of the source address that are set in a mask.
     *
     * @param address the address
     * @param mask the bits to compare
     * @return a new match
     */
    public Ipv4Match source(Inet4Address address, Inet4Address mask) {
        return new Ipv4Match(fields().with(FlowField.IPV4_SRC_IP, address, mask));
    }

    /**
     * Matches the destination address.
     *
     * @param address the address
     * @return a new match
     */
    public Ipv4Match destination(Inet4Address address) {
        return new Ipv4Match(fields().with(FlowField.IPV4_DST_IP, address));
    }

    /**
     * Matches those bits of the destination address that are set in a mask.
     *
     * @param address the address
     * @param mask the bits to compare
     * @return a new match
     */
    public Ipv4Match destination(Inet4Address address, Inet4Address mask) {
        return new Ipv4Match(fields().with(FlowField.IPV4_DST_IP, address, mask));
    }

    @Override
    public Ipv4Match inner() {
        return new Ipv4Match(fields().ofInner());
    }
}
