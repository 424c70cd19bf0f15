// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * The physical state of the link of a port ({@code ibv_port_attr.phys_state}, ibv_query_port(3)). The C headers have no
 * names for the codes; the constants bear those of the InfiniBand specification.
 *
 * @param code the code in C, 8 bits; codes that this library does not know are kept
 */
public record PhysicalState(int code) {
    /** Sleeping. */
    public static final PhysicalState SLEEP = new PhysicalState(1);
    /** Looking for a link partner. */
    public static final PhysicalState POLLING = new PhysicalState(2);
    /** Disabled. */
    public static final PhysicalState DISABLED = new PhysicalState(3);
    /** Negotiating width and speed. */
    public static final PhysicalState TRAINING = new PhysicalState(4);
    /** The link is up. */
    public static final PhysicalState LINK_UP = new PhysicalState(5);
    /** Recovering from a link error. */
    public static final PhysicalState LINK_ERROR_RECOVERY = new PhysicalState(6);
    /** In a test of the physical layer. */
    public static final PhysicalState PHY_TEST = new PhysicalState(7);

    /**
     * Checks that the code fits into 8 bits.
     *
     * @throws IllegalArgumentException if it does not
     */
    public PhysicalState {
        Arguments.requireBits("code of the physical state", code, Byte.SIZE);
    }

    @Override
    public String toString() {
        String name = switch (code) {
            case 1 -> "SLEEP";
            case 2 -> "POLLING";
            case 3 -> "DISABLED";
            case 4 -> "TRAINING";
            case 5 -> "LINK_UP";
            case 6 -> "LINK_ERROR_RECOVERY";
            case 7 -> "PHY_TEST";
            default -> "unknown";
        };
        return name + " (code " + code + ")";
    }
}
