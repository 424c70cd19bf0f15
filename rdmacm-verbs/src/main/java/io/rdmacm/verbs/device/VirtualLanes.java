// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.util.OptionalInt;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * The number of data virtual lanes of a port ({@code ibv_port_attr.max_vl_num}, ibv_query_port(3)).
 *
 * @param code the code in C, 8 bits: 1 to 5 for 1, 2, 4, 8 and 15 lanes; 0 if there are none, as on Ethernet
 */
public record VirtualLanes(int code) {
    /**
     * Checks that the code fits into 8 bits.
     *
     * @throws IllegalArgumentException if it does not
     */
    public VirtualLanes {
        Arguments.requireBits("code of the virtual lanes", code, Byte.SIZE);
    }

    /** {@return the number of lanes; empty if the specification does not define the code} */
    public OptionalInt count() {
        return switch (code) {
            case 1 -> OptionalInt.of(1);
            case 2 -> OptionalInt.of(2);
            case 3 -> OptionalInt.of(4);
            case 4 -> OptionalInt.of(8);
            case 5 -> OptionalInt.of(15);
            default -> OptionalInt.empty();
        };
    }

    @Override
    public String toString() {
        return (count().isPresent() ? Integer.toString(count().getAsInt()) : "undefined") + " (code " + code + ")";
    }
}
