// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.math.BigInteger;
import java.net.InetAddress;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.StringJoiner;

/**
 * The members of a header that are matched. Immutable.
 *
 * @param type the type of the header
 * @param inner whether it is a header of the packet inside a tunnel
 * @param members the matched members
 */
record FlowFields(FlowSpecificationType type, boolean inner, Map<FlowField, Bits> members) {
    /** The value that a member must have, in those bits that are set in the mask. */
    record Bits(BigInteger value, BigInteger mask) {
    }

    static FlowFields of(FlowSpecificationType type) {
        return new FlowFields(type, false, Map.of());
    }

    FlowFields ofInner() {
        return new FlowFields(type, true, members);
    }

    FlowFields with(FlowField field, long value) {
        return with(field, BigInteger.valueOf(value), field.most());
    }

    FlowFields with(FlowField field, long value, long mask) {
        return with(field, BigInteger.valueOf(value), BigInteger.valueOf(mask));
    }

    FlowFields with(FlowField field, InetAddress value) {
        return with(field, number(value), field.most());
    }

    FlowFields with(FlowField field, InetAddress value, InetAddress mask) {
        return with(field, number(value), number(mask));
    }

    private static BigInteger number(InetAddress address) {
        return new BigInteger(1, address.getAddress());
    }

    private FlowFields with(FlowField field, BigInteger value, BigInteger mask) {
        Map<FlowField, Bits> more = new EnumMap<>(FlowField.class);
        more.putAll(members);
        more.put(field, new Bits(field.check(value, "value"), field.check(mask, "mask")));
        return new FlowFields(type, inner, Collections.unmodifiableMap(more));
    }

    /** Returns a filter struct with the values. */
    byte[] values(int length) {
        byte[] filter = new byte[length];
        members.forEach((field, bits) -> field.write(bits.value(), filter));
        return filter;
    }

    /** Returns a filter struct with the masks. */
    byte[] masks(int length) {
        byte[] filter = new byte[length];
        members.forEach((field, bits) -> field.write(bits.mask(), filter));
        return filter;
    }

    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(", ", (inner ? "inner " : "") + type + "[", "]");
        members.forEach((field, bits) -> text.add(field.member() + "=" + field.text(bits.value())
                + (bits.mask().equals(field.most()) ? "" : "/" + field.text(bits.mask()))));
        return text.toString();
    }
}
