// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.math.BigInteger;
import java.net.InetAddress;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

/**
 * A header that packets must have to match a flow (ibv_create_flow(3)). Of each field that is set, all bits must be
 * equal, or those in a mask; fields that are not set match any value. Many devices support only masks that are all ones
 * or all zeros. Numbers are passed in the byte order of the machine; this class converts them to network byte order.
 * Immutable: each method returns a new match.
 *
 * <pre>{@code
 * FlowMatch.ipv4().with(FlowField.IPV4_DST_IP, address)
 * FlowMatch.udp().with(FlowField.TCP_UDP_DST_PORT, 0x1200, 0xff00)
 * }</pre>
 */
public final class FlowMatch implements FlowSpecification {
    private final FlowSpecificationType type;
    private final boolean inner;
    private final Map<FlowField, Bits> fields;

    /** The value that a field must have, in those bits that are set in the mask. */
    private record Bits(BigInteger value, BigInteger mask) {
    }

    private FlowMatch(FlowSpecificationType type, boolean inner, Map<FlowField, Bits> fields) {
        this.type = type;
        this.inner = inner;
        this.fields = fields;
    }

    /** {@return a match for any packet with an Ethernet header} */
    public static FlowMatch ethernet() {
        return any(FlowSpecificationType.ETH);
    }

    /** {@return a match for any IPv4 packet} */
    public static FlowMatch ipv4() {
        return any(FlowSpecificationType.IPV4);
    }

    /** {@return a match for any IPv4 packet, of which more than the addresses can be restricted} */
    public static FlowMatch ipv4Extended() {
        return any(FlowSpecificationType.IPV4_EXT);
    }

    /** {@return a match for any IPv6 packet} */
    public static FlowMatch ipv6() {
        return any(FlowSpecificationType.IPV6);
    }

    /** {@return a match for any TCP packet} */
    public static FlowMatch tcp() {
        return any(FlowSpecificationType.TCP);
    }

    /** {@return a match for any UDP packet} */
    public static FlowMatch udp() {
        return any(FlowSpecificationType.UDP);
    }

    /** {@return a match for any encrypted packet (IPsec ESP)} */
    public static FlowMatch esp() {
        return any(FlowSpecificationType.ESP);
    }

    /** {@return a match for any packet in a VXLAN tunnel} */
    public static FlowMatch vxlan() {
        return any(FlowSpecificationType.VXLAN_TUNNEL);
    }

    /** {@return a match for any packet in a GRE tunnel} */
    public static FlowMatch gre() {
        return any(FlowSpecificationType.GRE);
    }

    /** {@return a match for any packet with an MPLS label} */
    public static FlowMatch mpls() {
        return any(FlowSpecificationType.MPLS);
    }

    private static FlowMatch any(FlowSpecificationType header) {
        return new FlowMatch(header, false, Map.of());
    }

    /**
     * Matches a field.
     *
     * @param field the field
     * @param value the value
     * @return a new match
     * @throws IllegalArgumentException if the header does not have the field, or the value does not fit into it
     */
    public FlowMatch with(FlowField field, long value) {
        return with(field, BigInteger.valueOf(value), field.most());
    }

    /**
     * Matches those bits of a field that are set in a mask.
     *
     * @param field the field
     * @param value the value
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the header does not have the field, or a number does not fit into it
     */
    public FlowMatch with(FlowField field, long value, long mask) {
        return with(field, BigInteger.valueOf(value), BigInteger.valueOf(mask));
    }

    /**
     * Matches an address.
     *
     * @param field the field
     * @param address the address
     * @return a new match
     * @throws IllegalArgumentException if the header does not have the field, or it is not one for such an address
     */
    public FlowMatch with(FlowField field, InetAddress address) {
        return with(field, field.number(address), field.most());
    }

    /**
     * Matches those bits of an address that are set in a mask.
     *
     * @param field the field
     * @param address the address
     * @param mask the bits to compare
     * @return a new match
     * @throws IllegalArgumentException if the header does not have the field, or it is not one for such an address
     */
    public FlowMatch with(FlowField field, InetAddress address, InetAddress mask) {
        return with(field, field.number(address), field.number(mask));
    }

    private FlowMatch with(FlowField field, BigInteger value, BigInteger mask) {
        field.requireIn(type);
        Map<FlowField, Bits> more = new EnumMap<>(FlowField.class);
        more.putAll(fields);
        more.put(field, new Bits(field.check(value, "value"), field.check(mask, "mask")));
        return new FlowMatch(type, inner, Collections.unmodifiableMap(more));
    }

    /** {@return the same match, but for the packet inside a tunnel ({@code IBV_FLOW_SPEC_INNER})} */
    public FlowMatch inner() {
        return new FlowMatch(type, true, fields);
    }

    /** {@return whether this match is for the packet inside a tunnel} */
    public boolean isInner() {
        return inner;
    }

    @Override
    public FlowSpecificationType type() {
        return type;
    }

    /** {@return the fields that are restricted} */
    public Set<FlowField> fields() {
        return fields.keySet();
    }

    /** Returns a filter struct with the values. */
    byte[] values(int length) {
        byte[] filter = new byte[length];
        fields.forEach((field, bits) -> field.write(bits.value(), filter));
        return filter;
    }

    /** Returns a filter struct with the masks. */
    byte[] masks(int length) {
        byte[] filter = new byte[length];
        fields.forEach((field, bits) -> field.write(bits.mask(), filter));
        return filter;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FlowMatch match && type == match.type && inner == match.inner
                && fields.equals(match.fields);
    }

    @Override
    public int hashCode() {
        return fields.hashCode() * 31 + type.hashCode();
    }

    /** {@return the type and the fields by their C names; masks that are not all ones follow a slash} */
    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(", ", (inner ? "inner " : "") + type + "[", "]");
        fields.forEach((field, bits) -> text.add(field.member() + "=" + field.text(bits.value())
                + (bits.mask().equals(field.most()) ? "" : "/" + field.text(bits.mask()))));
        return text.toString();
    }
}
