// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/**
 * Which data is written to memory in order ({@code enum ibv_query_qp_data_in_order_caps},
 * ibv_query_qp_data_in_order(3)).
 */
public enum DataInOrderCapability {
    /** All data of a work request. */
    WHOLE_MSG(Rdma.IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG()),
    /** The data within each aligned block of 128 bytes. */
    ALIGNED_128_BYTES(Rdma.IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES());

    private final int bit;

    DataInOrderCapability(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the capabilities in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the capabilities; keeps bits that this library has no name for
     */
    public static FlagSet<DataInOrderCapability> of(int mask) {
        return FlagSet.of(DataInOrderCapability.class, Integer.toUnsignedLong(mask), DataInOrderCapability::bit);
    }
}
