// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.util.OptionalInt;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * How many lanes a link has ({@code ibv_port_attr.active_width}, ibv_query_port(3)). C has no names for its codes.
 *
 * @param code the code of C, 8 bits; one that is newer than this library is kept
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
     * Checks the code.
     *
     * @throws IllegalArgumentException when the code does not fit into 8 bits
     */
    public LinkWidth {
        Arguments.requireBits("code of the link width", code, Byte.SIZE);
    }

    /** Returns the number of lanes; empty for a code that this library does not know. */
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
