// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** How parts of packets are hashed ({@code enum ibv_rx_hash_function_flags}, ibv_create_qp_ex(3)). */
public enum RxHashFunction {
    /** The Toeplitz hash, with a key that drivers want to have 40 bytes. */
    TOEPLITZ(Rdma.IBV_RX_HASH_FUNC_TOEPLITZ());

    private final int bit;

    RxHashFunction(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public int bit() {
        return bit;
    }

    public static FlagSet<RxHashFunction> of(int mask) {
        return FlagSet.of(values(), Integer.toUnsignedLong(mask), RxHashFunction::bit);
    }
}
