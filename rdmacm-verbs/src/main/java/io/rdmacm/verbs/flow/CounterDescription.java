// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.bindings.Rdma;

/** What a counter counts ({@code enum ibv_counter_description}, ibv_attach_counters_point_flow(3)). */
public enum CounterDescription {
    /** Packets. */
    PACKETS(Rdma.IBV_COUNTER_PACKETS()),
    /** Bytes. */
    BYTES(Rdma.IBV_COUNTER_BYTES());

    private final int value;

    CounterDescription(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
