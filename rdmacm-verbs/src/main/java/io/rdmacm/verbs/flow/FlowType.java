// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.bindings.Rdma;

/** The type of a flow rule: which packets it is for ({@code enum ibv_flow_attr_type}, ibv_create_flow(3)). */
public enum FlowType {
    /** The packets that match its specifications. */
    NORMAL(Rdma.IBV_FLOW_ATTR_NORMAL()),
    /** All Ethernet packets that no other rule steers to a queue pair. */
    ALL_DEFAULT(Rdma.IBV_FLOW_ATTR_ALL_DEFAULT()),
    /** All Ethernet multicast packets that no other rule steers to a queue pair. */
    MC_DEFAULT(Rdma.IBV_FLOW_ATTR_MC_DEFAULT()),
    /** All packets of the port, including those that another rule steers to a queue pair. */
    SNIFFER(Rdma.IBV_FLOW_ATTR_SNIFFER());

    private final int value;

    FlowType(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
