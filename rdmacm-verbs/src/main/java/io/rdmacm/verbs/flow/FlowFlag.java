// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.bindings.Rdma;

/** Options of a flow rule ({@code enum ibv_flow_flags}, ibv_create_flow(3)). */
public enum FlowFlag {
    /** Matching packets go on to rules of lower priority; only for rules of type {@link FlowType#NORMAL}. */
    DONT_TRAP(Rdma.IBV_FLOW_ATTR_FLAGS_DONT_TRAP()),
    /** The rule matches packets that are sent; the queue pair only serves to select the device. */
    EGRESS(Rdma.IBV_FLOW_ATTR_FLAGS_EGRESS());

    private final int bit;

    FlowFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }
}
