// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.net.Inet4Address;

/**
 * Matches the IPv4 header of packets ({@code struct ibv_flow_spec_ipv4_ext}, ibv_create_flow(3)). Created by
 * {@link FlowMatch}. Immutable.
 */
public final class Ipv4ExtendedMatch extends FlowMatch {
    Ipv4ExtendedMatch(FlowFields fields) {
        super(fields);
    }

    /**
     * Matches the source address.
     *
     * @param address the address
     * @return a new match
     */
    public Ipv4ExtendedMatch source(Inet4Address address) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_SRC_IP, address));
    }

    /**
     * Matches those bits of the source address that are set in a mask.
     *
     * @param address the address
     * @param mask the bits to compare
     * @return a new match
     */
    public Ipv4ExtendedMatch source(Inet4Address address, Inet4Address mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_SRC_IP, address, mask));
    }

    /**
     * Matches the destination address.
     *
     * @param address the address
     * @return a new match
     */
    public Ipv4ExtendedMatch destination(Inet4Address address) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_DST_IP, address));
    }

    /**
     * Matches those bits of the destination address that are set in a mask.
     *
     * @param address the address
     * @param mask the bits to compare
     * @return a new match
     */
    public Ipv4ExtendedMatch destination(Inet4Address address, Inet4Address mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_DST_IP, address, mask));
    }

    /**
     * Matches the protocol number.
     *
     * @param number the protocol number, 8 bits: 6 for TCP, 17 for UDP
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 8 bits
     */
    public Ipv4ExtendedMatch protocol(int number) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_PROTO, number));
    }

    /**
     * Matches those bits of the protocol number that are set in a mask.
     *
     * @param number the protocol number, 8 bits: 6 for TCP, 17 for UDP
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 8 bits
     */
    public Ipv4ExtendedMatch protocol(int number, int mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_PROTO, number, mask));
    }

    /**
     * Matches the type of service (TOS).
     *
     * @param service the type of service, 8 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 8 bits
     */
    public Ipv4ExtendedMatch typeOfService(int service) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_TOS, service));
    }

    /**
     * Matches those bits of the type of service (TOS) that are set in a mask.
     *
     * @param service the type of service, 8 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 8 bits
     */
    public Ipv4ExtendedMatch typeOfService(int service, int mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_TOS, service, mask));
    }

    /**
     * Matches the time to live (TTL).
     *
     * @param hops the time to live, 8 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 8 bits
     */
    public Ipv4ExtendedMatch timeToLive(int hops) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_TTL, hops));
    }

    /**
     * Matches those bits of the time to live (TTL) that are set in a mask.
     *
     * @param hops the time to live, 8 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 8 bits
     */
    public Ipv4ExtendedMatch timeToLive(int hops, int mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_TTL, hops, mask));
    }

    /**
     * Matches the fragmentation flags.
     *
     * @param bits the flags, 8 bits
     * @return a new match
     * @throws IllegalArgumentException if the value does not fit into 8 bits
     */
    public Ipv4ExtendedMatch flags(int bits) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_FLAGS, bits));
    }

    /**
     * Matches those bits of the fragmentation flags that are set in a mask.
     *
     * @param bits the flags, 8 bits
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the value or the mask does not fit into 8 bits
     */
    public Ipv4ExtendedMatch flags(int bits, int mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_FLAGS, bits, mask));
    }

    @Override
    public Ipv4ExtendedMatch inner() {
        return new Ipv4ExtendedMatch(fields().ofInner());
    }
}
