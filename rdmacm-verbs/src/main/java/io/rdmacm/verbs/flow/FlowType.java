// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.bindings.Rdma;

/** Which packets a flow rule is for ({@code enum ibv_flow_attr_type}, ibv_create_flow(3)). */
public enum FlowType {
    /** Those that match its specifications. */
    NORMAL(Rdma.IBV_FLOW_ATTR_NORMAL()),
    /** All Ethernet packets that no other rule is for. */
    ALL_DEFAULT(Rdma.IBV_FLOW_ATTR_ALL_DEFAULT()),
    /** All Ethernet multicast packets that no other rule is for. */
    MC_DEFAULT(Rdma.IBV_FLOW_ATTR_MC_DEFAULT()),
    /** All packets of the port, also those that another rule is for. */
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
