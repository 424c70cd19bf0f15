// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.net.Inet4Address;

/**
 * The IPv4 header that packets of a flow have ({@code struct ibv_flow_spec_ipv4_ext}). Made by {@link FlowMatch}.
 * Immutable.
 */
public final class Ipv4ExtendedMatch extends FlowMatch {
    Ipv4ExtendedMatch(FlowFields fields) {
        super(fields);
    }

    /** The source's address. */
    public Ipv4ExtendedMatch source(Inet4Address address) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_SRC_IP, address));
    }

    /** Those bits of {@link #source(Inet4Address)} that are set in a mask. */
    public Ipv4ExtendedMatch source(Inet4Address address, Inet4Address mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_SRC_IP, address, mask));
    }

    /** The destination's address. */
    public Ipv4ExtendedMatch destination(Inet4Address address) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_DST_IP, address));
    }

    /** Those bits of {@link #destination(Inet4Address)} that are set in a mask. */
    public Ipv4ExtendedMatch destination(Inet4Address address, Inet4Address mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_DST_IP, address, mask));
    }

    /** The protocol inside, 8 bits: 6 for TCP, 17 for UDP. */
    public Ipv4ExtendedMatch protocol(int number) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_PROTO, number));
    }

    /** Those bits of {@link #protocol(int)} that are set in a mask. */
    public Ipv4ExtendedMatch protocol(int number, int mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_PROTO, number, mask));
    }

    /** The type of service, 8 bits. */
    public Ipv4ExtendedMatch typeOfService(int service) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_TOS, service));
    }

    /** Those bits of {@link #typeOfService(int)} that are set in a mask. */
    public Ipv4ExtendedMatch typeOfService(int service, int mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_TOS, service, mask));
    }

    /** How many hops it may still take, 8 bits. */
    public Ipv4ExtendedMatch timeToLive(int hops) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_TTL, hops));
    }

    /** Those bits of {@link #timeToLive(int)} that are set in a mask. */
    public Ipv4ExtendedMatch timeToLive(int hops, int mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_TTL, hops, mask));
    }

    /** What is said of fragments, 8 bits. */
    public Ipv4ExtendedMatch flags(int bits) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_FLAGS, bits));
    }

    /** Those bits of {@link #flags(int)} that are set in a mask. */
    public Ipv4ExtendedMatch flags(int bits, int mask) {
        return new Ipv4ExtendedMatch(fields().with(FlowField.IPV4_EXT_FLAGS, bits, mask));
    }

    @Override
    public Ipv4ExtendedMatch inner() {
        return new Ipv4ExtendedMatch(fields().ofInner());
    }
}
