// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/**
 * What a {@linkplain io.rdmacm.verbs.SendBatch#flush flush} applies to ({@code enum ibv_selectivity_level},
 * ibv_wr_post(3)).
 */
public enum SelectivityLevel {
    /** A range of the peer's memory. */
    RANGE(Rdma.IBV_FLUSH_RANGE()),
    /** A whole memory region of the peer. */
    MR(Rdma.IBV_FLUSH_MR());

    private final int value;

    SelectivityLevel(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
