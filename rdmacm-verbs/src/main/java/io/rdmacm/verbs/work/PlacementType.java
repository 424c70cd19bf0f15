// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import java.util.Set;

import io.rdmacm.bindings.Rdma;

/**
 * How the data of a {@linkplain io.rdmacm.verbs.SendBatch#flush flush} must be placed before it completes
 * ({@code enum ibv_placement_type}, ibv_wr_post(3)).
 */
public enum PlacementType {
    /** Visible to everything on the peer's machine that can access the memory. */
    GLOBAL(Rdma.IBV_FLUSH_GLOBAL()),
    /** In persistent memory, so that it survives a loss of power. */
    PERSISTENT(Rdma.IBV_FLUSH_PERSISTENT());

    private static final PlacementType[] ALL = values();

    private final int bit;

    PlacementType(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the bits of several types, without allocating memory.
     *
     * @param types the types
     * @return the bitwise OR of their bits
     */
    public static int mask(Set<PlacementType> types) {
        int mask = 0;
        for (PlacementType type : ALL) {
            if (types.contains(type)) {
                mask |= type.bit;
            }
        }
        return mask;
    }
}
