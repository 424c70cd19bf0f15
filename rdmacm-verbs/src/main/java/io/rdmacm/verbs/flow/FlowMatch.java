// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * A header that packets must have to match a flow (ibv_create_flow(3)). Of each field that is set, all bits must be
 * equal, or those in a mask; fields that are not set match any value. Many devices support only masks that are all ones
 * or all zeros. Numbers are passed in the byte order of the machine; this class converts them to network byte order.
 * Immutable: each method returns a new match.
 */
public abstract sealed class FlowMatch implements FlowSpecification permits EthernetMatch, Ipv4Match,
        Ipv4ExtendedMatch, Ipv6Match, TcpUdpMatch, EspMatch, TunnelMatch, GreMatch, MplsMatch {
    private final FlowFields fields;

    FlowMatch(FlowFields fields) {
        this.fields = fields;
    }

    /** {@return a match for any packet with an Ethernet header} */
    public static EthernetMatch ethernet() {
        return new EthernetMatch(FlowFields.of(FlowSpecificationType.ETH));
    }

    /** {@return a match for any IPv4 packet, of which the addresses can be restricted} */
    public static Ipv4Match ipv4() {
        return new Ipv4Match(FlowFields.of(FlowSpecificationType.IPV4));
    }

    /** {@return a match for any IPv4 packet, of which the addresses and other fields can be restricted} */
    public static Ipv4ExtendedMatch ipv4Extended() {
        return new Ipv4ExtendedMatch(FlowFields.of(FlowSpecificationType.IPV4_EXT));
    }

    /** {@return a match for any IPv6 packet} */
    public static Ipv6Match ipv6() {
        return new Ipv6Match(FlowFields.of(FlowSpecificationType.IPV6));
    }

    /** {@return a match for any TCP packet} */
    public static TcpUdpMatch tcp() {
        return new TcpUdpMatch(FlowFields.of(FlowSpecificationType.TCP));
    }

    /** {@return a match for any UDP packet} */
    public static TcpUdpMatch udp() {
        return new TcpUdpMatch(FlowFields.of(FlowSpecificationType.UDP));
    }

    /** {@return a match for any encrypted packet (IPsec ESP)} */
    public static EspMatch esp() {
        return new EspMatch(FlowFields.of(FlowSpecificationType.ESP));
    }

    /** {@return a match for any packet in a VXLAN tunnel} */
    public static TunnelMatch vxlan() {
        return new TunnelMatch(FlowFields.of(FlowSpecificationType.VXLAN_TUNNEL));
    }

    /** {@return a match for any packet in a GRE tunnel} */
    public static GreMatch gre() {
        return new GreMatch(FlowFields.of(FlowSpecificationType.GRE));
    }

    /** {@return a match for any packet with an MPLS label} */
    public static MplsMatch mpls() {
        return new MplsMatch(FlowFields.of(FlowSpecificationType.MPLS));
    }

    final FlowFields fields() {
        return fields;
    }

    /** {@return the same match, but for the packet inside a tunnel ({@code IBV_FLOW_SPEC_INNER})} */
    public abstract FlowMatch inner();

    /** {@return whether this match is for the packet inside a tunnel} */
    public final boolean isInner() {
        return fields.inner();
    }

    @Override
    public final FlowSpecificationType type() {
        return fields.type();
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof FlowMatch match && fields.equals(match.fields);
    }

    @Override
    public final int hashCode() {
        return fields.hashCode();
    }

    /** {@return the type and the fields by their C names; masks that are not all ones follow a slash} */
    @Override
    public final String toString() {
        return fields.toString();
    }
}
