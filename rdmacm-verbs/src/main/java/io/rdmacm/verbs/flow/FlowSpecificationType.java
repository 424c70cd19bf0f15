// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import io.rdmacm.bindings.Rdma;

/** The type of a part of a flow rule ({@code enum ibv_flow_spec_type}, ibv_create_flow(3)). */
public enum FlowSpecificationType {
    /** Matches the Ethernet header. */
    ETH(Rdma.IBV_FLOW_SPEC_ETH()),
    /** Matches the addresses of the IPv4 header. */
    IPV4(Rdma.IBV_FLOW_SPEC_IPV4()),
    /** Matches the IPv6 header. */
    IPV6(Rdma.IBV_FLOW_SPEC_IPV6()),
    /** Matches the addresses and other fields of the IPv4 header. */
    IPV4_EXT(Rdma.IBV_FLOW_SPEC_IPV4_EXT()),
    /** Matches the header of encrypted packets (IPsec ESP). */
    ESP(Rdma.IBV_FLOW_SPEC_ESP()),
    /** Matches the TCP ports. */
    TCP(Rdma.IBV_FLOW_SPEC_TCP()),
    /** Matches the UDP ports. */
    UDP(Rdma.IBV_FLOW_SPEC_UDP()),
    /** Matches the VXLAN header. */
    VXLAN_TUNNEL(Rdma.IBV_FLOW_SPEC_VXLAN_TUNNEL()),
    /** Matches the GRE header. */
    GRE(Rdma.IBV_FLOW_SPEC_GRE()),
    /** Matches an MPLS label. */
    MPLS(Rdma.IBV_FLOW_SPEC_MPLS()),
    /** Tags the completions of the packets. */
    ACTION_TAG(Rdma.IBV_FLOW_SPEC_ACTION_TAG()),
    /** Drops the packets. */
    ACTION_DROP(Rdma.IBV_FLOW_SPEC_ACTION_DROP()),
    /** Applies a flow action to the packets. */
    ACTION_HANDLE(Rdma.IBV_FLOW_SPEC_ACTION_HANDLE()),
    /** Counts the packets. */
    ACTION_COUNT(Rdma.IBV_FLOW_SPEC_ACTION_COUNT());

    private final int value;

    FlowSpecificationType(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
