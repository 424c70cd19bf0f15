// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

/**
 * What a header of a packet must have for the packet to be of a flow (ibv_create_flow(3)): of each member that is
 * given, all bits or those of a mask. Members that are not given may be anything. Numbers are in the byte order of the
 * machine; they are written in that of the network. Immutable: each method gives a new match.
 */
public abstract sealed class FlowMatch implements FlowSpecification permits EthernetMatch, Ipv4Match,
        Ipv4ExtendedMatch, Ipv6Match, TcpUdpMatch, EspMatch, TunnelMatch, GreMatch, MplsMatch {
    private final FlowFields fields;

    FlowMatch(FlowFields fields) {
        this.fields = fields;
    }

    /** Any packet with an Ethernet header. */
    public static EthernetMatch ethernet() {
        return new EthernetMatch(FlowFields.of(FlowSpecificationType.ETH));
    }

    /** Any IPv4 packet; its addresses can be matched. */
    public static Ipv4Match ipv4() {
        return new Ipv4Match(FlowFields.of(FlowSpecificationType.IPV4));
    }

    /** Any IPv4 packet; all of its header can be matched. */
    public static Ipv4ExtendedMatch ipv4Extended() {
        return new Ipv4ExtendedMatch(FlowFields.of(FlowSpecificationType.IPV4_EXT));
    }

    /** Any IPv6 packet. */
    public static Ipv6Match ipv6() {
        return new Ipv6Match(FlowFields.of(FlowSpecificationType.IPV6));
    }

    /** Any TCP packet. */
    public static TcpUdpMatch tcp() {
        return new TcpUdpMatch(FlowFields.of(FlowSpecificationType.TCP));
    }

    /** Any UDP packet. */
    public static TcpUdpMatch udp() {
        return new TcpUdpMatch(FlowFields.of(FlowSpecificationType.UDP));
    }

    /** Any encrypted packet (IPsec ESP). */
    public static EspMatch esp() {
        return new EspMatch(FlowFields.of(FlowSpecificationType.ESP));
    }

    /** Any packet in a VXLAN tunnel. */
    public static TunnelMatch vxlan() {
        return new TunnelMatch(FlowFields.of(FlowSpecificationType.VXLAN_TUNNEL));
    }

    /** Any packet in a GRE tunnel. */
    public static GreMatch gre() {
        return new GreMatch(FlowFields.of(FlowSpecificationType.GRE));
    }

    /** Any packet with an MPLS label. */
    public static MplsMatch mpls() {
        return new MplsMatch(FlowFields.of(FlowSpecificationType.MPLS));
    }

    final FlowFields fields() {
        return fields;
    }

    /** The same for the packet inside a tunnel ({@code IBV_FLOW_SPEC_INNER}). */
    public abstract FlowMatch inner();

    /** Whether it is for the packet inside a tunnel. */
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

    /** The header and its members by their C names, with masks that are not all ones behind a slash. */
    @Override
    public final String toString() {
        return fields.toString();
    }
}
