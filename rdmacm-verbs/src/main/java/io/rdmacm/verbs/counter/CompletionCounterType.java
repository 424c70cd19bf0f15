// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.counter;

import io.rdmacm.bindings.Rdma;

/** What a completion counter counts ({@code enum ibv_comp_cntr_type}, ibv_create_comp_cntr(3)). */
public enum CompletionCounterType {
    /** Completed work requests. */
    WRS(Rdma.IBV_COMP_CNTR_TYPE_WRS()),
    /** The bytes of completed work requests. */
    BYTES(Rdma.IBV_COMP_CNTR_TYPE_BYTES());

    private final int value;

    CompletionCounterType(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
