// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.bindings.Rdma;

/** How a flow rule works ({@code enum ibv_flow_flags}, ibv_create_flow(3)). */
public enum FlowFlag {
    /** The packets may match rules of a lower priority too; for rules of type {@link FlowType#NORMAL} only. */
    DONT_TRAP(Rdma.IBV_FLOW_ATTR_FLAGS_DONT_TRAP()),
    /** It is for packets that are sent; of the queue pair only the device counts. */
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
