// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** A hash function for receive-side scaling ({@code enum ibv_rx_hash_function_flags}, ibv_create_qp_ex(3)). */
public enum RxHashFunction {
    /** The Toeplitz hash; drivers expect a key of 40 bytes. */
    TOEPLITZ(Rdma.IBV_RX_HASH_FUNC_TOEPLITZ());

    private final int bit;

    RxHashFunction(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the functions in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the functions; keeps bits that this library has no name for
     */
    public static FlagSet<RxHashFunction> of(int mask) {
        return FlagSet.of(RxHashFunction.class, Integer.toUnsignedLong(mask), RxHashFunction::bit);
    }
}
