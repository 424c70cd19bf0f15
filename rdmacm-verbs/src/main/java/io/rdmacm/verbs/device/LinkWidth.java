// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.util.OptionalInt;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * The number of lanes of a link ({@code ibv_port_attr.active_width}, ibv_query_port(3)). The C headers have no names
 * for the codes.
 *
 * @param code the code in C, 8 bits; codes that this library does not know are kept
 */
public record LinkWidth(int code) {
    /** One lane. */
    public static final LinkWidth X1 = new LinkWidth(1);
    /** Four lanes. */
    public static final LinkWidth X4 = new LinkWidth(2);
    /** Eight lanes. */
    public static final LinkWidth X8 = new LinkWidth(4);
    /** Twelve lanes. */
    public static final LinkWidth X12 = new LinkWidth(8);
    /** Two lanes. */
    public static final LinkWidth X2 = new LinkWidth(16);

    /**
     * Checks that the code fits into 8 bits.
     *
     * @throws IllegalArgumentException if it does not
     */
    public LinkWidth {
        Arguments.requireBits("code of the link width", code, Byte.SIZE);
    }

    /** {@return the number of lanes; empty if this library does not know the code} */
    public OptionalInt lanes() {
        return switch (code) {
            case 1 -> OptionalInt.of(1);
            case 2 -> OptionalInt.of(4);
            case 4 -> OptionalInt.of(8);
            case 8 -> OptionalInt.of(12);
            case 16 -> OptionalInt.of(2);
            default -> OptionalInt.empty();
        };
    }

    @Override
    public String toString() {
        return (lanes().isPresent() ? lanes().getAsInt() + "X" : "unknown") + " (code " + code + ")";
    }
}
